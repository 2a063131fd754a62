import { expect, test } from 'vitest';
import { drawnPoints, maxPoints, thinned } from './drawn-points.ts';

const steps = (count: number) => Array.from({ length: count }, (_, t) => ({ t, step: t * t }));
const valuesOf = (points: readonly Readonly<Record<string, number | null>>[], key: string) =>
  points.filter((point) => (point[key] ?? null) !== null).length;

test('a line of 10,000 is drawn by at most 1,000 points, its first and last among them', () => {
  const drawn = thinned(steps(10_000), ['step'], maxPoints);
  expect(drawn.length).toBeLessThanOrEqual(maxPoints);
  expect(drawn.length).toBeGreaterThan(maxPoints / 2);
  expect([drawn[0]?.t, drawn.at(-1)?.t]).toEqual([0, 9999]);
});

test('few values beside a dense line are all drawn', () => {
  const points = steps(4000).map((point) => ({ ...point, mark: point.t % 40 === 3 ? 1 : null }));
  const drawn = thinned(points, ['step', 'mark'], maxPoints);
  expect(drawn.length).toBeLessThanOrEqual(maxPoints);
  expect(valuesOf(drawn, 'mark')).toBe(100);
});

test('lines that share no place are each thinned by themselves, and none loses more than the others', () => {
  const points = Array.from({ length: 1500 }, (_, i) => ({ t: i, [`run ${i % 30}`]: i }));
  const keys = Array.from({ length: 30 }, (_, n) => `run ${n}`);
  const drawn = thinned(points, keys, maxPoints);
  expect(drawn.length).toBeLessThanOrEqual(maxPoints);
  // Every second of 50, and the last.
  expect(keys.map((key) => valuesOf(drawn, key))).toEqual(keys.map(() => 26));
});

test('a part that is zoomed into is drawn in full', () => {
  const drawn = drawnPoints(steps(20_000), ['step'], 5000, 5600);
  const within = drawn.filter(({ t }) => (t ?? 0) >= 5000 && (t ?? 0) <= 5600);
  expect(within).toHaveLength(601);
  // The line comes in from its neighbour on the left, and leaves to the one on the right.
  expect(drawn.some(({ t }) => t === 4999) && drawn.some(({ t }) => t === 5601)).toBe(true);
  expect(drawn.length).toBeLessThan(900);
});
