import { expect, test } from 'vitest';
import { deriveRng } from './rng.ts';

const draw = (rng: { next(): number }, n: number) => Array.from({ length: n }, () => rng.next());

test('a stream depends on its seed and purpose and on nothing that runs beside it', () => {
  const alone = draw(deriveRng(11, 'sample', 3), 20);
  const a = deriveRng(11, 'sample', 3);
  const b = deriveRng(12, 'sample', 3);
  const interleaved = Array.from({ length: 20 }, () => [a.next(), b.next()][0]);
  expect(interleaved).toEqual(alone);
  expect(draw(deriveRng(12, 'sample', 3), 20)).not.toEqual(alone);
  expect(draw(deriveRng(11, 'sample', 4), 20)).not.toEqual(alone);
});

test('seeds up to 2^53 - 1 are accepted, everything else is refused', () => {
  expect(draw(deriveRng(Number.MAX_SAFE_INTEGER), 1)[0]).toBeLessThan(1);
  for (const bad of [-1, 0.5, Number.NaN, 2 ** 53])
    expect(() => deriveRng(bad)).toThrow(RangeError);
});

test('numbers are uniform in [0, 1): mean and variance of 20,000 draws', () => {
  const xs = draw(deriveRng(1, 'uniform'), 20_000);
  const mean = xs.reduce((a, b) => a + b) / xs.length;
  const variance = xs.reduce((a, x) => a + (x - mean) ** 2, 0) / xs.length;
  // Standard errors: 0.002 of the mean, 0.0005 of the variance; four of each.
  expect(Math.abs(mean - 1 / 2)).toBeLessThan(0.008);
  expect(Math.abs(variance - 1 / 12)).toBeLessThan(0.002);
});

test('a shuffle is a permutation', () => {
  const items = Array.from({ length: 50 }, (_, i) => i);
  const shuffled = deriveRng(3).shuffle(items);
  expect([...shuffled].sort((a, b) => a - b)).toEqual(items);
  expect(shuffled).not.toEqual(items);
});
