import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  bootstrapMean,
  pairDifference,
  singles,
  standardError,
  taskDifference,
  taskInterval,
  tInterval,
} from './clusters.ts';
import { deriveRng } from './rng.ts';
import { mean } from './statistics.ts';

/** What statsmodels and NumPy gave: scripts/make-statistics-fixtures.py. */
const expected: {
  standard_errors: { values: number[]; se: number }[];
  bootstrap: { values: number[]; interval: number[] };
  cluster_errors: { tasks: number[][]; mean: number; se: number }[];
  cluster_bootstrap: { tasks: number[][]; interval: number[] };
} = JSON.parse(
  readFileSync(new URL('../../e2e/fixtures/statistics.json', import.meta.url), 'utf8'),
);
const stream = (seed: number) => deriveRng(seed, 'statistics test');
const rate = { low: 0, high: 1 };
const none = { low: Number.NaN, high: Number.NaN };

describe('equal to statsmodels and NumPy', () => {
  test.each(expected.standard_errors)('the standard error of a mean', ({ values, se }) => {
    expect(standardError(singles(values))).toBeCloseTo(se, 12);
  });

  // The second is a task solved in 10 of 10 tries beside 12 of one try each, one of them solved: 0.2503.
  test.each(expected.cluster_errors)('the standard error of tasks that repeat', ({ tasks, se }) => {
    expect(standardError(tasks)).toBeCloseTo(se, 12);
  });

  test('a bootstrap interval, within the step between two possible means', () => {
    const { values, interval } = expected.bootstrap;
    const { low, high } = bootstrapMean(singles(values), stream(1)) ?? none;
    expect(Math.abs(low - (interval[0] ?? Number.NaN))).toBeLessThan(1 / 120 + 1e-9);
    expect(Math.abs(high - (interval[1] ?? Number.NaN))).toBeLessThan(1 / 120 + 1e-9);
  });

  test('a bootstrap interval of tasks that repeat unlike often', () => {
    const { tasks, interval } = expected.cluster_bootstrap;
    const { low, high } = bootstrapMean(tasks, stream(1)) ?? none;
    // Of 10,000 drawings the 2.5 % point has an error of √(0.025 · 0.975 / 10,000) over its density, 1.4 at a spread of
    // 0.042: 0.0011. Four of those.
    expect(Math.abs(low - (interval[0] ?? Number.NaN))).toBeLessThan(0.0045);
    expect(Math.abs(high - (interval[1] ?? Number.NaN))).toBeLessThan(0.0045);
  });
});

describe('clusters (B69)', () => {
  const tasks = [1, 1, 0, 0].map((right) => Array<number>(5).fill(right)); // 5, 5, 0, 0 of 5 right

  test('the standard error is that of tasks, not of episodes', () => {
    expect(mean(tasks.flat())).toBe(0.5);
    expect(standardError(tasks)).toBeCloseTo(0.288675, 6);
    expect(standardError(singles(tasks.flat()))).toBeCloseTo(0.114708, 6); // far too narrow
  });

  test('the bootstrap draws tasks, and the same seed gives the same interval', () => {
    expect(bootstrapMean(tasks, stream(7))).toEqual(bootstrapMean(tasks, stream(7)));
    // Means are k / 4 with binomial chances; 0 and 1 have 1/16 each, above 2.5 %.
    expect(bootstrapMean(tasks, stream(7))).toEqual({ low: 0, high: 1 });
  });

  test('the order of tasks changes nothing', () => {
    const { tasks: unlike } = expected.cluster_bootstrap;
    const reversed = unlike.toReversed();
    expect(bootstrapMean(reversed, stream(1))).toEqual(bootstrapMean(unlike, stream(1)));
    const many = [...unlike, ...unlike, ...unlike];
    expect(bootstrapMean(many.toReversed(), stream(1))).toEqual(bootstrapMean(many, stream(1)));
  });

  test('one task, and tasks that are all alike, have no spread', () => {
    for (const alike of [
      [[1]],
      [[0], [0, 0]],
      [
        [1, 0],
        [0, 1],
      ],
    ]) {
      expect(standardError(alike)).toBeNull();
      expect(bootstrapMean(alike, stream(1))).toBeNull();
    }
  });
});

describe('the rule of three', () => {
  const of = (value: number, n: number, possible = rate) =>
    taskInterval(singles(Array<number>(n).fill(value)), possible, stream(1));

  test('lets 3 of n tasks lie at an end of what is possible', () => {
    expect(of(1, 60)).toEqual({ low: 0.95, high: 1 });
    expect(of(0, 60)).toEqual({ low: 0, high: 0.05 });
    expect(of(0.5, 60)).toEqual({ low: 0.475, high: 0.525 });
    expect(of(1, 60, { low: -1, high: 1 })).toEqual({ low: 0.9, high: 1 });
  });

  test('is all that is possible of few tasks, and nothing where that has no end', () => {
    expect(of(1, 2)).toEqual(rate);
    expect(of(4, 60, { low: 0, high: Infinity })).toBeNull();
    expect(of(1, 0)).toBeNull();
  });
});

test('a difference is over tasks, each of which counts once', () => {
  const stands = (purpose: string) => deriveRng(0, purpose);
  const possible = { low: -1, high: 1 };
  // 1 and -1; of two signs, two of four patterns sum to 0 and all are at least as far.
  expect(taskDifference([[1, 1, 1], [-1]], possible, stands)).toMatchObject({ mean: 0, p: 1 });
  expect(taskDifference([[0], [0]], possible, stands)).toEqual({
    mean: 0,
    interval: { low: -1, high: 1 },
    p: 1,
  });
  expect(taskDifference([], possible, stands)).toBeNull();
});

test('a difference over pairs counts each of them once, and flips whole tasks', () => {
  const possible = { low: -1, high: 1 };
  const stands = (purpose: string) => deriveRng(1, purpose);
  // By tasks 1/3 and p 1. Sums 3, 3, -1 are 5: of the eight sign patterns 7, 5 and their opposites are as far from 0.
  const pairs = [[1, 1, 1], [1, 1, 1], [-1]];
  expect(taskDifference(pairs, possible, stands)).toMatchObject({ mean: 1 / 3, p: 1 });
  expect(pairDifference(pairs, possible, stands)).toMatchObject({ mean: 5 / 7, p: 0.5 });
  expect(pairDifference([], possible, stands)).toBeNull();
});

describe("Student's interval", () => {
  // SciPy 1.17: mean ± t.ppf(0.975, n - 1) · sem
  test('of three values is wide: 4.3 standard errors, not 1.96', () => {
    const { low, high } = tInterval(singles([10, 12, 15.5])) ?? { low: 0, high: 0 };
    expect(low).toBeCloseTo(5.58445, 5);
    expect(high).toBeCloseTo(19.41555, 5);
  });

  test('is cut to what is possible, and says nothing of one value or of equal ones', () => {
    expect(tInterval(singles([0.2, 0.5, 0.9]), rate)).toEqual(rate);
    const none = [[], [3], [2, 2, 2]].map((values) => tInterval(singles(values)));
    expect(none).toEqual([null, null, null]);
  });

  // Of [0, 1, 0, 1, …] in n = 2k values: mean 1/2, standard error 1 / (2 √(n - 1)).
  const quantile975 = (n: number) => {
    const { high } = tInterval(singles(Array.from({ length: n }, (_, i) => i % 2))) ?? {
      high: Number.NaN,
    };
    return (high - 0.5) * 2 * Math.sqrt(n - 1);
  };

  test('with one and two degrees of freedom has the closed forms of the quantile', () => {
    expect(quantile975(2)).toBeCloseTo(Math.tan(0.475 * Math.PI), 9); // Cauchy
    const { low, high } = tInterval(singles([-1, 0, 1])) ?? { low: 0, high: 0 }; // standard error 1/√3
    expect((high - low) * (Math.sqrt(3) / 2)).toBeCloseTo(0.95 * Math.sqrt(2 / 0.0975), 9);
  });

  // mpmath: the root of 1 - betainc(ν/2, 1/2, 0, ν/(ν + t²), regularized) / 2 = 0.975, ν = n - 1.
  test.each([
    [10, 2.262157162798],
    [16, 2.13144954556],
    [30, 2.045229642133],
    [32, 2.039513446396],
    [36, 2.03010792825],
    [102, 1.983731002956],
  ])('of %i values is %f standard errors to each side', (n, expected) => {
    expect(quantile975(n)).toBeCloseTo(expected, n <= 31 ? 9 : 7); // beyond 30 degrees a series
  });
});
