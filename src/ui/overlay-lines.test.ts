import { expect, test } from 'vitest';
import { madeRun } from '../../e2e/fixtures/recorded/household-run.ts';
import { chartCsv, columnsOf } from './chart-table.ts';
import { meanLine } from './compare-numbers.ts';
import { drawingOf, placesOfAll } from './overlay-lines.ts';
import { foldRun, type RunView } from './run-view.ts';

function made(steps: number, seed: number, timed = true): RunView {
  const events = madeRun({ steps, seed });
  const bare = events.map(({ clock: _, ...event }) => event) as typeof events; // the same events, undated
  const run = foldRun(timed ? events : bare, { id: `${seed}`, name: `${seed}` });
  if (!run) throw new Error('the made run starts');
  return run;
}

/** A run of so many steps, each as its first: quicker made than played. */
function longRun(of: RunView, count: number): RunView {
  const [step] = of.steps;
  if (!step) throw new Error('the made run has a step');
  const steps = Array.from({ length: count }, (_, i) => ({ ...step, t: i + 1 }));
  return { ...of, steps, items: steps, boundaries: [] };
}

const wish = { quantity: 'repetition', grouped: false, past: 0 } as const;

test('over steps runs share their places, over tokens each point stands where its own run is', () => {
  const runs = [made(4, 1), made(4, 2)];
  const steps = drawingOf(runs, { ...wish, places: null });
  expect(steps.points.map(({ t }) => t)).toEqual([1, 2, 3, 4]);
  const places = placesOfAll(runs, 'tokens');
  const tokens = drawingOf(runs, { ...wish, places });
  runs.forEach((run, index) => {
    const own = tokens.points.filter((point) => point[`run ${index}`] !== undefined);
    expect(own.map(({ t }) => t)).toEqual(places?.[index]?.slice(1));
    expect(own.map((point) => point[`run ${index}`])).toEqual(
      run.steps.map(({ repetition }) => repetition),
    );
  });
});

test('where one run recorded no times, none is drawn over seconds', () => {
  expect(placesOfAll([made(4, 1), made(4, 2)], 'seconds')).toHaveLength(2);
  expect(placesOfAll([made(4, 1), made(4, 2, false)], 'seconds')).toBeNull();
  expect(placesOfAll([made(4, 1, false)], 'share')).toEqual([[0, 0.25, 0.5, 0.75, 1]]);
});

test('a smoothed line keeps its raw one behind it, at the same places', () => {
  const { lines, points } = drawingOf([made(6, 1)], { ...wish, past: 0.5, places: null });
  expect(lines.map(({ key, faint }) => [key, faint ?? false])).toEqual([
    ['raw 0', true],
    ['run 0', false],
  ]);
  expect(points.every((point) => 'raw 0' in point && 'run 0' in point)).toBe(true);
});

test('a group is one line with its band, whichever the axis', () => {
  const runs = [made(4, 1), made(8, 2)];
  for (const axis of ['step', 'share', 'tokens', 'seconds'] as const) {
    const places = placesOfAll(runs, axis);
    const { lines, bands } = drawingOf(runs, { ...wish, grouped: true, places });
    expect(
      lines.map(({ label }) => label),
      axis,
    ).toEqual(['attt (n = 2)']);
    expect(bands, axis).toHaveLength(1);
  }
});

test('the file of 30 runs over tokens has every value of every run', () => {
  const runs = Array.from({ length: 30 }, (_, seed) => made(50, seed + 1));
  const drawing = drawingOf(runs, { ...wish, places: placesOfAll(runs, 'tokens') });
  const [, ...rows] = chartCsv('tokens', columnsOf(drawing.lines), drawing.points)
    .trim()
    .split('\n');
  const values = rows.flatMap((row) => row.split(',').slice(1)).filter((cell) => cell !== '');
  expect(values).toHaveLength(30 * 50);
});

test('the mean of a run of 1,200 steps and one of 900 is over both as far as both go', () => {
  const runs = [longRun(made(1, 1), 1200), longRun(made(1, 2), 900)];
  const wished = { quantity: 'updates', grouped: true, past: 0, places: null } as const;
  const { points } = drawingOf(runs, wished);
  const both = points.filter(({ 'low 0': low }) => low !== null).map(({ t }) => t ?? 0);
  expect(points).toHaveLength(1201);
  expect(Math.max(...both)).toBeLessThanOrEqual(900);
  const counts = meanLine(runs, 'updates').map(({ n }) => n);
  expect(counts).toEqual(Array.from({ length: 1201 }, (_, t) => (t <= 900 ? 2 : 1)));
});

test('the file of groups has the ends of each interval beside its mean', () => {
  const runs = [made(4, 1), made(4, 2)];
  const { lines, bands, points } = drawingOf(runs, { ...wish, grouped: true, places: null });
  const [head, ...rows] = chartCsv('step', columnsOf(lines, bands), points).trim().split('\n');
  expect(head).toBe('step,attt (n = 2),attt (n = 2) low,attt (n = 2) high');
  const [, mean = 0, low = 0, high = 0] = (rows[2] ?? '').split(',').map(Number);
  expect(low).toBeLessThan(mean);
  expect(high).toBeGreaterThan(mean);
});
