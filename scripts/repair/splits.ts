/**
 * Writes src/envs/repair-splits.json: faults in correct programs that at least one visible test notices, that
 * leave at least one passing, and that a search over inverse changes repairs, hidden tests included:
 * node scripts/policy/run.mjs scripts/repair/splits.ts
 */

import { writeFileSync } from 'node:fs';
import { mutationsOf } from '../../src/envs/repair-mutations.ts';
import { type Program, programs } from '../../src/envs/repair-program.ts';
import { openSandbox, type ProgramFiles } from '../../src/envs/repair-sandbox.ts';
import { type Fault, type FrozenRepair, withFaults } from '../../src/envs/repair-tasks.ts';
import { deriveRng } from '../../src/math/rng.ts';

/** Programs that only valid_unseen uses. */
const UNSEEN = [
  ...[
    'calendar',
    'priority-queue',
    'intervals',
    'statistics',
    'csv',
    'binary-search',
    'paths',
    'vending',
  ],
];

/** Tasks of a program: with one fault, and with two. */
const PER_PROGRAM = { seen: { one: 11, two: 2 }, unseen: { one: 9, two: 2 } };
/** How many of a seen program's tasks are valid_seen. */
const HELD_OUT = 4;

const sandbox = await openSandbox();

function passing({ visible }: Program, files: ProgramFiles, only = visible.tests): string[] {
  return sandbox
    .run({ ...files, [visible.name]: visible.text }, visible.name, only)
    .flatMap(({ name, passed }) => (passed ? [name] : []));
}

function allPass(program: Program, files: ProgramFiles): boolean {
  const { name, text, tests } = program.hidden;
  return (
    passing(program, files).length === program.visible.tests.length &&
    sandbox.run({ ...files, [name]: text }, name, tests).every(({ passed }) => passed)
  );
}

interface Candidate extends Fault {
  readonly kind: FrozenRepair['kind'];
}

function candidates(files: ProgramFiles): Candidate[] {
  return Object.entries(files).flatMap(([file, text]) =>
    text
      .split('\n')
      .flatMap((line, i) =>
        mutationsOf(line).map(({ kind, line: code }) => ({ file, line: i + 1, code, kind })),
      ),
  );
}

/** The rule of the observation-only expert: a change stays where the first failing test passes and more do. */
function isRepairable(program: Program, faulty: ProgramFiles): boolean {
  let files = faulty;
  for (;;) {
    const before = passing(program, files);
    const failing = program.visible.tests.find((name) => !before.includes(name));
    if (failing === undefined) return allPass(program, files);
    const better = candidates(files)
      .map((change) => withFaults(files, [change]))
      .find(
        (changed) =>
          passing(program, changed, [failing]).length === 1 &&
          passing(program, changed).length > before.length,
      );
    if (better === undefined) return false;
    files = better;
  }
}

function isTask(program: Program, faults: readonly Fault[]): boolean {
  const files = withFaults(program.files, faults);
  const count = passing(program, files).length;
  return count > 0 && count < program.visible.tests.length && isRepairable(program, files);
}

function tasksOf(program: Program, { one, two }: { one: number; two: number }): FrozenRepair[] {
  const rng = deriveRng(1, 'repair', program.name);
  const pool = candidates(program.files)
    .map((fault) => ({ fault, at: rng.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ fault }) => fault);
  const tasks: FrozenRepair[] = [];
  const lines = new Map<string, number>();
  const plain = ({ file, line, code }: Candidate): Fault => ({ file, line, code });
  for (const fault of pool) {
    if (tasks.length >= one) break;
    const place = `${fault.file}:${fault.line}`;
    const sameKind = tasks.filter(({ kind }) => kind === fault.kind).length;
    if ((lines.get(place) ?? 0) >= 1 || sameKind >= Math.ceil(one / 3)) continue;
    if (!isTask(program, [fault])) continue;
    lines.set(place, 1);
    tasks.push({ program: program.name, kind: fault.kind, faults: [plain(fault)] });
  }
  for (let i = 0, found = 0; found < two && i < 40; i++) {
    const [a, b] = [rng.pick(pool), rng.pick(pool)];
    if (a.file === b.file && Math.abs(a.line - b.line) < 2) continue;
    const faults = [plain(a), plain(b)];
    if (tasks.some((task) => JSON.stringify(task.faults) === JSON.stringify(faults))) continue;
    const each = [a, b].map((fault) => withFaults(program.files, [fault]));
    const noticed = each.every(
      (files) => passing(program, files).length < program.visible.tests.length,
    );
    if (!noticed || !isTask(program, [a, b])) continue;
    tasks.push({ program: program.name, kind: 'several', faults });
    found += 1;
  }
  return tasks;
}

/** Program after program, so that every prefix of a split has many of them. */
function interleaved(lists: readonly (readonly FrozenRepair[])[]): FrozenRepair[] {
  const longest = Math.max(...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, i) =>
    lists.flatMap((list) => list.slice(i, i + 1)),
  ).flat();
}

const seen: FrozenRepair[][] = [];
const heldOut: FrozenRepair[][] = [];
const unseen: FrozenRepair[][] = [];
for (const program of programs.values()) {
  const isUnseen = UNSEEN.includes(program.name);
  const tasks = tasksOf(program, isUnseen ? PER_PROGRAM.unseen : PER_PROGRAM.seen);
  if (isUnseen) {
    unseen.push(tasks);
  } else {
    const held = tasks.filter((_, i) => i % 3 === 1).slice(0, HELD_OUT);
    heldOut.push(held);
    seen.push(tasks.filter((task) => !held.includes(task)));
  }
  console.error(
    `${program.name}: ${tasks.length} tasks (${tasks.map(({ kind }) => kind).join(' ')})`,
  );
}
const splits = { train: seen, valid_seen: heldOut, valid_unseen: unseen };
const lines = Object.entries(splits).map(([name, lists]) => {
  const tasks = interleaved(lists).map((task) => JSON.stringify(task));
  return `${JSON.stringify(name)}:[\n${tasks.join(',\n')}]`;
});
writeFileSync('src/envs/repair-splits.json', `{\n${lines.join(',\n')}\n}\n`);
