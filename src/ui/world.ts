/** What the agent knows of its world: which things and places the observations have named so far. */

import type { WorldSketch } from '../records.ts';
import type { RunView } from './run-view.ts';

/** The last step at which each name was observed, up to and including step t; 0 is the start. */
export function lastSeen(
  run: RunView,
  names: readonly string[],
  t: number,
): ReadonlyMap<string, number> {
  const texts = [
    { t: 0, text: run.started.observation },
    ...run.steps
      .filter((step) => step.t <= t)
      .map((step) => ({ t: step.t, text: step.observation })),
  ];
  const seen = new Map<string, number>();
  for (const name of names) {
    const found = texts.findLast(({ text }) => isNamed(text, name));
    if (found) seen.set(name, found.t);
  }
  return seen;
}

/** True where a text names it: `shelf 1` is not named by `shelf 12`. */
function isNamed(text: string, name: string): boolean {
  const at = text.indexOf(name);
  if (at < 0) return false;
  const next = text[at + name.length] ?? '';
  return !/\d/.test(next) || isNamed(text.slice(at + name.length), name);
}

/** The first step after which a replayed world is not the recorded one; null where all are equal. */
export function firstDifference(run: RunView, worlds: readonly WorldSketch[]): number | null {
  const recorded = [run.started.stateHash, ...run.steps.map((step) => step.stateHash)];
  const at = worlds.findIndex(
    ({ stateHash }, t) => recorded[t] !== undefined && recorded[t] !== stateHash,
  );
  return at < 0 ? null : at;
}
