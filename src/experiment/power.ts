/** How small a difference of success an experiment can tell, before it is run. */

import { baselineOf } from './comparable.ts';
import type { Plan } from './plan.ts';

/** Share of pairs in which exactly one arm solves the task, as assumed before there are any. */
const DISCORDANT = 0.25;

/** The gain that the assumed variance belongs to. */
const GAIN = 0.05;

/** Correlation of the differences of one task's repeats, as assumed. */
const REPEATS = 0.3;

const LEVEL = 0.05;
const POWER = 0.8;

/** Tasks and seeds that both arms of a comparison have, and how many comparisons are made. */
export interface Design {
  readonly tasks: number;
  readonly seeds: number;
  readonly comparisons: number;
  /** Share of pairs that one arm alone solves, where pairs were seen; {@link DISCORDANT} before. */
  readonly discordant?: number;
}

/** What a plan can tell of differences to its frozen arms; null where none is compared to one. */
export function designOf({ experiment, arms }: Pick<Plan, 'experiment' | 'arms'>): Design | null {
  const run = arms.filter((arm) => arm.notApplicable === null);
  const comparisons = run.filter((arm) => baselineOf(arm, run) !== null).length;
  const { tasks, seeds } = experiment;
  return comparisons === 0 ? null : { tasks: tasks.length, seeds: seeds.length, comparisons };
}

/**
 * Standard error of a paired difference of success rates: over n pairs its variance is (d − g²) / n
 * with d the discordant share and g the gain, and s repeats of a task multiply it by 1 + (s − 1) ρ.
 * Example: 134 tasks × 3 seeds -> 0.0314.
 */
export function differenceError({
  tasks,
  seeds,
  discordant = DISCORDANT,
}: Omit<Design, 'comparisons'>): number {
  const inflation = 1 + (seeds - 1) * REPEATS;
  return Math.sqrt(((discordant - GAIN ** 2) * inflation) / (tasks * seeds));
}

/**
 * The smallest difference that a two-sided test at 5 %, divided by the number of comparisons
 * (Bonferroni; Holm is never worse), tells from 0 with 80 % power: (z₁₋α/₂ + z₀.₈) standard errors. null where that is
 * more than two success rates can differ.
 * Example: 134 tasks × 3 seeds, 5 comparisons -> 0.107; 1 task × 1 seed -> null.
 */
export function smallestTold(design: Design): number | null {
  const alpha = LEVEL / Math.max(1, design.comparisons);
  const told = (normalQuantile(1 - alpha / 2) + normalQuantile(POWER)) * differenceError(design);
  return told > 1 ? null : told;
}

/** The same in points of success. */
export function pointsTold(design: Design): number | null {
  const told = smallestTold(design);
  return told === null ? null : 100 * told;
}

/** The two numbers that a person should see before a plan is run, as sentences. */
export function powerInWords(design: Design): string {
  const { comparisons, discordant } = design;
  const share = `${(100 * (discordant ?? DISCORDANT)).toFixed(0)} % of the pairs`;
  const assumed = discordant
    ? `so far one arm alone solves ${share}.`
    : `this assumes that one arm alone solves ${share}.`;
  const [alone, among] = [1, comparisons].map((many) =>
    pointsTold({ ...design, comparisons: many })?.toFixed(1),
  );
  if (alone === undefined) {
    return `No difference to frozen, however large, is told from 0 with 80 % power; ${assumed}`;
  }
  const least = among === undefined ? 'and none' : `${among} points`;
  const all = comparisons > 1 ? `, ${least} if all ${comparisons} are compared` : '';
  return `A difference to frozen is told from 0 with 80 % power if it is ${alone} points or more${all}; ${assumed}`;
}

/** z with Φ(z) = p for p in (0.5, 1), by bisection. */
function normalQuantile(p: number): number {
  let [low, high] = [0, 10];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (normalCdf(middle) < p) low = middle;
    else high = middle;
  }
  return low;
}

/** Φ(z) for z ≥ 0, by Simpson's rule over the density. */
function normalCdf(z: number): number {
  const parts = 400;
  const density = (i: number) => Math.exp(-(((i * z) / parts) ** 2) / 2);
  let sum = density(0) + density(parts);
  for (let i = 1; i < parts; i++) sum += (i % 2 === 1 ? 4 : 2) * density(i);
  return 0.5 + (sum * z) / parts / 3 / Math.sqrt(2 * Math.PI);
}
