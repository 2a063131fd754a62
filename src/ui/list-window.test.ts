import { describe, expect, it } from 'vitest';
import { sum, topOf, windowOf } from './list-window.ts';

const heights = [100, 50, 200, 80, 70];

describe('the window of a list', () => {
  it('holds every item that touches the stretch, and counts the room of the others', () => {
    // 100 | 150 | 350 | 430 | 500: from 160 to 360 touches the third and the fourth.
    expect(windowOf(heights, 160, 360)).toEqual({ first: 2, end: 4, above: 150, below: 70 });
    expect(windowOf(heights, -500, 1000)).toEqual({ first: 0, end: 5, above: 0, below: 0 });
  });

  it('never loses a pixel, wherever it stands', () => {
    for (let from = -100; from < 700; from += 10) {
      const { first, end, above, below } = windowOf(heights, from, from + 90);
      expect(above + sum(heights.slice(first, end)) + below).toBe(500);
      expect(end).toBeGreaterThan(first);
    }
    expect(windowOf([], 0, 100)).toEqual({ first: 0, end: 0, above: 0, below: 0 });
  });

  it('knows where an item begins', () => {
    expect(heights.map((_, index) => topOf(heights, index))).toEqual([0, 100, 150, 350, 430]);
  });
});
