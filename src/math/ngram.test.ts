import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countNgrams, coverage, tokenWeights } from './ngram.ts';

const weigh = (history: number[][], text: number[], n: number) => {
  const { counts, starts } = coverage(text, n, countNgrams(history, n));
  return { counts, starts, weights: tokenWeights(counts, 0.05) };
};

test('a token seen twice weighs a third, a new one fully', () => {
  const { counts, starts, weights } = weigh([[5, 6, 7, 8, 5, 6, 7]], [5, 6, 7, 9], 3);
  expect(counts).toEqual([2, 2, 2, 0]);
  expect(starts).toEqual([0, 0, 0, -1]);
  expect(weights).toEqual([1 / 3, 1 / 3, 1 / 3, 1]);
});

test('n-grams do not cross the border between two earlier texts', () => {
  expect(weigh([[1, 2], [3]], [1, 2, 3], 3).counts).toEqual([0, 0, 0]);
});

test('counts are summed over texts', () => {
  expect(
    weigh(
      [
        [1, 2, 3],
        [0, 1, 2, 3],
      ],
      [1, 2, 3],
      3,
    ).counts,
  ).toEqual([2, 2, 2]);
});

test('a text shorter than n is one n-gram of its own length', () => {
  expect(
    weigh(
      [
        [4, 5],
        [4, 5],
      ],
      [4, 5],
      3,
    ).counts,
  ).toEqual([2, 2]);
  expect(weigh([[4, 5, 6]], [4, 5], 3).counts).toEqual([0, 0]);
  expect(weigh([[4]], [], 3).counts).toEqual([]);
});

test('the most frequent covering n-gram decides, the earliest on a tie', () => {
  const { counts, starts } = weigh([[1, 2, 2, 3, 2, 3]], [1, 2, 3], 2);
  expect(counts).toEqual([1, 2, 2]);
  expect(starts).toEqual([0, 1, 1]);
});

test('the weight never falls below its floor', () => {
  expect(tokenWeights([0, 1, 99], 0.05)).toEqual([1, 0.5, 0.05]);
});

test('with n = 1 the count of a token is its number of earlier occurrences', () => {
  const ids = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 12 });
  fc.assert(
    fc.property(fc.array(ids, { maxLength: 4 }), ids, (history, text) => {
      const expected = text.map((id) => history.flat().filter((other) => other === id).length);
      expect(weigh(history, text, 1).counts).toEqual(expected);
    }),
  );
});
