import { expect, test } from 'vitest';
import { mutationsOf } from './repair-mutations.ts';
import { programs } from './repair-program.ts';

const lines = (line: string) => mutationsOf(line).map((mutation) => mutation.line);

test('operators, constants and calls become their neighbours', () => {
  expect(lines('  if (i < n) return i + 1;')).toEqual(
    expect.arrayContaining([
      '  if (i <= n) return i + 1;',
      '  if (i > n) return i + 1;',
      '  if (i < n) return i - 1;',
      '  if (i < n) return i + 2;',
      '  if (i < n) return i + 0;',
      '  if (!i < n) return i + 1;',
    ]),
  );
  expect(lines('  return Math.min(a, b);')).toEqual([
    '  return Math.max(a, b);',
    '  return !Math.min(a, b);',
    '  return Math.min(b, a);',
    '  Math.min(a, b);',
  ]);
});

test('texts, patterns and comments stay as they are', () => {
  expect(lines("const a = 'x < 1 && true';")).toEqual([]);
  expect(lines('const a = /^-?\\d+ + 1$/;')).toEqual([]);
  expect(lines('/** 1 < 2 && true */')).toEqual([]);
});

test('each can be undone by another', () => {
  const stuck = [...programs.values()].flatMap(({ files }) =>
    Object.values(files).flatMap((text) =>
      text
        .split('\n')
        .flatMap((line) => lines(line).map((changed) => [line, changed] as const))
        .filter(([line, changed]) => !lines(changed).includes(line)),
    ),
  );
  expect(stuck).toEqual([]);
});
