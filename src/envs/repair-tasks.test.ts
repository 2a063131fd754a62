import { expect, test } from 'vitest';
import { mutationsOf } from './repair-mutations.ts';
import { programs } from './repair-program.ts';
import splits from './repair-splits.json';

const all = Object.values(splits).flat();

test('every fault is a small change of a line of its program, and no task comes twice', () => {
  const strange = all.flatMap(({ program, faults }) =>
    faults.filter(({ file, line, code }) => {
      const right = programs.get(program)?.files[file]?.split('\n')[line - 1] ?? '';
      return !mutationsOf(right).some((change) => change.line === code);
    }),
  );
  expect(strange).toEqual([]);
  expect(new Set(all.map((task) => JSON.stringify(task))).size).toBe(all.length);
});

test('programs of valid_unseen are in no other split', () => {
  const names = (tasks: readonly { readonly program: string }[]) =>
    new Set(tasks.map(({ program }) => program));
  const unseen = names(splits.valid_unseen);
  const seen = names([...splits.train, ...splits.valid_seen]);
  expect([unseen.size, seen.size]).toEqual([8, 25]);
  expect([...unseen].filter((name) => seen.has(name))).toEqual([]);
  expect(programs.size).toBe(33);
});
