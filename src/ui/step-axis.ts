/** Where the steps of a run lie on the axis of its charts: counted, by tokens written, or by time. Pure. */

import type { RunView } from './run-view.ts';

export const stepAxes = ['step', 'tokens', 'seconds'] as const;
export type StepAxis = (typeof stepAxes)[number];

/** The place of step t in entry t, 0 before the first. */
export type Places = readonly number[];

/** Places by what was written, or by the seconds that steps and boundaries took; null where it was not recorded. */
export function placesOf(run: RunView, axis: Exclude<StepAxis, 'step'>): Places | null {
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

/** The ends of the axis for steps `start` to `end`; behind the last step it ends a little further, at a round number. */
export function spanOf(places: Places, start: number, end: number): readonly [number, number] {
  const low = placeOf(places, start);
  const high = placeOf(places, end);
  if (end < places.length - 1) return [low, Math.max(high, low + 1e-9)];
  const step = 10 ** Math.floor(Math.log10(Math.max(high, 1e-3))) / 2;
  const round = Number((Math.ceil(high / step) * step).toPrecision(12)); // 0.30000000000000004 is not
  return [low, Math.max(round, low + 1e-9)];
}
