import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { addRow, addRows, readRow } from './read-rows.ts';
import type { Row } from './row.ts';
import { rowOf } from './testing-rows.ts';

const read = (row: object) => readRow(JSON.stringify(row), 'rows.jsonl, line 3,');
const good = rowOf('attt', 2, 1);

describe('a line', () => {
  test('is the row that was written', () => {
    expect(read(good)).toEqual(good);
  });

  test.each([
    ['null', 'it holds null, expected one row'],
    ['[]', 'it holds [], expected one row'],
    ['{"key"', 'it is no JSON'],
    ['{}', 'its schema is missing, expected 1'],
    ['{"schema": 9}', 'is a row of schema 9; this version reads schema 1'],
  ])('of %s is refused with its place: %s', (line, words) => {
    const refused = () => readRow(line, 'rows.jsonl, line 3,');
    expect(refused).toThrow(words);
    expect(refused).toThrow('rows.jsonl, line 3,');
  });

  test.each([
    [{ task: '2' }, 'its task is "2", expected a whole number from 0'],
    [{ seed: -1 }, 'its seed is -1'],
    [{ arm: undefined }, 'its arm is missing, expected a text'],
    [
      { arm: 'naive' },
      'its key is "attt/valid_seen/2/1", and its fields say "naive/valid_seen/2/1"',
    ],
    [{ reason: 'gone' }, 'its reason is "gone", expected one of solved'],
    [{ solved: 'true' }, 'its solved is "true"'],
    [{ solved: true }, 'its solved is true, and its reason is "step_limit"'],
    [{ reason: 'solved' }, 'its solved is false, and its reason is "solved"'],
    [{ kl: ['high'] }, 'its kl is ["high"], expected a list of numbers'],
    [{ commands: 'look' }, 'its commands is "look"'],
    [{ outcomes: [] }, 'its outcomes is []'],
    [{ retention: 3 }, 'its retention is 3'],
    [{ seconds: null }, 'its seconds is null'],
  ])('with %j is refused: %s', (over, words) => {
    expect(() => read({ ...good, ...over })).toThrow(words);
  });

  test('of before has no commands and build, and loses a loss that was over other texts', () => {
    const { commands: _, build: __, ...old } = good;
    const losses = { base: 0.25, adapter: 0.5 };
    const both = { texts: losses, turns: losses };
    expect(read({ ...old, retention: losses })).toEqual({ ...good, retention: null });
    expect(read({ ...good, retention: both }).retention).toEqual(both);
  });
});

test('a number that JSON lost is none: no loss to subtract from, and no KL of 0', () => {
  const losses = { base: 9, adapter: 9.5 };
  const lost = { base: 9, adapter: null };
  expect(read({ ...good, retention: { texts: lost, turns: losses } }).retention).toBeNull();
  expect(read({ ...good, retention: { texts: losses, turns: lost } }).retention).toBeNull();
  expect(() => read({ ...good, retention: { texts: losses, turns: 3 } })).toThrow('its retention');
  expect(read({ ...good, kl: [0.1, null] }).kl).toEqual([0.1, 1.7976931348623157e308]);
});

test('every row that is committed is read', () => {
  const folder = 'docs/results';
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => name.endsWith('rows.jsonl.gz'));
  expect(files.length).toBeGreaterThan(0);
  for (const name of files) {
    const text = gunzipSync(readFileSync(join(folder, name))).toString('utf8');
    const rows = new Map<string, Row>();
    addRows(rows, text, name);
    expect(rows.size).toBe(text.trim().split('\n').length);
  }
});

describe('of two rows of one episode', () => {
  const error = (words: string) =>
    rowOf('attt', 2, 1, { reason: 'environment_error', error: words, steps: 1 });
  const standing = (...rows: readonly Row[]) => {
    const all = new Map<string, Row>();
    for (const row of rows) addRow(all, row, 'a file');
    return [...all.values()];
  };

  test('a result stands before an error, whichever came first', () => {
    expect(standing(error('one'), good)).toEqual([good]);
    expect(standing(good, error('one'))).toEqual([good]);
  });

  test('the later of two errors stands', () => {
    expect(standing(error('one'), error('two'))).toEqual([error('two')]);
  });

  test('two results agree but for their seconds and build, or are refused', () => {
    expect(standing(good, { ...good, seconds: 9, build: 'b' })).toHaveLength(1);
    expect(() => standing(good, { ...good, steps: 11 })).toThrow(
      'a file has another result for attt/valid_seen/2/1',
    );
  });

  test('a last line without its end is that of a killed process', () => {
    const rows = new Map<string, Row>();
    addRows(rows, `${JSON.stringify(good)}\n{"schema":1,"key":"attt/va`, 'rows.jsonl');
    expect([...rows.values()]).toEqual([good]);
  });
});
