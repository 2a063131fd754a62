import { expect, test } from 'vitest';
import { replaceLines, unifiedDiff } from './repair-edit.ts';

const text = 'a\n  b\nc\n';

test.each([
  ['one line, which keeps its place', 2, 2, 'x', 'a\n  x\nc\n'],
  ['one line with blanks of its own', 2, 2, '    x', 'a\n    x\nc\n'],
  ['several lines by one', 1, 2, 'x', 'x\nc\n'],
  ['one line by several', 2, 2, 'x\n\n  y', 'a\n  x\n\n    y\nc\n'],
  ['nothing, below a line', 3, 2, 'x', 'a\n  b\n  x\nc\n'],
  ['nothing, at the top', 1, 0, 'x', 'x\na\n  b\nc\n'],
  ['the end', 4, 3, 'x', 'a\n  b\nc\nx\n'],
  ['lines by nothing', 1, 2, null, 'c\n'],
  ['all by nothing', 1, 3, null, ''],
])('replaces %s', (_, from, to, code, expected) => {
  expect(replaceLines(text, from, to, code)).toEqual({ text: expected });
});

test.each([
  [0, 0],
  [4, 4],
  [3, 1],
  [2, 9],
])('refuses lines %i to %i of three', (from, to) => {
  expect(replaceLines(text, from, to, 'x')).toEqual({ refused: 'The file has lines 1 to 3.' });
});

test('a diff is what git diff prints', () => {
  // git diff --no-index --unified=1 of the same two files, its index line left out
  expect(
    unifiedDiff(
      { 'f.js': 'a\nb\nc\nd\n', 'g.js': 'x\n' },
      { 'f.js': 'a\nB\nc\nd\n', 'g.js': 'x\n' },
      1,
    ),
  ).toBe('diff --git a/f.js b/f.js\n--- a/f.js\n+++ b/f.js\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n');
  expect(unifiedDiff({ 'f.js': 'a\n' }, { 'f.js': 'a\n' })).toBe('');
});
