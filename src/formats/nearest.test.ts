import fc from 'fast-check';
import { expect, test } from 'vitest';
import { editDistance, nearestName } from './nearest.ts';

test.each([
  ['kitten', 'sitting', 3],
  ['lora_rnak', 'lora_rank', 1],
  ['', 'abc', 3],
])('from %s to %s takes %i edits', (a, b, distance) => {
  expect(editDistance(a, b)).toBe(distance);
});

test('the distance is symmetric, and 0 only for equal names', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (a, b) => {
      expect(editDistance(a, b)).toBe(editDistance(b, a));
      expect(editDistance(a, b) === 0).toBe(a === b);
    }),
  );
});

test('the nearest of no names is none', () => {
  expect(nearestName('seed', [])).toBeNull();
});
