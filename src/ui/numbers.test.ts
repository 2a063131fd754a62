/** How numbers are written. */

import { expect, test } from 'vitest';
import {
  bytesText,
  countText,
  durationText,
  minuteText,
  placeText,
  plural,
  valueText,
  whenText,
  wholeText,
} from './numbers.ts';

test('bytes have decimal units and one decimal below 100', () => {
  expect([0, 999, 1000, 98_362_432, 150e6, 2.5e9].map(bytesText)).toEqual([
    '0 B',
    '999 B',
    '1.0 kB',
    '98.4 MB',
    '150 MB',
    '2.5 GB',
  ]);
});

test('whole numbers are written in full, in groups of three digits', () => {
  expect([0, 999, 1000, 4096, 2408640, -12345].map(wholeText)).toEqual([
    '0',
    '999',
    '1,000',
    '4,096',
    '2,408,640',
    '-12,345',
  ]);
});

test('durations use the two largest units', () => {
  expect([4, 60, 125, 3840, Number.POSITIVE_INFINITY].map(durationText)).toEqual([
    '4 s',
    '1 min',
    '2 min 5 s',
    '1 h 4 min',
    '',
  ]);
});

test('counts and steps beyond a thousand are written whole', () => {
  expect([1234, 1235, -54_321, 123_456, 1234.5, 2e6].map(valueText)).toEqual([
    '1234',
    '1235',
    '−54321',
    '123456',
    '1230',
    '2.0e+6',
  ]);
  expect([1234, 1 / 3, 5012.2504].map(placeText)).toEqual(['1234', '0.333', '5012.25']);
});

test('values have three significant digits, a true minus, and a dash where there is none', () => {
  expect([0, 1, 0.12345, -0.5, 0.000012, null].map(valueText)).toEqual([
    '0',
    '1',
    '0.123',
    '−0.5',
    '1.2e−5',
    '–',
  ]);
});

test('counts and nouns', () => {
  expect([950, 134_515_008, 1.24e9].map(countText)).toEqual(['950', '135 M', '1.2 B']);
  expect([plural(1, 'step'), plural(2, 'step')]).toEqual(['1 step', '2 steps']);
});

test('a time is written in the clock of this computer, wherever it stands', () => {
  const here = new Date(2026, 10, 9, 8, 5).toISOString();
  expect(minuteText(here)).toBe('2026-11-09 08:05');
  expect(whenText(here)).toBe('9 Nov, 08:05');
  expect(minuteText('some day')).toBe('some day');
});
