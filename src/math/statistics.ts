/** Statistics of success rates and paired comparisons. Pure; randomness comes in. */

import { flippedSum } from './resampling.ts';
import type { Rng } from './rng.ts';

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** The 97.5 % point of the standard normal. */
const Z95 = 1.959963984540054;

/**
 * Wilson's 95 % score interval of a proportion (Wilson 1927); null without trials.
 * Example: 9 of 10 -> [0.596, 0.982].
 */
export function wilson(successes: number, n: number): Interval | null {
  if (n === 0) return null;
  const p = successes / n;
  const z2 = Z95 * Z95;
  const centre = (p + z2 / (2 * n)) / (1 + z2 / n);
  const half = (Z95 / (1 + z2 / n)) * Math.sqrt((p * (1 - p)) / n + z2 / (4 * n * n));
  return { low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, x) => sum + x, 0) / values.length;
}

/** The 97.5 % points of Student's t with 1, 2, … 30 degrees of freedom: roots of its CDF by mpmath, at 30 digits. */
const T95 = [
  ...[12.7062047362, 4.30265272975, 3.18244630528, 2.7764451052, 2.57058183564],
  ...[2.44691185114, 2.36462425159, 2.3060041352, 2.2621571628, 2.22813885199],
  ...[2.20098516009, 2.17881282967, 2.16036865646, 2.14478668792, 2.13144954556],
  ...[2.11990529922, 2.10981557783, 2.10092204024, 2.09302405441, 2.08596344727],
  ...[2.07961384473, 2.0738730679, 2.06865761042, 2.06389856163, 2.05953855275],
  ...[2.05552943864, 2.05183051648, 2.0484071418, 2.04522964213, 2.0422724563],
] as const;

/**
 * The 97.5 % point of Student's t. Beyond the table of 30 `degrees` of freedom by Cornish and Fisher's expansion
 * (Abramowitz and Stegun 26.7.5), right to 3e-8 there.
 * Example: 31 -> 2.0395134.
 */
export function t95(degrees: number): number {
  const z = Z95;
  const beyond =
    z +
    (z ** 3 + z) / (4 * degrees) +
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2) +
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * degrees ** 3) +
    (79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) / (92160 * degrees ** 4);
  return T95[degrees - 1] ?? beyond;
}

/** The q-quantile with linear interpolation, as NumPy's default; null of nothing. */
export function quantile(values: readonly number[], q: number): number | null {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  const at = q * (sorted.length - 1);
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}

/** Up to this many tasks every sign pattern is tried; beyond, random ones are. */
const EXACT_TASKS = 14;

/** Sums that differ by less than this share of Σ |d| are equal: floating point leaves so much between them. */
const EQUAL_SUMS = 1e-9;

/**
 * Two-sided sign-flip test of "the mean difference is 0": the share of sign patterns whose mean is at
 * least as far from 0 as the one seen. Exact for few tasks, else by `draws` random patterns with the
 * one seen counted in (Phipson and Smyth 2010). Zeros flip to themselves and are left out; where no task
 * differs every pattern is the one seen: 1.
 */
export function signFlip(differences: readonly number[], rng: Rng, draws = 20_000): number {
  const d = differences.filter((x) => x !== 0);
  const size = d.reduce((sum, x) => sum + Math.abs(x), 0);
  const seen = Math.abs(d.reduce((sum, x) => sum + x, 0)) - EQUAL_SUMS * size;
  let extreme = 0;
  if (d.length <= EXACT_TASKS) {
    const patterns = 2 ** d.length;
    for (let bits = 0; bits < patterns; bits++) {
      const sum = d.reduce((total, x, i) => total + ((bits >> i) & 1 ? -x : x), 0);
      if (Math.abs(sum) >= seen) extreme++;
    }
    return extreme / patterns;
  }
  const sum = flippedSum(d);
  for (let draw = 0; draw < draws; draw++) if (Math.abs(sum(rng)) >= seen) extreme++;
  return (extreme + 1) / (draws + 1);
}

/**
 * Holm's step-down correction for the number of comparisons (Holm 1979): adjusted p-values in the
 * order given. Example: [0.01, 0.04, 0.03] -> [0.03, 0.06, 0.06].
 */
export function holm(pValues: readonly number[]): readonly number[] {
  const order = pValues.map((p, i) => ({ p, i })).sort((a, b) => a.p - b.p);
  const adjusted = new Array<number>(pValues.length).fill(1);
  let least = 0;
  order.forEach(({ p, i }, rank) => {
    least = Math.max(least, Math.min(1, p * (pValues.length - rank)));
    adjusted[i] = least;
  });
  return adjusted;
}

/**
 * The chance that at least one of k tries succeeds, from c successes in n, without bias:
 * 1 - C(n - c, k) / C(n, k) (Chen et al. 2021). null when n < k.
 * Example: n 5, c 2, k 3 -> 0.9.
 */
export function passAtK(n: number, c: number, k: number): number | null {
  if (n < k) return null;
  return 1 - chooseRatio(n - c, n, k);
}

/**
 * The chance that all of k tries succeed: C(c, k) / C(n, k) (Yao et al. 2024). null when n < k.
 * Example: n 5, c 4, k 2 -> 0.6.
 */
export function passHatK(n: number, c: number, k: number): number | null {
  if (n < k) return null;
  return chooseRatio(c, n, k);
}

/** C(a, k) / C(n, k) for a <= n, as a product, so that nothing overflows. */
function chooseRatio(a: number, n: number, k: number): number {
  let ratio = 1;
  for (let i = 0; i < k; i++) ratio *= Math.max(0, a - i) / (n - i);
  return ratio;
}
