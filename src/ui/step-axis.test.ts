import { expect, test } from 'vitest';
import { madeRun } from '../../e2e/fixtures/recorded/household-run.ts';
import { foldRun } from './run-view.ts';
import {
  acrossPlaces,
  acrossSteps,
  along,
  logTicks,
  placeOf,
  placesOf,
  stepAt,
} from './step-axis.ts';

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
  const ends = (places: readonly number[] | null, start: number, end: number, log = false) => {
    const { low, high } = acrossSteps(places, start, end, log);
    return [low, high];
  };
  expect(ends([0, 130, 260, 372], 0, 50)).toEqual([0, 400]);
  expect(ends([0, 130, 260, 372], 1, 2)).toEqual([130, 260]);
  expect(ends([0, 0.3], 0, 1)).toEqual([0, 0.3]);
  expect(ends(null, 0, 20)).toEqual([0, 20]);
  // Without a place for 0 it begins at the first step.
  expect(ends(null, 0, 20, true)).toEqual([1, 20]);
  expect(ends([0, 130, 260, 372], 0, 50, true)).toEqual([130, 400]);
});

test('points with places of their own are all on the axis, or the chosen part of it is', () => {
  const ends = (range: readonly [number, number] | null, log: boolean) => {
    const { low, high } = acrossPlaces([0, 20, 130, 372], range, log);
    return [low, high];
  };
  expect(ends(null, false)).toEqual([0, 400]);
  expect(ends([20, 130], false)).toEqual([20, 130]);
  expect(ends(null, true)).toEqual([1, 400]);
  expect(ends([20, 130], true)).toEqual([20, 130]);
  expect(acrossPlaces([], null, true).high).toBeGreaterThan(0);
});

test('by its share the last step of any run is at 1, and half of the steps before a half', () => {
  const places = placesOf(run, 'share') ?? [];
  expect([0, 3, 6, 12].map((t) => placeOf(places, t))).toEqual([0, 0.25, 0.5, 1]);
  expect(acrossSteps(places, 0, 50, false)).toMatchObject({ low: 0, high: 1 });
});

test('on a log axis equal factors are equally far apart, marked by round numbers', () => {
  const axis = acrossSteps(null, 0, 100, true);
  expect([1, 10, 100].map((place) => along(axis, place))).toEqual([0, 0.5, 1]);
  expect(along(acrossSteps(null, 0, 100, false), 10)).toBe(0.1);
  expect(logTicks(axis)).toEqual([1, 2, 5, 10, 20, 50, 100]);
  expect(logTicks(acrossSteps([0, 130, 372], 0, 50, true))).toEqual([200]);
  expect(logTicks(acrossSteps(null, 0, 5000, true))).toEqual([1, 10, 100, 1000]);
});
