/** The bundled model's card: its files are those in the folder, and its numbers are those of the recorded episodes. */

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import greedy from '../../e2e/fixtures/policy/greedy.json' with { type: 'json' };
import splits from '../../src/envs/household-splits.json';
import { MIXES } from './episodes.ts';

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
  test('is recorded on the page with the file that ships', () => {
    const recorded = readFileSync('public/demo-run.jsonl', 'utf8').split('\n', 1)[0];
    const first: { manifest: { modelSha256: string } } = JSON.parse(recorded ?? '');
    expect(first.manifest.modelSha256).toBe(sha256(`${folder}/household-2m-q8_0.gguf`));
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
  test('counts the outcomes of the update boundaries', () => {
    const text = gunzipSync(readFileSync(`${folder}/census.jsonl.gz`)).toString();
    const outcomes = [...text.matchAll(/"outcome": "(\w+)"/g)].map((match) => match[1]);
    const census = card.slice(card.indexOf('<!-- census'));
    const named = [...census.matchAll(/\| `(\w+)` /g)].map((match) => match[1] ?? '');
    expect(named).toEqual([...new Set(outcomes)].sort());
    for (const name of named) {
      const count = outcomes.filter((outcome) => outcome === name).length;
      expect(cell(`\`${name}\``, 2, census)).toMatch(new RegExp(`^${count} \\(`));
    }
    expect(cell('update boundaries', 2, census)).toBe(String(outcomes.length));
  });
});

describe('the recipe in the card of household-2m', () => {
  /** The rows of a CSV file, by column. */
  const csv = (file: string) => {
    const [head = '', ...rows] = readFileSync(`${folder}/${file}`, 'utf8').trimEnd().split('\n');
    const names = head.split(',');
    return rows.map((row) => {
      const values = row.split(',');
      return (name: string) => Number(values[names.indexOf(name)]);
    });
  };
  const val = csv('val.csv');
  const make = readFileSync('scripts/policy/make.py', 'utf8');
  const legs = [...make.matchAll(/Leg\("(\w+)", ([\d.]+)e6, ([\d.]+), (.*)\),\n/g)];
  const rows = [...card.matchAll(/\n\| (\d\w?) +\|([^\n]+)\|/g)].map(([, name, rest = '']) => {
    const [tokens, minutes, rate = '', step] = rest.split('|').map((part) => part.trim());
    return { name, tokens, minutes: Number(minutes), rate, step };
  });
  /** The row of val.csv in which each leg ends: the first that has the tokens of it and of those before. */
  const ends: ((name: string) => number)[] = [];
  for (const [, , millions] of legs) {
    const before = ends.at(-1)?.('tokens') ?? 0;
    const end = val.find((row) => row('tokens') >= before + Number(millions) * 1e6);
    if (end !== undefined) ends.push(end);
  }
  test('has the legs of make.py', () => {
    expect(legs.length).toBe(make.match(/ Leg\("/g)?.length);
    expect(rows.map(({ name, tokens, step }) => [name, tokens, step])).toEqual(
      legs.map(([, name, millions, , rest]) => [
        name,
        `${Number(millions).toFixed(2)} M`,
        rest?.includes('step_tokens=4096') ? '4,096' : '8,192',
      ]),
    );
    legs.forEach(([, , , peak], i) => {
      expect(Number.parseFloat(rows[i]?.rate ?? '')).toBe(Number(peak));
    });
  });
  test('has legs as long as those of the curve', () => {
    expect(ends.at(-1)).toBe(val.at(-1));
    ends.forEach((end, i) => {
      const minutes = end('minutes') - (ends[i - 1]?.('minutes') ?? 0);
      expect(rows[i]?.minutes).toBe(Math.round(minutes));
      // a leg ends with the step that reaches its tokens
      const tokens = end('tokens') - (ends[i - 1]?.('tokens') ?? 0);
      expect(tokens - Number(legs[i]?.[2]) * 1e6).toBeLessThan(3 * 8192);
    });
  });
  test('has the losses of the last two legs', () => {
    const losses = (end = val[0]) =>
      `thought ${end?.('thought').toFixed(4)}, action ${end?.('action').toFixed(4)}`;
    expect(card).toContain(`full: ${losses(ends.at(-1))} nats a token`);
    expect(card).toContain(`leg 5c (${losses(ends.at(-2))})`);
  });
  test('has the facts of the export', () => {
    const report: { checks: object[]; parameters: number; tokens: number } = JSON.parse(
      readFileSync(`${folder}/export.json`, 'utf8'),
    );
    for (const file of ['household-2m-q8_0.gguf', 'household-2m-q4_0.gguf']) {
      const bytes = readFileSync(`${folder}/${file}`).byteLength;
      const facts = { file, bytes, sha256: sha256(`${folder}/${file}`) };
      expect(report.checks).toContainEqual(expect.objectContaining(facts));
    }
    expect(card).toContain(
      `transformer of ${report.parameters.toLocaleString('en-US')} parameters`,
    );
    const [before, last] = ends.slice(-2);
    expect(report.tokens).toBe((last?.('tokens') ?? 0) - (before?.('tokens') ?? 0));
  });
  test('has the shares of the data mixes', () => {
    const percent = (share: number) => Math.round(100 * share);
    const noisy = ({ noise }: (typeof MIXES)['full']) =>
      percent(noise.reduce((all, [rate, share]) => all + (rate > 0 ? share : 0), 0));
    const { full, late, mixed, small } = MIXES;
    const shares = (mix: typeof full) => [percent(mix.recovery), noisy(mix), percent(mix.wander)];
    const text = card.replaceAll('\n', ' ');
    const said =
      /all but late (\w+) of the episodes hold one to three loops to come out of, (\d+) % noise, (\d+) % wander first \((\d+) % of small\), and (\d+) % search likely places first; of late (\d+), (\d+) and (\d+) %, and (\d+) %/.exec(
        text,
      ) ?? [];
    expect(said[1]).toBe('half');
    expect([50, ...said.slice(2, 6).map(Number)]).toEqual([
      ...shares(full),
      percent(small.wander),
      percent(full.orders.likely_list),
    ]);
    expect(said.slice(6).map(Number)).toEqual([...shares(late), percent(late.orders.likely_list)]);
    expect(text).toContain(`late: ${percent(late.small)} % small`);
    expect(text).toContain(`mixed: ${percent(mixed.small)} % small`);
  });
});
