import { describe, expect, test } from 'vitest';
import { drawnMean, flippedSum } from './resampling.ts';
import { deriveRng, type Rng } from './rng.ts';
import { mean } from './statistics.ts';

const DRAWS = 20_000;
/** -1, 0, 1/2 and 1, as success over two seeds differs: few values in many tasks. */
const few = [-1, 0, 0.5, 1].flatMap((value, i) =>
  Array(([60, 100, 20, 20] as const)[i]).fill(value),
);
/** As many numbers of the same mean and spread, all of them different. */
const many = few.map((value, i) => value + (i % 2 === 0 ? 1e-9 : -1e-9) * (i + 1));

function sums(sum: (rng: Rng) => number) {
  const rng = deriveRng(1, 'resampling test');
  const all = Array.from({ length: DRAWS }, () => sum(rng));
  const centre = mean(all);
  return { centre, spread: mean(all.map((x) => (x - centre) ** 2)) };
}

describe.each([
  ['few', few],
  ['many', many],
])('of %s values', (_, values) => {
  test('a drawn mean, times n, has the sum of the values and n times their spread', () => {
    // By hand: Σ = -60 + 10 + 20 = -30; Σ x² = 60 + 5 + 20 = 85; 85 - 30² / 200 = 80.5.
    const drawn = drawnMean(values.map((value) => [value]));
    const { centre, spread } = sums((rng) => 200 * drawn(rng));
    expect(Math.abs(centre + 30)).toBeLessThan(4 * Math.sqrt(80.5 / DRAWS));
    expect(Math.abs(spread - 80.5)).toBeLessThan(4 * 80.5 * Math.sqrt(2 / DRAWS));
  });

  test('a flipped sum lies around 0, with the sum of squares as its spread', () => {
    const { centre, spread } = sums(flippedSum(values));
    expect(Math.abs(centre)).toBeLessThan(4 * Math.sqrt(85 / DRAWS));
    expect(Math.abs(spread - 85)).toBeLessThan(4 * 85 * Math.sqrt(2 / DRAWS));
  });
});

test('few values in many tasks need few random numbers', () => {
  let numbers = 0;
  const rng = deriveRng(1, 'counted');
  const next = () => {
    numbers++;
    return rng.next();
  };
  const counting: Rng = { ...rng, next, int: (n) => Math.floor(next() * n) };
  drawnMean(few.map((value) => [value]))(counting);
  flippedSum(few)(counting);
  // Three counts of four values; two of three magnitudes, 0 among them: not 400 numbers.
  expect(numbers).toBeLessThanOrEqual(6);
});
