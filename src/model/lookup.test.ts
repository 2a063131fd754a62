import { describe, expect, it } from 'vitest';
import { guessNext } from './lookup.ts';

const abc = [11, 12, 13, 14, 15, 16];

describe('a guess', () => {
  it('is what followed the longest earlier match', () => {
    const longer = [...[9, ...abc, 1, 5, 4], ...[8, ...abc, 2, 6, 3], ...[9, ...abc]];
    expect(guessNext(longer, 3)).toEqual([1, 5, 4]);
  });

  it('is that of the latest of equally long matches', () => {
    expect(guessNext([...abc, 1, 5, 5, ...abc, 2, 6, 3, ...abc], 3)).toEqual([2, 6, 3]);
  });

  it('ends where the text does', () => {
    expect(guessNext([1, 2, 1, 2, 1, 2, 1, 2], 3)).toEqual([1, 2]);
    expect(guessNext([4, 4, 4, 4, 4, 4, 4], 3)).toEqual([4]);
  });

  it('is none where fewer than six ids repeat, and where none is wanted', () => {
    const five = abc.slice(1);
    for (const ids of [[], [1], [1, 1], abc, [1, ...five, 3, 2, ...five]]) {
      expect(guessNext(ids, 3)).toEqual([]);
    }
    expect(guessNext([...abc, 3, ...abc], 0)).toEqual([]);
  });
});
