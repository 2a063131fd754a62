import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatIndices, parseIndices } from './indices.ts';

test.each([
  ['0-9', [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
  ['3', [3]],
  ['0-2,7, 9', [0, 1, 2, 7, 9]],
  ['4-1', null],
  ['1-', null],
  ['', null],
  ['0-100000', null],
  ['9007199254740990-9007199254740991', [9007199254740990, 9007199254740991]],
  ['9007199254740992', null],
  ['9007199254740991-9007199254740993', null],
  [`1${'0'.repeat(400)}`, null],
])('%j is %j', (text, indices) => {
  expect(parseIndices(text)).toEqual(indices);
});

test('what is written is read as the same indices, in their order', () => {
  const lists = fc.uniqueArray(fc.nat({ max: 300 }), { minLength: 1 });
  fc.assert(
    fc.property(lists, (indices) => {
      expect(parseIndices(formatIndices(indices))).toEqual(indices);
    }),
  );
  expect(formatIndices([0, 1, 2, 7, 9, 8])).toBe('0-2,7,9,8');
});
