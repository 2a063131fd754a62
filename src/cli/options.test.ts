import { expect, test } from 'vitest';
import { day } from './options.ts';

test.each(['2026-11-29', '2028-02-29', '0999-01-01'])('%s is a day', (text) => {
  expect(day(text)).toBe(text);
});

test.each([
  ...['banana', '', '2026-13-01', '2026-00-10', '2026-02-30', '2027-02-29', '26-1-1'],
  ...['2026-11-30T00:00', '2026-11-30 ', '+002026-11-30', '30.11.2026'],
])('%j is none', (text) => {
  expect(() => day(text)).toThrow(`--date ${text} was given; expected a day such as 2026-11-29.`);
});
