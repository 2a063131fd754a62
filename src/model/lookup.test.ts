import { describe, expect, it } from 'vitest';
import { guessNext } from './lookup.ts';

describe('a guess', () => {
  it('is what followed the longest earlier match', () => {
    //                 [7 8 9] 1        [8 9] 2         7 8 9
    expect(guessNext([7, 8, 9, 1, 5, 4, 8, 9, 2, 6, 3, 7, 8, 9], 3)).toEqual([1, 5, 4]);
  });

  it('is that of the latest of equally long matches', () => {
    expect(guessNext([8, 9, 1, 5, 5, 8, 9, 2, 6, 3, 8, 9], 3)).toEqual([2, 6, 3]);
  });

  it('ends where the text does', () => {
    expect(guessNext([1, 2, 1, 2], 3)).toEqual([1, 2]);
    expect(guessNext([4, 4, 4], 3)).toEqual([4]);
  });

  it('is none where fewer than two ids repeat, and where none is wanted', () => {
    for (const ids of [[], [1], [1, 1], [1, 2, 3, 4], [1, 2, 1]]) {
      expect(guessNext(ids, 3)).toEqual([]);
    }
    expect(guessNext([1, 2, 3, 1, 2], 0)).toEqual([]);
  });
});
