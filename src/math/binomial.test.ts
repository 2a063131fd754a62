import { expect, test } from 'vitest';
import { binomialUpTo } from './binomial.ts';
import { deriveRng } from './rng.ts';

const DRAWS = 20_000;
function drawn(n: number, p: number): readonly number[] {
  const binomial = binomialUpTo(n);
  const rng = deriveRng(1, 'binomial test', n, p);
  return Array.from({ length: DRAWS }, () => binomial(n, p, rng));
}
const shareOf = (draws: readonly number[], of: (k: number) => boolean) =>
  draws.filter(of).length / DRAWS;
/** Within four standard errors of a share that is seen in so many draws. */
const near = (share: number, chance: number) =>
  expect(Math.abs(share - chance)).toBeLessThan(4 * Math.sqrt((chance * (1 - chance)) / DRAWS));

test('each number of successes comes as often as its chance says', () => {
  // SciPy: binom.pmf(k, 5, 0.3)
  const draws = drawn(5, 0.3);
  const chances = [0.16807, 0.36015, 0.3087, 0.1323, 0.02835, 0.00243];
  chances.forEach((chance, k) => {
    near(
      shareOf(draws, (x) => x === k),
      chance,
    );
  });
});

test('of many trials too, in the middle and at the edge', () => {
  // SciPy: binom.cdf(470, 1000, 0.5), and of 0, 1 and 2 in 2,000 of chance 0.001
  const middle = drawn(1000, 0.5);
  near(
    shareOf(middle, (x) => x <= 470),
    0.031011597549181716,
  );
  near(
    shareOf(middle, (x) => x >= 530),
    0.031011597549181716,
  );
  const edge = drawn(2000, 0.001);
  [0.13519993, 0.40587045, 0.67667644].forEach((chance, k) => {
    near(
      shareOf(edge, (x) => x <= k),
      chance,
    );
  });
});

test('what is certain needs no number', () => {
  const rng = deriveRng(1, 'certain');
  const binomial = binomialUpTo(9);
  expect([binomial(9, 0, rng), binomial(9, 1, rng), binomial(0, 0.5, rng)]).toEqual([0, 9, 0]);
  expect(rng.next()).toBe(deriveRng(1, 'certain').next());
});
