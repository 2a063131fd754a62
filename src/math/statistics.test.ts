import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { deriveRng } from './rng.ts';
import {
  bootstrapMean,
  holm,
  mean,
  passAtK,
  passHatK,
  quantile,
  signFlip,
  standardError,
  tInterval,
  wilson,
} from './statistics.ts';

/** What statsmodels, NumPy and math.comb gave: scripts/make-statistics-fixtures.py. */
const expected: {
  wilson: { successes: number; n: number; interval: number[] }[];
  quantiles: { values: number[]; q: number[]; result: number[] }[];
  standard_errors: { values: number[]; se: number }[];
  sign_flips: { differences: number[]; p: number }[];
  large_sign_flip: { differences: number[]; p: number; standard_error: number };
  bootstrap: { values: number[]; interval: number[] };
  holm: { p: number[]; adjusted: number[] }[];
  passes: { n: number; c: number; k: number; at: number | null; hat: number | null }[];
} = JSON.parse(
  readFileSync(new URL('../../e2e/fixtures/statistics.json', import.meta.url), 'utf8'),
);
const stream = (seed: number) => deriveRng(seed, 'statistics test');

describe('equal to statsmodels and NumPy', () => {
  test.each(expected.wilson)('Wilson of $successes in $n', ({ successes, n, interval }) => {
    const { low, high } = wilson(successes, n) ?? { low: Number.NaN, high: Number.NaN };
    expect(low).toBeCloseTo(interval[0] ?? Number.NaN, 12);
    expect(high).toBeCloseTo(interval[1] ?? Number.NaN, 12);
  });

  test.each(expected.quantiles)('quantiles of $values.length values', ({ values, q, result }) => {
    q.forEach((at, i) => {
      expect(quantile(values, at)).toBeCloseTo(result[i] ?? Number.NaN, 12);
    });
  });

  test.each(expected.standard_errors)('the standard error of a mean', ({ values, se }) => {
    expect(standardError(values)).toBeCloseTo(se, 12);
  });

  test.each(expected.sign_flips)('an exact sign-flip test', ({ differences, p }) => {
    expect(signFlip(differences, stream(1))).toBeCloseTo(p, 12);
  });

  test('a sign-flip test of many tasks, within four standard errors of its own sampling', () => {
    const { differences, p, standard_error } = expected.large_sign_flip;
    const found = signFlip(differences, stream(1)) ?? Number.NaN;
    expect(Math.abs(found - p)).toBeLessThan(4 * standard_error);
  });

  test('a bootstrap interval, within the step between two possible means', () => {
    const { values, interval } = expected.bootstrap;
    const { low, high } = bootstrapMean(values, stream(1)) ?? { low: Number.NaN, high: Number.NaN };
    expect(Math.abs(low - (interval[0] ?? Number.NaN))).toBeLessThan(1 / 120 + 1e-9);
    expect(Math.abs(high - (interval[1] ?? Number.NaN))).toBeLessThan(1 / 120 + 1e-9);
  });

  test.each(expected.holm)("Holm's correction of $p", ({ p, adjusted }) => {
    holm(p).forEach((value, i) => {
      expect(value).toBeCloseTo(adjusted[i] ?? Number.NaN, 12);
    });
  });

  test.each(expected.passes)(
    'pass@$k and pass^$k of $c in $n (B65, B67)',
    ({ n, c, k, at, hat }) => {
      const [foundAt, foundHat] = [passAtK(n, c, k), passHatK(n, c, k)];
      if (at === null || hat === null) expect([foundAt, foundHat]).toEqual([null, null]);
      else {
        expect(foundAt).toBeCloseTo(at, 12);
        expect(foundHat).toBeCloseTo(hat, 12);
      }
    },
  );
});

describe('clusters (B69)', () => {
  const tasks = [1, 1, 0, 0]; // 4 tasks × 5 episodes: 5, 5, 0, 0 right

  test('the standard error is that of task means, not of episodes', () => {
    expect(mean(tasks)).toBe(0.5);
    expect(standardError(tasks)).toBeCloseTo(0.288675, 6);
    const episodes = tasks.flatMap((right) => Array(5).fill(right));
    expect(standardError(episodes)).toBeCloseTo(0.114708, 6); // far too narrow
  });

  test('the bootstrap draws tasks, and the same seed gives the same interval', () => {
    expect(bootstrapMean(tasks, stream(7))).toEqual(bootstrapMean(tasks, stream(7)));
    // Means are k / 4 with binomial chances; 0 and 1 have 1/16 each, above 2.5 %.
    expect(bootstrapMean(tasks, stream(7))).toEqual({ low: 0, high: 1 });
  });
});

describe('nothing to say', () => {
  test('no trials, no values, one task, no difference', () => {
    expect(wilson(0, 0)).toBeNull();
    expect(quantile([], 0.5)).toBeNull();
    expect(standardError([1])).toBeNull();
    expect(bootstrapMean([1], stream(1))).toBeNull();
    expect(bootstrapMean([0, 0, 0, 0], stream(1))).toBeNull(); // no width is no certainty
    expect(signFlip([0, 0], stream(1))).toBeNull();
    expect(holm([])).toEqual([]);
  });
});

describe("Student's interval", () => {
  // SciPy 1.17: mean ± t.ppf(0.975, n - 1) · sem
  test('of three values is wide: 4.3 standard errors, not 1.96', () => {
    const { low, high } = tInterval([10, 12, 15.5]) ?? { low: 0, high: 0 };
    expect(low).toBeCloseTo(5.58445, 5);
    expect(high).toBeCloseTo(19.41555, 5);
  });

  test('is cut to what is possible, and says nothing of one value or of equal ones', () => {
    expect(tInterval([0.2, 0.5, 0.9], { low: 0, high: 1 })).toEqual({ low: 0, high: 1 });
    expect([tInterval([]), tInterval([3]), tInterval([2, 2, 2])]).toEqual([null, null, null]);
  });

  // Of [0, 1, 0, 1, …] in n = 2k values: mean 1/2, standard error 1 / (2 √(n - 1)).
  const quantile975 = (n: number) => {
    const { high } = tInterval(Array.from({ length: n }, (_, i) => i % 2)) ?? { high: Number.NaN };
    return (high - 0.5) * 2 * Math.sqrt(n - 1);
  };

  test('with one and two degrees of freedom has the closed forms of the quantile', () => {
    expect(quantile975(2)).toBeCloseTo(Math.tan(0.475 * Math.PI), 9); // Cauchy
    const { low, high } = tInterval([-1, 0, 1]) ?? { low: 0, high: 0 }; // standard error 1/√3
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
