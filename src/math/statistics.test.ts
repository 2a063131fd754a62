import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { deriveRng } from './rng.ts';
import { holm, passAtK, passHatK, quantile, signFlip, wilson } from './statistics.ts';

/** What statsmodels, NumPy and math.comb gave: scripts/make-statistics-fixtures.py. */
const expected: {
  wilson: { successes: number; n: number; interval: number[] }[];
  quantiles: { values: number[]; q: number[]; result: number[] }[];
  sign_flips: { differences: number[]; p: number }[];
  large_sign_flip: { differences: number[]; p: number; standard_error: number };
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

  test.each(expected.sign_flips)('an exact sign-flip test', ({ differences, p }) => {
    expect(signFlip(differences, stream(1))).toBeCloseTo(p, 12);
  });

  test('a sign-flip test of many tasks, within four standard errors of its own sampling', () => {
    const { differences, p, standard_error } = expected.large_sign_flip;
    const found = signFlip(differences, stream(1)) ?? Number.NaN;
    expect(Math.abs(found - p)).toBeLessThan(4 * standard_error);
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

describe('a sign-flip test of sums that floating point leaves beside 0', () => {
  // 25 tasks over three seeds that sum to 0: every pattern is at least as far.
  const zero = Array.from({ length: 5 }, () => [1 / 3, -2 / 3, 1 / 3, 2 / 3, -2 / 3]).flat();

  test.each([
    ['as they come', zero],
    ['reversed', zero.toReversed()],
    ['sorted', zero.toSorted((a, b) => a - b)],
  ])('gives 1, %s', (_, differences) => {
    expect(signFlip(differences, stream(1))).toBe(1);
  });

  test('gives the same in any order', () => {
    const { differences } = expected.large_sign_flip;
    expect(signFlip(differences.toReversed(), stream(1))).toBe(signFlip(differences, stream(1)));
  });
});

describe('nothing to say', () => {
  test('no trials, no values, no difference', () => {
    expect(wilson(0, 0)).toBeNull();
    expect(quantile([], 0.5)).toBeNull();
    expect(signFlip([], stream(1))).toBe(1);
    expect(holm([])).toEqual([]);
  });
});
