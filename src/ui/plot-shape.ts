/** The geometry of a chart: from steps and values to pixels, paths and ticks. Pure; knows no document. */

/** The plot area in pixels, and the steps and values at its edges. */
export interface Frame {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly start: number;
  readonly end: number;
  readonly low: number;
  readonly high: number;
  readonly log: boolean;
}

export interface Place {
  readonly x: number;
  readonly y: number;
}

export type Row = Readonly<Record<string, number | null>>;

/** The horizontal place of a step, in pixels. */
export function xOf(frame: Frame, t: number): number {
  return tenths(frame.left + (frame.width * (t - frame.start)) / (frame.end - frame.start));
}

/** The step at a horizontal place; it may lie outside of the frame. */
export function stepAt(frame: Frame, x: number): number {
  return frame.start + ((x - frame.left) / frame.width) * (frame.end - frame.start);
}

/** The vertical place of a value, in pixels; null where a log axis has none, as for 0. */
export function yOf({ low, high, log, top, height }: Frame, value: number): number | null {
  if (log && value <= 0) return null;
  const place = log ? Math.log10 : (one: number) => one;
  return tenths(top + (height * (place(high) - place(value))) / (place(high) - place(low)));
}

/** The places of one column of the rows, those without a value left out. */
export function placesOf(frame: Frame, rows: readonly Row[], key: string): readonly Place[] {
  return rows.flatMap((row) => {
    const value = row[key] ?? null;
    const y = value === null ? null : yOf(frame, value);
    return y === null ? [] : [{ x: xOf(frame, row.t ?? 0), y }];
  });
}

/** From place to place, straight or in stairs that rise at their right end. */
export function linePath(places: readonly Place[], stairs = false): string {
  return places
    .map(({ x, y }, index) => (index === 0 ? `M${x} ${y}` : stairs ? `H${x}V${y}` : `L${x} ${y}`))
    .join('');
}

/** The area between two columns, over the rows that have both. */
export function bandPath(frame: Frame, rows: readonly Row[], low: string, high: string): string {
  const both = rows.filter((row) => (row[low] ?? null) !== null && (row[high] ?? null) !== null);
  const below = placesOf(frame, both, low);
  const above = placesOf(frame, both, high);
  if (below.length === 0 || below.length !== above.length) return '';
  return `${linePath([...above, ...below.toReversed()])}Z`;
}

/** Round steps between two ends, at most `most` of them. Example: 0 to 50, 6 -> 0, 10, … 50. */
export function stepTicks(start: number, end: number, most: number): readonly number[] {
  const sizes = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000];
  const first = (size: number) => Math.ceil(start / size) * size;
  const count = (size: number) => Math.floor((end - first(size)) / size) + 1;
  const size = sizes.find((one) => count(one) <= most) ?? end - start;
  return Array.from({ length: Math.max(0, count(size)) }, (_, index) => first(size) + index * size);
}

/** The row nearest to a step; null where there is none. */
export function nearestRow(rows: readonly Row[], step: number): Row | null {
  let found: Row | null = null;
  for (const row of rows) {
    if (!found || Math.abs((row.t ?? 0) - step) < Math.abs((found.t ?? 0) - step)) found = row;
  }
  return found;
}

/** The column whose value in a row is drawn nearest to a height; null where the row has none. */
export function nearestKey(
  frame: Frame,
  row: Row,
  keys: readonly string[],
  height: number,
): string | null {
  let found: { readonly key: string; readonly away: number } | null = null;
  for (const key of keys) {
    const value = row[key] ?? null;
    const y = value === null ? null : yOf(frame, value);
    if (y === null) continue;
    const away = Math.abs(y - height);
    if (!found || away < found.away) found = { key, away };
  }
  return found?.key ?? null;
}

/** More digits than this no screen shows, and files would carry them. */
function tenths(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}
