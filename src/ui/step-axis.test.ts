import { expect, test } from 'vitest';
import { madeRun } from '../../e2e/fixtures/recorded/household-run.ts';
import { foldRun } from './run-view.ts';
import { placeOf, placesOf, spanOf, stepAt } from './step-axis.ts';

const events = madeRun({ steps: 12, seed: 3 });
const run = foldRun(events, { id: null, name: 'made' });
if (!run) throw new Error('the made run starts');

test('by tokens each step lies as far right as was written up to it', () => {
  const places = placesOf(run, 'tokens') ?? [];
  const written = run.steps.map(({ generation }) => generation.ids.length);
  expect(places[0]).toBe(0);
  expect(places[3]).toBe((written[0] ?? 0) + (written[1] ?? 0) + (written[2] ?? 0));
  expect(places).toHaveLength(13);
});

test('by time a step ends with its boundary, and a run without times has no such axis', () => {
  const places = placesOf(run, 'seconds') ?? [];
  const upTo5 = run.items
    .filter(({ t }) => t <= 5)
    .map(({ clock }) => clock?.seconds ?? Number.NaN);
  expect(upTo5).toHaveLength(6); // five steps and a boundary
  expect(places[5]).toBeCloseTo(
    upTo5.reduce((a, b) => a + b),
    9,
  );
  const bare = events.map(({ clock: _, ...event }) => event) as typeof events; // the same events, undated
  const undated = foldRun(bare, { id: null, name: 'undated' });
  expect(undated && placesOf(undated, 'seconds')).toBeNull();
});

test('a place belongs to the last step at or before it', () => {
  const places = [0, 3, 7, 7, 9];
  expect([0, 2.9, 3, 5, 7, 8, 100].map((place) => stepAt(places, place))).toEqual([
    0, 0, 1, 1, 3, 3, 4,
  ]);
  for (const t of [0, 1, 3, 4]) expect(stepAt(places, placeOf(places, t))).toBe(t);
  expect(placeOf(places, 50)).toBe(9);
});

test('the axis ends at a round number behind the last step, and at the step itself before it', () => {
  expect(spanOf([0, 130, 260, 372], 0, 50)).toEqual([0, 400]);
  expect(spanOf([0, 130, 260, 372], 1, 2)).toEqual([130, 260]);
  expect(spanOf([0, 0.3], 0, 1)).toEqual([0, 0.3]);
});
