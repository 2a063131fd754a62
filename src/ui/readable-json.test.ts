import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readableJson } from './readable-json.ts';

test('what is written reads back as the same value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(readableJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test('a list of numbers stays on one line, a list of records does not', () => {
  expect(readableJson({ ids: [1, 2, 3], turns: [{ t: 1 }] })).toBe(
    '{\n  "ids": [1, 2, 3],\n  "turns": [\n    {\n      "t": 1\n    }\n  ]\n}',
  );
});
