import { expect, test } from 'vitest';
import { readLink, writeLink } from './link.ts';

test('a link names a run, a step and a token', () => {
  expect(readLink('#run=20261129-184211-9f3c&step=12&token=5')).toEqual({
    run: '20261129-184211-9f3c',
    step: 12,
    token: 5,
  });
});

test('what is no number counts as not named', () => {
  expect(readLink('#step=twelve&token=-1')).toEqual({ run: null, step: null, token: null });
  expect(readLink('')).toEqual({ run: null, step: null, token: null });
});

test('writing keeps what others put into the hash, and what is written is read again', () => {
  const link = { run: 'a b&c', step: 3, token: null };
  const hash = writeLink('#theme=dark&step=9&token=1', link);
  expect(hash).toContain('theme=dark');
  expect(readLink(hash)).toEqual(link);
  expect(writeLink('#step=9', { run: null, step: null, token: null })).toBe('');
});
