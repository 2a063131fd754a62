/** Expected numbers are worked out by hand from small made runs. */

import { expect, test } from 'vitest';
import { madeRun } from '../../e2e/fixtures/recorded/household-run.ts';
import type { SettingsPatch } from '../config.ts';
import {
  byMethod,
  differences,
  finalValues,
  meanAlong,
  meanLine,
  taskOf,
  valuesOf,
} from './compare-numbers.ts';
import { foldRun, type RunView } from './run-view.ts';
import { smoothed } from './series.ts';
import { placesOf } from './step-axis.ts';

function made(steps: number, seed: number, settings: SettingsPatch = {}, end?: 'solved'): RunView {
  const events = madeRun({ steps, seed, settings, ...(end && { end }) });
  const run = foldRun(events, { id: `${seed}`, name: `${seed}` });
  if (!run) throw new Error('the made run starts');
  return run;
}

test('only what differs is listed, with one value a run', () => {
  const rows = differences([
    made(5, 1, { seed: 1, learning_rate: 0.001 }),
    made(5, 1, { seed: 2, learning_rate: 0.001 }),
  ]);
  expect(rows.map(({ label, values }) => [label, values])).toEqual([['Seed', ['1', '2']]]);
});

test('runs group by method, and observing is a method of its own', () => {
  const groups = byMethod([
    made(5, 1),
    made(5, 2, { method: 'frozen' }),
    made(5, 3),
    made(5, 4, { observe_only: true }),
  ]);
  expect(groups.map(({ name, runs }) => [name, runs.map(({ id }) => id)])).toEqual([
    ['attt', ['1', '3']],
    ['frozen', ['2']],
    ['attt, observe only', ['4']],
  ]);
});

test('a mean is over the runs that reach the step, its interval Student’s', () => {
  const [a, b] = [made(6, 1), made(4, 2)];
  const line = meanLine([a, b], 'repetition');
  expect(line.map(({ n }) => n)).toEqual([2, 2, 2, 2, 1, 1]);
  const [x = 0, y = 0] = [a, b].map((run) => run.steps[3]?.repetition ?? 0);
  expect(line[3]?.mean).toBeCloseTo((x + y) / 2, 12);
  expect(line[5]?.interval).toBeNull();
});

test('along the share of the episode runs of unlike length meet, each with its last value', () => {
  const [a, b] = [made(4, 1), made(6, 2)];
  const repetitionOf = (run: RunView, t: number) => run.steps[t - 1]?.repetition ?? Number.NaN;
  const places = [a, b].map((run) => placesOf(run, 'share') ?? []);
  const line = meanAlong([a, b], 'repetition', places);
  const at = (share: number) => line.find(({ t }) => Math.abs(t - share) < 1e-9);
  expect(at(0.5)?.mean).toBeCloseTo((repetitionOf(a, 2) + repetitionOf(b, 3)) / 2, 12);
  expect(at(0.9)?.mean).toBeCloseTo((repetitionOf(a, 3) + repetitionOf(b, 5)) / 2, 12);
  expect(at(1)).toMatchObject({ n: 2 });
  // Before its first step a run has no value: a quarter of four steps, a sixth of six.
  expect([0.1, 0.2, 0.3].map((share) => at(share)?.n)).toEqual([undefined, 1, 2]);
});

test('along what was written the mean goes on with the runs that wrote so much', () => {
  const [a, b] = [made(4, 1), made(12, 2)];
  const places = [a, b].map((run) => placesOf(run, 'tokens') ?? []);
  const line = meanAlong([a, b], 'repetition', places);
  const end = places[0]?.at(-1) ?? 0;
  expect(line.filter(({ t }) => t > end).every(({ n }) => n === 1)).toBe(true);
  expect(line.findLast(({ t }) => t <= end)?.n).toBe(2);
  expect(line.at(-1)).toMatchObject({ t: places[1]?.at(-1), mean: b.steps[11]?.repetition });
});

test('no interval leaves what is possible, however few runs there are', () => {
  const runs = [made(6, 1, {}, 'solved'), made(30, 2), made(30, 3)];
  for (const quantity of ['repetition', 'novelty', 'reward'] as const) {
    const intervals = meanLine(runs, quantity).flatMap(({ interval }) => interval ?? []);
    expect(intervals.length, quantity).toBeGreaterThan(3);
    expect(Math.min(...intervals.map(({ low }) => low)), quantity).toBeGreaterThanOrEqual(0);
    expect(Math.max(...intervals.map(({ high }) => high)), quantity).toBeLessThanOrEqual(1);
  }
  for (const { label, interval } of finalValues(runs)) {
    if (interval) expect(interval.low, label).toBeGreaterThanOrEqual(0);
  }
  // Rewards of 1, 0 and 0 after the sixth step: statsmodels proportion_confint(1, 3, method="wilson")
  const sixth = meanLine(runs, 'reward').find(({ t }) => t === 6);
  expect(sixth?.interval?.low).toBeCloseTo(0.0615, 4);
  expect(sixth?.interval?.high).toBeCloseTo(0.7923, 4);
});

test('success has its Wilson interval: 1 of 2 is 0.5 [0.095, 0.905]', () => {
  const [success] = finalValues([made(6, 1, {}, 'solved'), made(6, 2)]);
  expect(success).toMatchObject({ label: 'success', value: 0.5, n: 2 });
  // statsmodels proportion_confint(1, 2, method="wilson")
  expect(success?.interval?.low).toBeCloseTo(0.0945, 3);
  expect(success?.interval?.high).toBeCloseTo(0.9055, 3);
});

test('a value that was not measured is no point of a line', () => {
  const run = made(20, 6);
  const measured = run.boundaries.filter(({ kl }) => kl !== null);
  expect(valuesOf(run, 'kl')).toHaveLength(measured.length);
});

test('smoothing starts at the first value and passes over gaps', () => {
  expect(smoothed([1, null, 3], 0.5)).toEqual([1, null, (0.25 + 1.5) / 0.75]);
  expect(smoothed([4, 8], 0)).toEqual([4, 8]);
});

/** Four tasks of five episodes each, in which so many are solved: case B69 of repeats that are not independent. */
function repeats(solved: readonly number[]): RunView[] {
  return solved.flatMap((right, index) =>
    Array.from({ length: 5 }, (_, seed) => {
      const run = made(6, seed, { seed }, seed < right ? 'solved' : undefined);
      return { ...run, started: { ...run.started, task: { ...run.started.task, index } } };
    }),
  );
}

test('where tasks repeat, success has the interval over tasks, and says of how many', () => {
  const runs = repeats([5, 5, 0, 0]);
  const [success] = finalValues(runs);
  // Of 4 tasks drawn, none is solved with 1/16, all are with 1/16: both beyond 2.5 %. Wilson over 20 says [0.30, 0.70].
  expect(success).toMatchObject({ value: 0.5, n: 20, tasks: 4, over: 'tasks' });
  expect(success?.interval).toEqual({ low: 0, high: 1 });
  expect(finalValues(runs)).toEqual(finalValues(runs));
});

test('a rate is that of runs where tasks repeat unlike often, as in a report', () => {
  // 5 of 5 and 0 of 1; drawn are both, or one twice: 1/4 each for 10 of 10 and 0 of 2.
  const runs = repeats([5, 0]).slice(0, 6);
  expect(finalValues(runs)[0]).toMatchObject({ value: 5 / 6, interval: { low: 0, high: 1 } });
  expect(meanLine(runs, 'reward').at(-1)?.mean).toBe(5 / 6);
});

test('tasks that are all solved have the rule of three where they repeat: 3 of 10 may be otherwise', () => {
  const [success, steps] = finalValues(repeats(Array<number>(10).fill(5)));
  expect(success).toMatchObject({ value: 1, interval: { low: 0.7, high: 1 }, over: 'tasks' });
  expect(steps?.interval).toBeNull(); // another task may take any number of them
});

test('a mean line over repeated tasks has Student’s interval of their means', () => {
  const line = meanLine(repeats([5, 4, 1, 0]), 'reward');
  const last = line.at(-1);
  // Task means 1, 0.8, 0.2 and 0: 0.5 ± 3.1824 · 0.2380, cut to a rate. Wilson over 20 says [0.30, 0.70].
  expect(last).toMatchObject({ n: 20, mean: 0.5, interval: { low: 0, high: 1 } });
  const middle = meanLine(repeats([3, 3, 2, 2]), 'reward').at(-1)?.interval;
  // 0.6, 0.6, 0.4, 0.4: the mean's error is 0.057735, times 3.1824.
  expect(middle?.low).toBeCloseTo(0.5 - 3.1824 * 0.057735, 4);
  expect(middle?.high).toBeCloseTo(0.5 + 3.1824 * 0.057735, 4);
});

test('repeats of one task alone keep the interval over runs', () => {
  const [success] = finalValues([made(6, 1, {}, 'solved'), made(6, 2)]);
  expect(success).toMatchObject({ tasks: 1, over: 'runs' });
});

test('each value says how many runs have it', () => {
  const runs = [made(20, 6), made(20, 6, { method: 'frozen' })];
  const bare = runs.map((run, i) => (i === 0 ? run : { ...run, boundaries: [] }));
  const values = finalValues(bare);
  expect(values.find(({ label }) => label === 'steps')?.n).toBe(2);
  expect(values.find(({ label }) => label === 'last KL')?.n).toBe(1);
});

test('runs in two worlds, from two adapters or forked differ, though every setting is the same', () => {
  const run = made(5, 1);
  const other = (change: Partial<RunView['started']['manifest']>): RunView => ({
    ...run,
    started: { ...run.started, manifest: { ...run.started.manifest, ...change } },
  });
  const values = (change: Partial<RunView['started']['manifest']>) =>
    differences([run, other(change)]).map((row) => [row.label, row.values[1]]);
  expect(values({ env: 'repair/JavaScript-v1' })).toEqual([['world', 'repair/JavaScript-v1']]);
  expect(values({ startAdapter: { name: 'kitchen', sha256: '0123456789ab' } })).toEqual([
    ['started from', 'kitchen (01234567)'],
  ]);
  expect(values({ forkedFrom: { run: 'run-1', t: 7 } })).toEqual([
    ['forked from', 'run-1, step 7'],
  ]);
  const repair = { ...run.started.task, env: 'repair/JavaScript-v1' };
  expect(taskOf({ ...run, started: { ...run.started, task: repair } })).not.toBe(taskOf(run));
});
