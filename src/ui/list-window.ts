/** Which part of a long list stands in a stretch of pixels. Pure; the heights of what was never drawn are guesses. */

export interface ListWindow {
  /** The first item that is drawn, and the one after the last. */
  readonly first: number;
  readonly end: number;
  /** The room of what is not drawn, above and below, in pixels. */
  readonly above: number;
  readonly below: number;
}

/** The items that touch the stretch between two heights; at least one where there are any. */
export function windowOf(heights: readonly number[], from: number, to: number): ListWindow {
  let first = 0;
  let above = 0;
  for (; first < heights.length - 1; first++) {
    const height = heights[first] ?? 0;
    if (above + height > from) break;
    above += height;
  }
  let end = first;
  let bottom = above;
  while (end < heights.length && (bottom < to || end === first)) bottom += heights[end++] ?? 0;
  return { first, end, above, below: sum(heights.slice(end)) };
}

/** Where an item begins, in pixels from the top of the list. */
export function topOf(heights: readonly number[], index: number): number {
  return sum(heights.slice(0, index));
}

export function sum(heights: readonly number[]): number {
  return heights.reduce((total, height) => total + height, 0);
}
