/** Run files: what is written is read back, and what is no run is refused with its line. */

import { expect, test } from 'vitest';
import { madeRun } from '../../e2e/fixtures/recorded/household-run.ts';
import { formatRunFile, parseRunFile } from './run-file.ts';

const events = madeRun({ steps: 12 });
const text = formatRunFile(events);

test('a written run is read back as it was', () => {
  expect(parseRunFile(text, 'run.jsonl')).toEqual(events);
  expect(parseRunFile(text.replaceAll('\n', '\r\n'), 'run.jsonl')).toEqual(events);
});

test('a cut line is named', () => {
  const cut = text.slice(0, text.length - 40);
  expect(() => parseRunFile(cut, 'run.jsonl')).toThrow(/run\.jsonl, line \d+: not JSON/);
});

test('a missing line is noticed by its number', () => {
  const lines = text.split('\n');
  lines.splice(3, 1);
  expect(() => parseRunFile(lines.join('\n'), 'run.jsonl')).toThrow(
    'line 4: found event number 4, expected 3',
  );
});

test('other JSON lines are refused with what was expected', () => {
  expect(() => parseRunFile('{"loss": 1}\n', 'log.jsonl')).toThrow(
    /found type null, expected one of/,
  );
  expect(() => parseRunFile('', 'empty.jsonl')).toThrow(/does not start with/);
  expect(() => parseRunFile('{"type":"step","seq":0,"t":1}', 'x.jsonl')).toThrow(
    /lacks generation/,
  );
});

test('a field of another kind is refused with what it is and what was expected', () => {
  const lines = text.split('\n').map((line) => (line === '' ? null : JSON.parse(line)));
  const changed = (type: string, change: (event: Record<string, never>) => object) => {
    const at = lines.findIndex((event) => event?.type === type && event.tokens !== null);
    const other = lines.map((event, i) => (i === at ? { ...event, ...change(event) } : event));
    const file = other.map((event) => (event === null ? '' : JSON.stringify(event))).join('\n');
    return expect(() => parseRunFile(file, 'a.jsonl'));
  };
  changed('step', () => ({ generation: null })).toThrow(/line 2: .* lacks generation\.ids, /);
  changed('step', ({ generation }) => ({
    generation: { ...Object(generation), ids: ['a'] },
  })).toThrow('a record of type step has generation.ids ["a"]; expected a list of numbers.');
  changed('boundary', ({ tokens }) => ({ tokens: { ...Object(tokens), context: 3 } })).toThrow(
    'has tokens.context 3; expected a list of numbers or null',
  );
  const settings = { temperature: null };
  changed('episode_started', ({ manifest }) => ({
    manifest: { ...Object(manifest), settings: { ...Object(manifest).settings, ...settings } },
  })).toThrow('has manifest.settings.temperature null; expected a number');
  changed('episode_started', () => ({ messages: [{ role: 'user' }] })).toThrow(
    'has messages [{"role":"user"}]; expected a list of {"role", "content"}',
  );
});

test('a start whose manifest lacks what every table is made from is refused', () => {
  const [first, ...rest] = text.split('\n');
  const { manifest, ...start } = JSON.parse(first ?? '');
  const { settings: _, ...without } = manifest;
  const cut = [JSON.stringify({ ...start, manifest: without }), ...rest].join('\n');
  expect(() => parseRunFile(cut, 'a.jsonl')).toThrow(/line 1: .* lacks manifest\.settings/);
  const none = [JSON.stringify({ ...start, manifest: null }), ...rest].join('\n');
  expect(() => parseRunFile(none, 'a.jsonl')).toThrow(/lacks manifest\.schema, /);
});
