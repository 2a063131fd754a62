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

function rowsOf(file: string): readonly Row[] {
  const text = gunzipSync(readFileSync(`${folder}/rows/${file}`)).toString();
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
  test.each([
    ['valid_seen', 0],
    ['valid_unseen', 1],
  ] as const)('counts what the recorded episodes of %s solved', (split, column) => {
    const kept = readdirSync(`${folder}/rows`).filter((file) => file.startsWith(`${split}-`));
    const bySeed = kept.sort().map((file) => {
      const rows = rowsOf(file);
      expect(rows.map(({ start }) => start)).toEqual(
        splits[split].map((_, index) => ({ split, index })),
      );
      expect(Math.max(...rows.map(({ steps }) => steps.length))).toBeLessThanOrEqual(50);
      return rows.filter(({ solved }) => solved).length;
    });
    expect(bySeed.length).toBeGreaterThan(0);
    const cell = (title: string) =>
      new RegExp(`\\| ${title} +\\|(.+)\\|`).exec(card)?.[1]?.split('|')[column]?.trim();
    const tasks = splits[split].length;
    expect(cell('solved by seed')).toBe(bySeed.map((won) => `${won} of ${tasks}`).join(', '));
    const won = bySeed.reduce((sum, one) => sum + one, 0);
    expect(cell('solved \\(95 % Wilson interval\\)')).toContain(
      `${won} of ${bySeed.length * tasks},`,
    );
  });
});
