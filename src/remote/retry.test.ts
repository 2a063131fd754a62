/** Retry-After in all its forms, at a fixed moment. */

import { expect, test } from 'vitest';
import { isPassing, pause, retryDelay } from './retry.ts';

const now = Date.parse('2026-10-01T00:00:00.400Z');

test.each([
  ['0', 0],
  ['3', 3000],
  ['Thu, 01 Oct 2026 00:00:05 GMT', 4600],
  ['Wed, 30 Sep 2026 23:59:00 GMT', 0],
  ['Thursday, 01-Oct-26 00:00:05 GMT', 4600],
  ['Thu Oct  1 00:00:05 2026', 4600],
  ['soon', 1000],
  ['may 3', 1000],
  [null, 1000],
])('Retry-After %j is waited for %i ms', (header, ms) => {
  expect(retryDelay(header, now, 1)).toBe(ms);
});

test('without a usable header the wait doubles with every try', () => {
  expect([1, 2, 3].map((tries) => retryDelay(null, now, tries))).toEqual([1000, 2000, 4000]);
});

test('a refused key is not passing, a full server is', () => {
  expect([401, 403, 404, 400, 501].map(isPassing)).toEqual([false, false, false, false, false]);
  expect([429, 500, 502, 503, 504].map(isPassing)).toEqual([true, true, true, true, true]);
});

test('a stop ends the wait at once', async () => {
  const controller = new AbortController();
  const waiting = pause(60_000, controller.signal);
  controller.abort();
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
});
