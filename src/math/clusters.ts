/**
 * Means whose values repeat tasks. Repeats of a task are not independent of each other, so what is known of a mean comes
 * from the spread of whole tasks: each is a cluster, the list of its values. Pure; randomness comes in.
 */

import { drawnMean } from './resampling.ts';
import type { Rng } from './rng.ts';
import { type Interval, mean, quantile, signFlip, t95 } from './statistics.ts';

/** The values of each task; none is empty. */
export type Clusters = readonly (readonly number[])[];

/** Values that are independent of each other: a task each. */
export function singles(values: readonly number[]): Clusters {
  return values.map((value) => [value]);
}

/**
 * The cluster-robust (CR1) standard error of the mean y over all N values of G tasks, with n_g values that sum to c_g:
 * √(G / (G − 1) · Σ (c_g − n_g·y)²) / N (Liang and Zeger 1986); sd / √G where each task has one value. null with fewer
 * than two tasks, and where all are alike: no width is no certainty.
 * Example: [1, 1], [0, 0] -> 0.5.
 */
export function standardError(clusters: Clusters): number | null {
  if (areAlike(clusters)) return null;
  const y = mean(clusters.flat());
  const squares = clusters.reduce((sum, c) => sum + (c.length * (mean(c) - y)) ** 2, 0);
  const many = clusters.length / (clusters.length - 1);
  return Math.sqrt(many * squares) / clusters.flat().length;
}

/**
 * Student's 95 % interval of the mean over all values with a degree of freedom less than tasks, cut to the values that
 * are possible; null where there is no {@link standardError}.
 * Example: 0.2, 0.5, 0.9 of [0, 1] -> [0, 1]; 10, 12, 15.5 of anything -> [5.584, 19.416].
 */
export function tInterval(
  clusters: Clusters,
  { low, high }: Interval = { low: -Infinity, high: Infinity },
): Interval | null {
  const error = standardError(clusters);
  if (error === null) return null;
  const centre = mean(clusters.flat());
  const half = t95(clusters.length - 1) * error;
  return { low: Math.max(low, centre - half), high: Math.min(high, centre + half) };
}

/**
 * The 95 % percentile bootstrap interval of the mean over all values: whole tasks are drawn, with all of their values
 * (Davison and Hinkley 1997, 3.8). null where all are alike, one alone included.
 */
export function bootstrapMean(clusters: Clusters, rng: Rng, draws = 10_000): Interval | null {
  if (areAlike(clusters)) return null;
  const drawn = drawnMean(clusters);
  const means = Array.from({ length: draws }, () => drawn(rng));
  return { low: quantile(means, 0.025) ?? Number.NaN, high: quantile(means, 0.975) ?? Number.NaN };
}

/**
 * The interval of {@link bootstrapMean}, or around tasks that are all alike that of {@link ruleOfThree}. `possible` is
 * where a value can lie; null without a task, and of tasks alike where that has no end.
 */
export function taskInterval(clusters: Clusters, possible: Interval, rng: Rng): Interval | null {
  const [first] = clusters;
  if (first === undefined) return null;
  return bootstrapMean(clusters, rng) ?? ruleOfThree(mean(first), clusters.length, possible);
}

/**
 * Around a mean that is the same in each of n tasks, in which a bootstrap has no width: of tasks like these, at 95 %,
 * fewer than 3 / n are otherwise (Hanley and Lippman-Hand 1983), and at worst those lie at an end of what is possible.
 * null where that has no end.
 * Example: 60 tasks that all have 1 -> [0.95, 1] where 0 to 1 is possible, [0.9, 1] where −1 to 1 is.
 */
function ruleOfThree(value: number, n: number, { low, high }: Interval): Interval | null {
  const otherwise = Math.min(1, 3 / n);
  const interval = {
    low: value - otherwise * (value - low),
    high: value + otherwise * (high - value),
  };
  return Number.isFinite(interval.low) && Number.isFinite(interval.high) ? interval : null;
}

/** What one method has more of than another, over the tasks that both have. */
export interface TaskDifference {
  /** {@link taskDifference} is over tasks, of each task's mean over its pairs: a task counts once, however many it has. */
  readonly mean: number;
  /** Of 95 %, by {@link taskInterval}: null only where tasks are alike and a difference can be of any size. */
  readonly interval: Interval | null;
  /** {@link signFlip} over tasks. */
  readonly p: number;
}

/**
 * `pairs` has the differences of each task's pairs, `possible` is where one can lie, `stream` gives the random numbers
 * of a purpose. null without a pair.
 */
export function taskDifference(
  pairs: Clusters,
  possible: Interval,
  stream: (purpose: string) => Rng,
): TaskDifference | null {
  return pairDifference(singles(pairs.map(mean)), possible, stream);
}

/**
 * The same over pairs: each counts once, so that a task with more pairs counts for more. For pairs that were chosen one by
 * one: by tasks, a pair's weight would depend on whether the others of its task were chosen.
 */
export function pairDifference(
  pairs: Clusters,
  possible: Interval,
  stream: (purpose: string) => Rng,
): TaskDifference | null {
  if (pairs.length === 0) return null;
  const sums = pairs.map((values) => values.reduce((sum, x) => sum + x, 0));
  return {
    mean: mean(pairs.flat()),
    interval: taskInterval(pairs, possible, stream('paired bootstrap')),
    p: signFlip(sums, stream('sign flip')),
  };
}

function areAlike(clusters: Clusters): boolean {
  return new Set(clusters.map(mean)).size < 2;
}
