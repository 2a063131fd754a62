import { describe, expect, it } from 'vitest';
import {
  bandPath,
  type Frame,
  linePath,
  nearestKey,
  nearestRow,
  placesOf,
  stepAt,
  stepTicks,
  xOf,
  yOf,
} from './plot-shape.ts';

/** 100 pixels for 50 steps, 200 pixels for values 0 to 1. */
const frame: Frame = {
  ...{ left: 10, top: 20, width: 100, height: 200 },
  ...{ start: 0, end: 50, low: 0, high: 1, log: false },
};

describe('places', () => {
  it('run from the left with steps and from the bottom with values', () => {
    expect([xOf(frame, 0), xOf(frame, 25), xOf(frame, 50)]).toEqual([10, 60, 110]);
    expect([yOf(frame, 0), yOf(frame, 0.25), yOf(frame, 1)]).toEqual([220, 170, 20]);
  });

  it('of a log axis are even in powers of ten, and 0 has none', () => {
    const log = { ...frame, low: 0.01, high: 1, log: true };
    expect([yOf(log, 1), yOf(log, 0.1), yOf(log, 0.01), yOf(log, 0)]).toEqual([20, 120, 220, null]);
  });

  it('give back the step that they were made from', () => {
    for (const t of [0, 7, 50]) expect(stepAt(frame, xOf(frame, t))).toBeCloseTo(t, 1);
  });
});

describe('paths', () => {
  const rows = [
    { t: 0, a: 0, low: 0, high: 0.5 },
    { t: 10, a: null, low: null, high: null },
    { t: 20, a: 1, low: 0.5, high: 1 },
  ];

  it('lead over a value that was not measured', () => {
    expect(linePath(placesOf(frame, rows, 'a'))).toBe('M10 220L50 20');
    expect(linePath(placesOf(frame, rows, 'a'), true)).toBe('M10 220H50V20');
    expect(linePath([])).toBe('');
  });

  it('of a band go there above and back below', () => {
    expect(bandPath(frame, rows, 'low', 'high')).toBe('M10 120L50 20L50 120L10 220Z');
    expect(bandPath(frame, rows.slice(1, 2), 'low', 'high')).toBe('');
  });
});

describe('ticks', () => {
  it('are round steps and no more than there is room for', () => {
    expect(stepTicks(0, 50, 6)).toEqual([0, 10, 20, 30, 40, 50]);
    expect(stepTicks(0, 10, 6)).toEqual([0, 2, 4, 6, 8, 10]);
    expect(stepTicks(7, 12, 6)).toEqual([7, 8, 9, 10, 11, 12]);
    expect(stepTicks(13, 87, 5)).toEqual([20, 40, 60, 80]);
  });
});

describe('the pointer', () => {
  const rows = [
    { t: 5, a: 0.2, b: 0.8 },
    { t: 9, a: null, b: 0.6 },
  ];

  it('finds the nearest row and in it the nearest line', () => {
    expect(nearestRow(rows, 8)?.t).toBe(9);
    expect(nearestRow([], 8)).toBeNull();
    expect(nearestKey(frame, rows[0] ?? {}, ['a', 'b'], 170)).toBe('a');
    expect(nearestKey(frame, rows[1] ?? {}, ['a', 'b'], 170)).toBe('b');
    expect(nearestKey(frame, {}, ['a', 'b'], 170)).toBeNull();
  });
});
