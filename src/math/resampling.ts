/**
 * Sums of numbers drawn anew: the inner loop of bootstrap and sign-flip test. Where few values differ, as with success
 * over a few seeds, it is drawn how often each comes and not each number by itself: the same distribution, sooner.
 */

import { binomialUpTo } from './binomial.ts';
import type { Rng } from './rng.ts';

/** Drawing a count takes about as long as drawing so many numbers by themselves. */
const DRAWS_A_COUNT = 8;

interface Counted {
  readonly value: number;
  readonly count: number;
}

/** The sum of as many numbers as there are `values`, each drawn from all of them. */
export function drawnSum(values: readonly number[]): (rng: Rng) => number {
  const n = values.length;
  const groups = counted(values);
  if (groups.length * DRAWS_A_COUNT > n) {
    return (rng) => {
      let sum = 0;
      for (let i = 0; i < n; i++) sum += values[rng.int(n)] ?? Number.NaN;
      return sum;
    };
  }
  const binomial = binomialUpTo(n);
  // A multinomial as binomials: of what is left to draw, the share that this value has of what is left.
  return (rng) => {
    let sum = 0;
    let left = n;
    let rest = n;
    for (const { value, count } of groups) {
      const times = binomial(left, count / rest, rng);
      sum += times * value;
      left -= times;
      rest -= count;
    }
    return sum;
  };
}

/** The sum of `values`, each with a sign that is drawn. */
export function flippedSum(values: readonly number[]): (rng: Rng) => number {
  const groups = counted(values.map(Math.abs));
  if (groups.length * DRAWS_A_COUNT > values.length) {
    return (rng) => {
      let sum = 0;
      for (const value of values) sum += rng.next() < 0.5 ? -value : value;
      return sum;
    };
  }
  const binomial = binomialUpTo(values.length);
  return (rng) =>
    groups.reduce(
      (sum, { value, count }) => sum + value * (2 * binomial(count, 0.5, rng) - count),
      0,
    );
}

function counted(values: readonly number[]): readonly Counted[] {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].map(([value, count]) => ({ value, count }));
}
