/**
 * Repairs a program from observations alone: reads its files, then tries one small change after the other
 * until the first failing test passes and more pass than before. Knows no fault; finds only small ones.
 */

import type { Player } from './conformance.ts';
import { mutationsOf } from './repair-mutations.ts';

/** A player that is made from the first observation. */
export function playRepairExpert(opening: string): Player {
  const actions = repairing(opening);
  let next = actions.next();
  return {
    act: () => (next.done ? 'submit' : next.value),
    see: (_, observation) => {
      next = actions.next(observation);
    },
  };
}

/** Yields actions and is given what each one showed. */
function* repairing(opening: string): Generator<string, void, string> {
  const files = [...opening.matchAll(/([\w.-]+\.js) \(\d+ lines\)/g)].map(([, file = '']) => file);
  for (let report = opening; ; report = yield 'run tests') {
    const failing = /^FAIL (.+?)(?:: .*)?$/m.exec(report)?.[1];
    if (failing === undefined) return;
    const passing = passes(report);
    let improved = false;
    for (const change of yield* changes(files)) {
      yield change;
      const alone = yield `run test ${failing}`;
      improved = passes(alone) === 1 && passes(yield 'run tests') > passing;
      if (improved) break;
      yield 'undo';
    }
    if (!improved) return;
  }
}

/** Every small change of every line, as commands. */
function* changes(files: readonly string[]): Generator<string, readonly string[], string> {
  const found: string[] = [];
  for (const file of files) {
    let seen = 0;
    let total = 1;
    while (seen < total) {
      const view = yield `view ${file} ${seen + 1}-${seen + 60}`;
      total = Number(/ of (\d+):/.exec(view)?.[1] ?? 0);
      for (const [, n = '', line = ''] of view.matchAll(/^ *(\d+): (.*)$/gm)) {
        seen = Number(n);
        const of = mutationsOf(line).map(
          (change) => `replace ${file}:${n} with ${change.line.trim()}`,
        );
        found.push(...of);
      }
    }
  }
  return found;
}

function passes(report: string): number {
  return Number(/^(\d+) of \d+ tests? pass/m.exec(report)?.[1] ?? 0);
}
