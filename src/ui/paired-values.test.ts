/** Expected numbers are worked out by hand: with two tasks, a sign-flip test has four patterns. */

import { expect, test } from 'vitest';
import { type MadeRun, madeRun } from '../../e2e/fixtures/recorded/household-run.ts';
import type { MethodName } from '../config.ts';
import { experimentOfRuns } from '../experiment/from-runs.ts';
import { scorecard } from '../experiment/scorecard.ts';
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

test('where no task differs p is 1, and that is one of the comparisons', () => {
  const tasks = Array.from({ length: 6 }, (_, task) => task);
  const same = tasks.flatMap((task) => [
    made({ method: 'frozen', task, seed: 1, steps: 4 }),
    made({ method: 'attt', task, seed: 1, steps: 4, end: 'solved' }),
  ]);
  const paired = pairedValues(byMethod(same));
  expect(paired?.comparisons).toBe(3);
  // Two of 64 patterns of signs are as far as six gains, 1/32; times three comparisons. Steps are alike, and a
  // difference of them has no end; of six tasks 3 / 6 may be otherwise in the others.
  expect(paired?.methods[0]?.values).toEqual([
    { label: 'success', difference: 1, interval: { low: 0, high: 1 }, p: 3 / 32 },
    { label: 'steps', difference: 0, interval: null, p: 1 },
    { label: 'mean repetition', difference: 0, interval: { low: -0.5, high: 0.5 }, p: 1 },
  ]);
});

test('a report of the same runs has the same difference, interval and test', () => {
  const task = (index: number, gain: boolean) =>
    [1, 2].flatMap((seed) => [
      made({ method: 'frozen', task: index, seed, steps: 4 }),
      made({ method: 'attt', task: index, seed, steps: 4, ...(gain && { end: 'solved' }) }),
    ]);
  const runs = Array.from({ length: 18 }, (_, index) => task(index, index % 3 === 0)).flat();
  const { header, rows } = experimentOfRuns(
    runs.map(({ started, steps, ended }) => ({
      manifest: started.manifest,
      events: [started, ...steps, ...(ended ? [ended] : [])],
    })),
  );
  const difference = scorecard(header, rows).find(({ arm }) => arm.name === 'attt')?.difference;
  const success = pairedValues(byMethod(runs))?.methods[0]?.values[0];
  expect(success).toMatchObject({ difference: difference?.points, interval: difference?.interval });
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
