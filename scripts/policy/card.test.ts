/** The bundled model's card: its files are those in the folder, and its numbers are those of the recorded episodes. */

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import greedy from '../../e2e/fixtures/policy/greedy.json' with { type: 'json' };
import splits from '../../src/envs/household-splits.json';

const folder = 'models/household-2m';
const card = readFileSync(`${folder}/README.md`, 'utf8');
const sha256 = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');

/** A recorded episode, as far as it is counted here. */
interface Row {
  readonly start: { readonly split: string; readonly index: number };
  readonly solved: boolean;
  readonly steps: readonly { readonly observation: string }[];
}

/** `valid_seen` of `valid_seen-2.jsonl.gz`. */
const setOf = (file: string) => file.replace(/-\d\.jsonl\.gz$/, '');

function rowsOf(file: string): readonly Row[] {
  const text = gunzipSync(readFileSync(`${folder}/${file}`)).toString();
  return text
    .trimEnd()
    .split('\n')
    .map((line): Row => JSON.parse(line)); // written by rollout.py
}

describe('the card of household-2m', () => {
  const files = readdirSync(folder).filter((file) => file.endsWith('.gguf'));
  test.each(files)('says the size and the hash of %s', (file) => {
    const bytes = readFileSync(`${folder}/${file}`).byteLength;
    expect(bytes).toBeLessThan(5e6);
    expect(card).toContain(`| ${bytes.toLocaleString('en-US')} |`);
    expect(card).toContain(sha256(`${folder}/${file}`));
  });
  test('names no file that is not there', () => {
    const named = [...card.matchAll(/`([\w-]+\.gguf)` +\|/g)].map((match) => match[1]);
    expect(named.sort()).toEqual(files.sort());
  });
  test('has greedy references of the file that ships', () => {
    expect(greedy.sha256).toBe(sha256(`${folder}/${greedy.file}`));
  });
  const cell = (title: string, column: number, part = card) =>
    new RegExp(`\\| ${title} +\\|(.+)\\|`).exec(part)?.[1]?.split('|')[column]?.trim();
  const columns = /\n\| +\|( valid_seen .*)\|\n/
    .exec(card)?.[1]
    ?.split('|')
    .map((name) => name.trim());
  const kept = readdirSync(`${folder}/rows`);
  test('has a column for every set that was played, and no other', () => {
    const played = kept.map(setOf);
    expect(columns).toEqual([...new Set(played)].sort());
    expect(columns).toContain('valid_unseen');
  });
  test.each([...new Set(kept.map(setOf))])(
    'counts what the recorded episodes of %s solved',
    (name) => {
      const split = name.startsWith('valid_seen') ? 'valid_seen' : 'valid_unseen';
      const files = kept.filter((file) => setOf(file) === name).sort();
      const bySeed = files.map((file) => {
        const rows = rowsOf(`rows/${file}`);
        expect(rows.map(({ start }) => start)).toEqual(
          splits[split].map((_, index) => ({ split, index })),
        );
        expect(Math.max(...rows.map(({ steps }) => steps.length))).toBeLessThanOrEqual(50);
        return rows.filter(({ solved }) => solved).length;
      });
      const column = columns?.indexOf(name) ?? -1;
      const tasks = splits[split].length;
      expect(cell('solved by seed', column)).toBe(
        bySeed.map((won) => `${won} of ${tasks}`).join(', '),
      );
      const won = bySeed.reduce((sum, one) => sum + one, 0);
      expect(cell('solved \\(95 % Wilson interval\\)', column)).toContain(
        `${won} of ${bySeed.length * tasks},`,
      );
    },
  );
  test('has the update boundaries of every task of valid_seen', () => {
    const text = gunzipSync(readFileSync(`${folder}/census.jsonl.gz`)).toString();
    const rows = text
      .trimEnd()
      .split('\n')
      .map((line): { task: number; solved: boolean } => JSON.parse(line)); // written by census.py
    expect(rows.map(({ task }) => task)).toEqual(splits.valid_seen.map((_, index) => index));
    const counted = [true, false].map((won) => rows.filter(({ solved }) => solved === won).length);
    const census = card.slice(card.indexOf('<!-- census'));
    const cells = [0, 1, 2].map((column) => cell('episodes', column, census));
    expect(cells).toEqual([...counted, rows.length].map(String));
  });
});
