import { expect, test } from 'vitest';
import { fixed, signed } from './fixed.ts';

test.each([
  [-0.04, 1, '0.0', '0.0'],
  [0.04, 1, '0.0', '0.0'],
  [-0, 0, '0', '0'],
  [-0.06, 1, '-0.1', '-0.1'],
  [0.06, 1, '0.1', '+0.1'],
  [-12.345, 2, '-12.35', '-12.35'],
  [3, 0, '3', '+3'],
])('%d to %d digits is %s, signed %s', (x, digits, plain, withSign) => {
  expect(fixed(x, digits)).toBe(plain);
  expect(signed(x, digits)).toBe(withSign);
});
