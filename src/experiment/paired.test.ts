import { expect, test } from 'vitest';
import { differenceOf, divergenceOf, pairsOf } from './paired.ts';
import { rowOf } from './testing-rows.ts';

test('a pair is one task with one seed, and an error of either leaves it out', () => {
  const frozen = [rowOf('frozen', 0, 1), rowOf('frozen', 0, 2), rowOf('frozen', 1, 1)];
  const broken = rowOf('attt', 0, 2, { reason: 'environment_error' });
  const attt = [rowOf('attt', 1, 1), broken, rowOf('attt', 0, 1), rowOf('attt', 2, 1)];
  const pairs = pairsOf(attt, frozen);
  expect(pairs.map(({ one, other }) => [one.key, other.key])).toEqual([
    ['attt/valid_seen/1/1', 'frozen/valid_seen/1/1'],
    ['attt/valid_seen/0/1', 'frozen/valid_seen/0/1'],
  ]);
});

test('the difference weighs tasks alike, however many seeds each has', () => {
  const one = [
    ...[1, 2, 3].map((seed) => rowOf('attt', 0, seed, { solved: true })),
    rowOf('attt', 1, 1),
  ];
  const other = [
    ...[1, 2, 3].map((seed) => rowOf('frozen', 0, seed)),
    rowOf('frozen', 1, 1, { solved: true }),
  ];
  // Task 0 gains 1 in each of three, task 1 loses 1: the mean of 1 and -1, not of 1, 1, 1 and -1.
  expect(differenceOf(pairsOf(one, other), 'attt', 'frozen')).toMatchObject({
    points: 0,
    tasks: 2,
    pairs: 4,
    better: 3,
    worse: 1,
  });
  expect(differenceOf([], 'attt', 'frozen')).toBeNull();
});

test('a difference that is the same in every task has the interval of the rule of three', () => {
  const tasks = (arm: 'attt' | 'frozen', n: number, solved: boolean) =>
    Array.from({ length: n }, (_, task) => rowOf(arm, task, 1, { solved }));
  const of = (n: number, one: boolean, other: boolean) =>
    differenceOf(pairsOf(tasks('attt', n, one), tasks('frozen', n, other)), 'attt', 'frozen')
      ?.interval;
  // 3 of 60 tasks at most are otherwise: each then lies anywhere from -1 to 1, 2 away from an end and 1 from 0. Of two
  // tasks all may be.
  expect(of(60, true, false)).toEqual({ low: 0.9, high: 1 });
  expect(of(60, false, true)).toEqual({ low: -1, high: -0.9 });
  expect(of(60, true, true)).toEqual({ low: -0.05, high: 0.05 });
  expect(of(2, true, false)).toEqual({ low: -1, high: 1 });
});

test('arms diverge at their first differing command; one that ends earlier differs there', () => {
  const commands = (arm: 'frozen' | 'attt', lists: readonly (readonly string[])[]) =>
    lists.map((list, task) => rowOf(arm, task, 1, { commands: list, steps: list.length }));
  const frozen = commands('frozen', [['look'], ['look', 'go', 'take'], ['a', 'b'], ['x']]);
  const attt = commands('attt', [['look'], ['look', 'go', 'open'], ['a', 'b', 'c'], ['y']]);
  // Differing at steps 3, 3 and 1 of three pairs; the first is the same.
  expect(divergenceOf(pairsOf(attt, frozen))).toEqual({ pairs: 4, changed: 3, firstStep: 3 });
});

test('rows that were kept without commands say nothing of divergence', () => {
  const pairs = pairsOf([rowOf('attt', 0, 1)], [rowOf('frozen', 0, 1)]);
  expect(divergenceOf(pairs)).toEqual({ pairs: 0, changed: 0, firstStep: null });
});
