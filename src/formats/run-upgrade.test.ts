/** Old runs open: a stored run of schema 1, and what is refused. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseRunFile } from './run-file.ts';

const stored = readFileSync('e2e/fixtures/bundles/run-v1.jsonl', 'utf8');

test('a stored run of schema 1 opens, with what it never recorded left empty', () => {
  expect(stored).toContain('"manifest":{"schema":1,');
  const events = parseRunFile(stored, 'run-v1.jsonl');
  expect(events).toHaveLength(62);
  const [start] = events;
  expect(start).toMatchObject({ manifest: { schema: 2, quantisation: '', tokenizerSha256: '' } });
  const contexts = events.flatMap((event) =>
    event.type === 'boundary' && event.tokens ? [event.tokens.context] : [],
  );
  // The bundled policy has no BOS: nothing stands before the text, and its first id has no label.
  expect(contexts.length).toBeGreaterThan(5);
  expect(contexts.every((context) => context?.length === 0)).toBe(true);
});

test('a first id that has a label was read after the BOS that the prompt begins with', () => {
  const bos = JSON.parse(stored.split('\n')[0] ?? '').promptIds[0];
  const weighed = stored.replaceAll('"weights":[0,', '"weights":[1,');
  const tokens = parseRunFile(weighed, 'run.jsonl').find((event) => event.type === 'boundary');
  expect(tokens).toMatchObject({ tokens: { context: [bos] } });
});

test('a schema from the future is refused by its number', () => {
  const future = stored.replace('"schema":1,', '"schema":3,');
  expect(() => parseRunFile(future, 'run.jsonl')).toThrow('schema 3; this version reads 1 to 2');
});
