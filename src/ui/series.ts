/** The numbers behind the charts, read out of a run. Knows no chart library. */

import { valueText } from './numbers.ts';
import { isRollback, type RunView } from './run-view.ts';
import { series as say } from './strings.ts';

export interface RepetitionPoint {
  readonly t: number;
  /** repetition_t of the step; null at a point that only carries a boundary. */
  readonly repetition: number | null;
  /** r_k of the boundary after this step. */
  readonly ratio: number | null;
}
export interface KlPoint {
  readonly t: number;
  readonly kl: number | null;
  readonly klInContext: number | null;
}
export interface LossPoint {
  readonly t: number;
  readonly before: number | null;
  readonly after: number | null;
}
export interface CountPoint {
  readonly t: number;
  readonly updates: number;
  readonly rollbacks: number;
}

export interface RewardPoint {
  readonly t: number;
  readonly reward: number;
}
export interface NoveltyPoint {
  readonly t: number;
  readonly novelty: number | null;
}
export interface GradientPoint {
  readonly t: number;
  readonly first: number | null;
  readonly last: number | null;
}

export function repetitionSeries(run: RunView): readonly RepetitionPoint[] {
  const ratios = new Map(run.boundaries.map((boundary) => [boundary.t, boundary.ratio]));
  return run.steps.map((step) => ({
    t: step.t,
    repetition: step.repetition,
    ratio: ratios.get(step.t) ?? null,
  }));
}

export function klSeries(run: RunView): readonly KlPoint[] {
  return run.boundaries
    .filter((boundary) => boundary.kl !== null || boundary.klInContext !== null)
    .map(({ t, kl, klInContext }) => ({ t, kl, klInContext }));
}

/** Loss before the first gradient step and after the last, of each boundary that measured it. */
export function lossSeries(run: RunView): readonly LossPoint[] {
  return run.boundaries
    .filter((boundary) => boundary.losses.length > 0)
    .map((boundary) => ({
      t: boundary.t,
      before: boundary.losses[0] ?? null,
      after: boundary.losses.length > 1 ? (boundary.losses.at(-1) ?? null) : null,
    }));
}

/** Updates trained and rollbacks that restored something, both counted from the start. */
export function countSeries(run: RunView): readonly CountPoint[] {
  const points: CountPoint[] = [{ t: 0, updates: 0, rollbacks: 0 }];
  let updates = 0;
  let rollbacks = 0;
  for (const item of run.items) {
    if (item.type === 'boundary' && item.outcome === 'updated') updates++;
    if (isRollback(item)) rollbacks++;
    const point = { t: item.t, updates, rollbacks };
    if (points.at(-1)?.t === item.t) points[points.length - 1] = point;
    else points.push(point);
  }
  return points;
}

/** Updates and rollbacks up to and including step t. */
export function countsAt(run: RunView, t: number): { updates: number; rollbacks: number } {
  const items = run.items.filter((item) => item.t <= t);
  return {
    updates: items.filter((item) => item.type === 'boundary' && item.outcome === 'updated').length,
    rollbacks: items.filter(isRollback).length,
  };
}

/** The reward, summed up to each step. */
export function rewardSeries(run: RunView): readonly RewardPoint[] {
  let reward = 0;
  return run.steps.map((step) => {
    reward += step.reward;
    return { t: step.t, reward };
  });
}

/** 1 − r_k of each boundary that had a text. */
export function noveltySeries(run: RunView): readonly NoveltyPoint[] {
  return run.boundaries
    .filter((boundary) => boundary.novelty !== null)
    .map(({ t, novelty }) => ({ t, novelty }));
}

/** The gradient's norm at the first and the last gradient step of each update, before clipping. */
export function gradientSeries(run: RunView): readonly GradientPoint[] {
  return run.boundaries
    .filter((boundary) => boundary.gradNorms.length > 0)
    .map(({ t, gradNorms }) => ({
      t,
      first: gradNorms[0] ?? null,
      last: gradNorms.length > 1 ? (gradNorms.at(-1) ?? null) : null,
    }));
}

/**
 * The exponential moving average of a series with the weight `past` on what came before, corrected for
 * its start as Adam's moments are, so that the first value is itself. Points without a value are
 * passed over. Example: past ½, values 1, 3 -> 1, (¼ · 1 + ½ · 3) / ¾ = 2.33.
 */
export function smoothed(
  values: readonly (number | null)[],
  past: number,
): readonly (number | null)[] {
  let sum = 0;
  let weight = 0;
  return values.map((value) => {
    if (value === null) return null;
    sum = past * sum + (1 - past) * value;
    weight = past * weight + (1 - past);
    return sum / weight;
  });
}

/** The right end of the step axis: it grows in few jumps, and never past the step limit. */
export function axisEnd(steps: number, stepLimit: number): number {
  const stops = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];
  const stop = stops.find((candidate) => candidate >= steps) ?? steps;
  return Math.max(steps, Math.min(stop, stepLimit), 1);
}

/** The least and the greatest value, ±Infinity without any. A call takes some hundred thousand arguments and no more, so none is spread. */
export function extremesOf(values: readonly number[]): { low: number; high: number } {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return { low, high };
}

export interface AxisWish {
  readonly kind: 'unit' | 'count' | 'linear' | 'log';
  /** Values that have to be on the axis besides the data. */
  readonly limits: readonly number[];
  /** How many intervals there is room for. */
  readonly parts: number;
}

export interface Axis {
  readonly low: number;
  readonly high: number;
  readonly ticks: readonly number[];
}

/**
 * A value axis over the data and its limits, with round ends, so that it moves in few jumps. A log
 * axis has a tick at each power of ten that there is room for; values of 0 and below are not on it.
 */
export function axisOf(data: readonly (number | null)[], wish: AxisWish): Axis {
  const { kind, limits, parts } = wish;
  const known = data
    .filter((value) => value !== null)
    .concat(limits)
    .filter(Number.isFinite);
  switch (kind) {
    case 'unit':
      return evenly(0, 1, 1 / parts);
    case 'count': {
      const step = Math.max(1, Math.ceil(Math.max(0, extremesOf(known).high) / parts));
      return evenly(0, step * parts, step);
    }
    case 'linear': {
      const { low: least, high: most } = extremesOf(known);
      const top = Math.max(0, most);
      const bottom = Math.min(top, least);
      const step = niceStep((top - bottom) / (parts - 0.5) || Math.abs(top) / parts || 1);
      const low = Math.floor(bottom / step) * step;
      return evenly(low, Math.max(Math.ceil(top / step) * step, low + step), step);
    }
    case 'log': {
      const positive = known.filter((value) => value > 0);
      const { low: least, high: most } = extremesOf(positive);
      const top = Math.ceil(Math.log10(Math.max(most, 1e-6)));
      const bottom = Math.max(-6, Math.floor(Math.log10(Math.min(least, 10 ** top / 10))));
      const powers = Math.max(1, top - bottom);
      const every = Math.ceil(powers / parts);
      const ticks: number[] = [];
      for (let power = top; power >= bottom; power -= every) ticks.unshift(10 ** power);
      return { low: 10 ** Math.min(bottom, top - 1), high: 10 ** top, ticks };
    }
    default:
      return kind satisfies never;
  }
}

function evenly(low: number, high: number, step: number): Axis {
  const count = Math.round((high - low) / step);
  // Sums of 0.1 would show as 0.30000000000000004.
  const ticks = Array.from({ length: count + 1 }, (_, i) =>
    Number((low + i * step).toPrecision(12)),
  );
  return { low, high: ticks.at(-1) ?? high, ticks };
}

/** The next of 1, 2, 2.5, 5 × a power of ten. */
function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 2.5, 5, 10].find((one) => one * power >= rough * 0.999) ?? 10;
  return factor * power;
}

/** The extremes and the last of some values in words, for those who do not see the line. */
export function summaryOf(name: string, values: readonly (number | null)[]): string {
  const known = values.filter((value) => value !== null);
  const last = known.at(-1);
  if (last === undefined) return say.nothingMeasured(name);
  const { low, high } = extremesOf(known);
  return say.summary(name, known.length, valueText(low), valueText(high), valueText(last));
}
