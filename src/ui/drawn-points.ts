/** Which points of a chart are drawn, where it has more than can be seen. Tables and files have all of them. Pure. */

import type { Points } from './chart-specs.ts';

/** More points than this cost a visible pause at each redraw and show no more. */
export const maxPoints = 1000;

/** Beyond either end of the axis only the way in and out of it is seen. */
const maxOutside = 100;

/** The points between two places on the axis as far as there is room, and few beside them; `keys` are the lines'. */
export function drawnPoints(
  points: Points,
  keys: readonly string[],
  low: number,
  high: number,
): Points {
  if (points.length <= maxPoints) return points;
  const at = ({ t }: Points[number]) => t ?? 0;
  return [
    ...thinned(
      points.filter((point) => at(point) < low),
      keys,
      maxOutside,
    ),
    ...thinned(
      points.filter((point) => at(point) >= low && at(point) <= high),
      keys,
      maxPoints,
    ),
    ...thinned(
      points.filter((point) => at(point) > high),
      keys,
      maxOutside,
    ),
  ];
}

/**
 * At most `most` points, unless there are hundreds of lines. Each line is thinned by itself, to every second of its
 * values, every fourth and so on, its first and last kept; a line of few values beside a dense one keeps them all.
 */
export function thinned(points: Points, keys: readonly string[], most: number): Points {
  if (points.length <= most) return points;
  const lines = keys.map((key) =>
    points.flatMap((point, index) => ((point[key] ?? null) === null ? [] : [index])),
  );
  for (let each = most; ; each /= 2) {
    const kept = new Set<number>();
    for (const line of lines) {
      // Powers of two: lines over the same steps then keep the same ones.
      const stride = 2 ** Math.max(0, Math.ceil(Math.log2(line.length / each)));
      line.forEach((index, n) => {
        if (n % stride === 0 || n === line.length - 1) kept.add(index);
      });
    }
    if (kept.size <= most || each <= 2) return points.filter((_, index) => kept.has(index));
  }
}
