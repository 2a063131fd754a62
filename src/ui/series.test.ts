/** The numbers behind the charts. */

import { expect, test } from 'vitest';
import { madeRun } from '../../e2e/fixtures/recorded/household-run.ts';
import { boundaryAt, foldRun, type RunView } from './run-view.ts';
import {
  axisEnd,
  axisOf,
  countSeries,
  countsAt,
  klSeries,
  lossSeries,
  repetitionSeries,
  summaryOf,
} from './series.ts';

function run(steps = 50) {
  const view = foldRun(madeRun({ steps, talk: 2, seed: 6 }), { id: null, name: 'made' });
  if (!view) throw new Error('the made run starts');
  return view;
}

/** A run of so many steps, each as its first: quicker made than played. */
function longRun(of: RunView, count: number): RunView {
  const [step] = of.steps;
  if (!step) throw new Error('the made run has a step');
  const steps = Array.from({ length: count }, (_, i) => ({ ...step, t: i + 1 }));
  return { ...of, steps, items: steps, boundaries: [] };
}

test('counts only grow, and end where the run says', () => {
  const view = run();
  const counts = countSeries(view);
  for (let i = 1; i < counts.length; i++) {
    expect(counts[i]?.updates).toBeGreaterThanOrEqual(counts[i - 1]?.updates ?? 0);
    expect(counts[i]?.rollbacks).toBeGreaterThanOrEqual(counts[i - 1]?.rollbacks ?? 0);
  }
  expect(counts.at(-1)).toEqual({
    t: 50,
    updates: view.ended?.updates,
    rollbacks: view.ended?.rollbacks,
  });
  expect(countsAt(view, 0)).toEqual({ updates: 0, rollbacks: 0 });
});

test('r_k stands at the steps of boundaries only', () => {
  const marked = repetitionSeries(run()).filter((point) => point.ratio !== null);
  expect(marked.map((point) => point.t)).toEqual([5, 10, 15, 20, 25, 30, 35, 40, 45, 50]);
});

test('boundaries that trained nothing have no loss and no KL', () => {
  const view = run();
  const trained = view.boundaries.filter((boundary) => boundary.losses.length > 0);
  expect(lossSeries(view)).toHaveLength(trained.length);
  expect(klSeries(view)).toHaveLength(trained.length);
});

test('a series has every step, however many there are', () => {
  const view = longRun(run(1), 1200);
  expect(countSeries(view)).toHaveLength(1201);
  expect(repetitionSeries(view)).toHaveLength(1200);
});

test('the step axis grows in jumps and not past the limit', () => {
  expect([0, 7, 11, 37, 50].map((t) => axisEnd(t, 50))).toEqual([10, 10, 20, 50, 50]);
  expect(axisEnd(3, 5)).toBe(5);
});

test('the tokens on screen are those of the last boundary at or before the step', () => {
  const view = run();
  expect(boundaryAt(view, 12)?.t).toBe(10);
  expect(boundaryAt(view, 2)?.t).toBe(5);
  expect(boundaryAt(view, null)?.t).toBe(50);
});

test('a chart says its extremes in words', () => {
  expect(summaryOf('KL', [null, 0.1, 0.25, 0.2])).toBe(
    'KL: 3 values from 0.1 to 0.25, the last 0.2.',
  );
  expect(summaryOf('KL', [])).toBe('KL: nothing measured yet.');
});

test('value axes have round ends that hold data and limits', () => {
  expect(axisOf([0.2, null], { kind: 'unit', limits: [0.8], parts: 2 }).ticks).toEqual([0, 0.5, 1]);
  expect(axisOf([0, 1, 2], { kind: 'count', limits: [], parts: 4 }).ticks).toEqual([0, 1, 2, 3, 4]);
  expect(axisOf([0, 9], { kind: 'count', limits: [], parts: 4 }).ticks).toEqual([0, 3, 6, 9, 12]);
  expect(axisOf([3.27, 5.63], { kind: 'linear', limits: [], parts: 4 })).toEqual({
    low: 3,
    high: 6,
    ticks: [3, 4, 5, 6],
  });
  expect(axisOf([0.004, 0.08, 0], { kind: 'log', limits: [0.5], parts: 4 }).ticks).toEqual([
    0.001, 0.01, 0.1, 1,
  ]);
});

test('an axis over nothing, one value or a zero limit is still an axis', () => {
  for (const kind of ['unit', 'count', 'linear', 'log'] as const) {
    for (const data of [[], [null], [0], [2], [1e-9], [3e38]]) {
      for (const limits of [[], [0], [0.5]]) {
        const { low, high, ticks } = axisOf(data, { kind, limits, parts: 4 });
        expect(high).toBeGreaterThan(low);
        expect(ticks.length).toBeGreaterThan(0);
        expect(ticks.every(Number.isFinite)).toBe(true);
      }
    }
  }
});
