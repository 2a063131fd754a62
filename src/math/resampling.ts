/**
 * Sums of numbers drawn anew: the inner loop of bootstrap and sign-flip test. Where few values differ, as with success
 * over a few seeds, it is drawn how often each comes and not each number by itself: the same distribution, sooner.
 */

import { binomialUpTo } from './binomial.ts';
import type { Rng } from './rng.ts';

/** Drawing a count takes about as long as drawing so many numbers by themselves. */
const DRAWS_A_COUNT = 8;

/**
 * The mean over all values of as many tasks as there are, each drawn from all of them with its values. Equal for
 * `clusters` in any order.
 */
export function drawnMean(clusters: readonly (readonly number[])[]): (rng: Rng) => number {
  const tasks = clusters.map((values) => ({ sum: total(values), n: values.length }));
  const G = tasks.length;
  const groups = counted(tasks, (a, b) => a.sum - b.sum || a.n - b.n);
  if (groups.length * DRAWS_A_COUNT > G) {
    const sorted = groups.flatMap(({ value, count }) => Array.from({ length: count }, () => value));
    return (rng) => {
      let sum = 0;
      let n = 0;
      for (let i = 0; i < G; i++) {
        const task = sorted[rng.int(G)];
        sum += task?.sum ?? Number.NaN;
        n += task?.n ?? Number.NaN;
      }
      return sum / n;
    };
  }
  const binomial = binomialUpTo(G);
  // A multinomial as binomials: of what is left to draw, the share that these tasks have of what is left.
  return (rng) => {
    let sum = 0;
    let n = 0;
    let left = G;
    let rest = G;
    for (const { value, count } of groups) {
      const times = binomial(left, count / rest, rng);
      sum += times * value.sum;
      n += times * value.n;
      left -= times;
      rest -= count;
    }
    return sum / n;
  };
}

/** The sum of `values`, each with a sign that is drawn. Equal for them in any order. */
export function flippedSum(values: readonly number[]): (rng: Rng) => number {
  const groups = counted(values.map(Math.abs), (a, b) => a - b);
  if (groups.length * DRAWS_A_COUNT > values.length) {
    return (rng) => {
      let sum = 0;
      for (const { value, count } of groups) {
        for (let i = 0; i < count; i++) sum += rng.next() < 0.5 ? -value : value;
      }
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

/** Each value once, in the order that `compare` gives, and how often it comes. */
function counted<T>(
  values: readonly T[],
  compare: (a: T, b: T) => number,
): readonly { readonly value: T; readonly count: number }[] {
  const groups: { value: T; count: number }[] = [];
  for (const value of values.toSorted(compare)) {
    const last = groups.at(-1);
    if (last && compare(last.value, value) === 0) last.count++;
    else groups.push({ value, count: 1 });
  }
  return groups;
}

function total(values: readonly number[]): number {
  return values.reduce((sum, x) => sum + x, 0);
}
