/**
 * Where the steps of a run lie on the axis of its charts: counted, by their share of the episode, by tokens written or
 * by time; evenly or logarithmically. Pure.
 */

import type { RunView } from './run-view.ts';
import { extremesOf } from './series.ts';

export const stepAxes = ['step', 'share', 'tokens', 'seconds'] as const;
export type StepAxis = (typeof stepAxes)[number];

/** The place of step t in entry t, 0 before the first. */
export type Places = readonly number[];

/** Places by share of the steps, by what was written, or by the seconds that steps and boundaries took; null where it was not recorded. */
export function placesOf(run: RunView, axis: Exclude<StepAxis, 'step'>): Places | null {
  if (axis === 'share') {
    const last = Math.max(1, run.steps.at(-1)?.t ?? 0);
    return Array.from({ length: last + 1 }, (_, t) => t / last);
  }
  const places = [0];
  let sum = 0;
  for (const item of run.items) {
    if (axis === 'tokens') sum += item.type === 'step' ? item.generation.ids.length : 0;
    else if (item.clock === undefined) return null;
    else sum += item.clock.seconds;
    places[item.t] = sum;
  }
  return places;
}

/** Where step t is; steps that have not come yet are where the last one is. */
export function placeOf(places: Places, t: number): number {
  return places[Math.min(Math.max(0, t), places.length - 1)] ?? 0;
}

/** The last step at or before a place. Example: places 0, 3, 7 and place 5 -> step 1. */
export function stepAt(places: Places, place: number): number {
  return Math.max(
    0,
    places.findLastIndex((one) => one <= place * (1 + 1e-12)),
  );
}

/** The horizontal axis of a chart. */
export interface AcrossAxis {
  /** Its ends, as places. */
  readonly low: number;
  readonly high: number;
  readonly log: boolean;
  /** Where steps lie on it; null where they are counted, or where the points bring their own places. */
  readonly places: Places | null;
  /** True where only whole numbers are places. */
  readonly counted: boolean;
}

/** The axis of steps `start` to `end`; behind the last step it ends a little further, at a round number. */
export function acrossSteps(
  places: Places | null,
  start: number,
  end: number,
  log: boolean,
): AcrossAxis {
  const low = places ? placeOf(places, start) : start;
  const at = places ? placeOf(places, end) : end;
  const high = places && end >= places.length - 1 ? roundAbove(at) : at;
  // A log axis has no place for 0: it begins at the first step.
  const first = log && low === 0 ? (places?.find((place) => place > 0) ?? 1) : low;
  return { low: first, high: above(first, high), log, places, counted: !places };
}

/** The axis of points that bring their own places; `range` null shows all of them. */
export function acrossPlaces(
  places: readonly number[],
  range: readonly [from: number, to: number] | null,
  log: boolean,
): AcrossAxis {
  const [low, high] = range ?? [0, roundAbove(Math.max(0, extremesOf(places).high))];
  const first =
    log && low === 0 ? Math.min(1, extremesOf(places.filter((place) => place > 0)).low) : low;
  return { low: first, high: above(first, high), log, places: null, counted: false };
}

/** An axis has to have a length. */
function above(low: number, high: number): number {
  return Math.max(high, low * (1 + 1e-9), low + 1e-9);
}

/** The next multiple of half a power of ten. Examples: 372 -> 400, 0.3 -> 0.3. */
function roundAbove(place: number): number {
  const step = 10 ** Math.floor(Math.log10(Math.max(place, 1e-3))) / 2;
  return Number((Math.ceil(place / step - 1e-9) * step).toPrecision(12)); // 0.30000000000000004 is not
}

/** How far along the axis a place is: 0 at its left end, 1 at its right one. */
export function along({ low, high, log }: AcrossAxis, place: number): number {
  return log
    ? Math.log(Math.max(place, Number.MIN_VALUE) / low) / Math.log(high / low)
    : (place - low) / (high - low);
}

/** The most marks that there is room for on a log axis. */
const mostLogTicks = 8;

/** Round marks of a log axis: 1, 2 and 5 of each power of ten, or its powers alone where those are too many. */
export function logTicks({ low, high }: AcrossAxis): readonly number[] {
  const first = Math.floor(Math.log10(low));
  const powers = Array.from(
    { length: Math.ceil(Math.log10(high)) - first + 1 },
    (_, n) => n + first,
  );
  const marks = (factors: readonly number[]) =>
    powers
      .flatMap((power) => factors.map((factor) => Number((factor * 10 ** power).toPrecision(3))))
      .filter((mark) => mark >= low * (1 - 1e-9) && mark <= high * (1 + 1e-9));
  const fine = marks([1, 2, 5]);
  return fine.length <= mostLogTicks ? fine : marks([1]);
}
