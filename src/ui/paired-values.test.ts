/** Expected numbers are worked out by hand: with two tasks, a sign-flip test has four patterns. */

import { expect, test } from 'vitest';
import { type MadeRun, madeRun } from '../../e2e/fixtures/recorded/household-run.ts';
import type { MethodName } from '../config.ts';
import { byMethod } from './compare-numbers.ts';
import { pairedValues } from './paired-values.ts';
import { foldRun, type RunView } from './run-view.ts';

interface Wish {
  readonly method: MethodName;
  readonly task: number;
  readonly seed: number;
  readonly steps: number;
  readonly end?: MadeRun['end'];
}

function made({ method, task, seed, steps, end = 'step_limit' }: Wish): RunView {
  const [started, ...rest] = madeRun({ steps, seed, settings: { method, seed }, end });
  if (started?.type !== 'episode_started') throw new Error('the made run starts');
  const manifest = { ...started.manifest, task: { ...started.manifest.task, index: task } };
  const run = foldRun([{ ...started, manifest }, ...rest], { id: '', name: '' });
  if (!run) throw new Error('the made run is one');
  return run;
}

const runs = [
  made({ method: 'attt', task: 0, seed: 1, steps: 4, end: 'solved' }),
  made({ method: 'attt', task: 0, seed: 2, steps: 8, end: 'solved' }),
  made({ method: 'attt', task: 1, seed: 1, steps: 5, end: 'solved' }),
  made({ method: 'attt', task: 2, seed: 1, steps: 9 }),
  made({ method: 'frozen', task: 0, seed: 1, steps: 10 }),
  made({ method: 'frozen', task: 0, seed: 2, steps: 8, end: 'solved' }),
  made({ method: 'frozen', task: 1, seed: 1, steps: 6 }),
];

test('differences to frozen are means over tasks of the pairs of one task and seed', () => {
  const paired = pairedValues(byMethod(runs));
  expect(paired?.against).toBe('frozen');
  const [attt, ...others] = paired?.methods ?? [];
  expect(others).toEqual([]);
  expect(attt).toMatchObject({ name: 'attt', pairs: 3, tasks: 2 });
  const [success, steps] = attt?.values ?? [];
  // Task 0: (1 + 0) / 2, task 1: 1. Two of the four patterns of signs are as far from 0, and of three comparisons
  // Holm makes 3 · 0.5, at most 1.
  expect(success).toEqual({
    label: 'success',
    difference: 0.75,
    interval: { low: 0.5, high: 1 },
    p: 1,
  });
  // Task 0: (−6 + 0) / 2, task 1: −1.
  expect(steps).toEqual({ label: 'steps', difference: -2, interval: { low: -3, high: -1 }, p: 1 });
});

test('one comparison is not corrected, and equal tasks are no evidence', () => {
  const same = [
    made({ method: 'frozen', task: 0, seed: 1, steps: 4 }),
    made({ method: 'attt', task: 0, seed: 1, steps: 4 }),
    made({ method: 'frozen', task: 1, seed: 1, steps: 4 }),
    made({ method: 'attt', task: 1, seed: 1, steps: 4, end: 'solved' }),
  ];
  const paired = pairedValues(byMethod(same));
  expect(paired?.comparisons).toBe(1);
  expect(paired?.methods[0]?.values.map(({ difference, p }) => [difference, p])).toEqual([
    [0.5, 1],
    [0, null],
    [0, null],
  ]);
});

test('without frozen the first method is the base, and runs that an error ended count nowhere', () => {
  const paired = pairedValues(
    byMethod([
      made({ method: 'naive', task: 0, seed: 1, steps: 4 }),
      made({ method: 'attt', task: 0, seed: 1, steps: 4, end: 'engine_error' }),
      made({ method: 'random_drop', task: 0, seed: 1, steps: 3 }),
    ]),
  );
  expect(paired).toMatchObject({ against: 'naive', methods: [{ name: 'random_drop', pairs: 1 }] });
});

test('methods without a common task and seed are not compared', () => {
  expect(pairedValues([])).toBeNull();
  expect(pairedValues(byMethod(runs.slice(3, 5)))).toBeNull();
});
