/** Blocks and numbers as all sections of a report write them. */

import { fixed, pValue, signed } from '../math/fixed.ts';
import type { Interval } from '../math/statistics.ts';
import type { Block, Cells } from './document.ts';

export const NONE = 'n/a';

export const heading = (words: string): Block => ({ kind: 'heading', text: words });
export const text = (words: string): Block => ({ kind: 'text', text: words });
export const table = (head: readonly string[], rows: readonly Cells[]): Block => ({
  kind: 'table',
  head,
  rows,
});
export const figure = (name: string, words: string, svg: string): Block => ({
  kind: 'figure',
  name,
  text: words,
  svg,
});

export function decimal(value: number | null, digits: number): string {
  return value === null ? NONE : fixed(value, digits);
}

export function percent(value: number | null): string {
  return value === null ? NONE : `${(100 * value).toFixed(1)} %`;
}

export function percents(interval: Interval | null): string {
  return interval === null
    ? NONE
    : `${(100 * interval.low).toFixed(1)} to ${(100 * interval.high).toFixed(1)}`;
}

export function points(value: number | null, sign = true): string {
  if (value === null) return NONE;
  return sign ? signed(100 * value, 1) : fixed(100 * value, 1);
}

export const counted = (tasks: number) => (tasks === 1 ? '1 task' : `${tasks} tasks`);

export function probability(p: number | null): string {
  return p === null ? NONE : pValue(p);
}

/** The ends of an interval of a difference, in points. */
export function pointsRange(interval: Interval | null): string {
  return interval === null ? NONE : `${points(interval.low)} to ${points(interval.high)}`;
}
