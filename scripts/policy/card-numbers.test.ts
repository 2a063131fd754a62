/** Every number of the card's table of episodes, computed from the recorded steps by the definitions that the card gives. */

import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';

const folder = 'models/household-2m';
const card = readFileSync(`${folder}/README.md`, 'utf8');
const begin = card.indexOf('<!-- card:');
const table = card.slice(begin, card.indexOf('<!-- end of card', begin));

interface Step {
  readonly text: string;
  /** Tokens of the prompt. */
  readonly position: number;
  readonly before: string;
  readonly action: string;
  readonly status: string;
  readonly observation: string;
  readonly repetition: number;
}
interface Row {
  readonly kind: string;
  readonly solved: boolean;
  readonly steps: readonly Step[];
}

const columns = new Map<string, Row[]>();
for (const file of readdirSync(`${folder}/rows`).sort()) {
  const name = file.replace(/-\d\.jsonl\.gz$/, '');
  const text = gunzipSync(readFileSync(`${folder}/rows/${file}`)).toString();
  const rows = text
    .trimEnd()
    .split('\n')
    .map((line): Row => JSON.parse(line)); // written by rollout.py
  columns.set(name, [...(columns.get(name) ?? []), ...rows]);
}

const lines = table.split('\n').filter((line) => line.startsWith('|'));
const cells = new Map(
  lines.map((line) => {
    const [title = '', ...rest] = line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim());
    return [title, rest];
  }),
);
const names = cells.get('') ?? [];

/** The numbers of a cell are `values`, rounded to so many decimals. */
function expectCell(name: string, title: string, values: readonly number[], decimals = 0): void {
  const cell = cells.get(title)?.[names.indexOf(name)] ?? '';
  const shown = [...cell.matchAll(/\d+(?:\.\d+)?/g)].map(Number);
  expect(shown.length, title).toBe(values.length);
  shown.forEach((number, i) => {
    const error = Math.abs(number - (values[i] ?? Number.NaN));
    expect(error, `${title} of ${name}: ${cell}`).toBeLessThan(0.500001 * 10 ** -decimals);
  });
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const mean = (values: readonly number[]) => sum(values) / values.length;
const percent = (hits: readonly boolean[]) => 100 * mean(hits.map(Number));

/** Won, played, the share and its Wilson score interval (1927) at z = 1.96, all three in percent. */
function solved(rows: readonly Row[]): number[] {
  const won = rows.filter((row) => row.solved).length;
  const n = rows.length;
  const z = 1.959964;
  const middle = (won + (z * z) / 2) / (n + z * z);
  const half = (z / (n + z * z)) * Math.sqrt((won * (n - won)) / n + (z * z) / 4);
  return [won, n, (100 * won) / n, 100 * (middle - half), 100 * (middle + half)];
}

/** Mean repetition in each fifth; step i of n, from 0, is in fifth floor(5 i / n). Empty where n is under five. */
function fifths({ steps }: Row): number[] {
  if (steps.length < 5) return [];
  return [0, 1, 2, 3, 4].map((fifth) =>
    mean(
      steps
        .filter((_, i) => Math.floor((5 * i) / steps.length) === fifth)
        .map(({ repetition }) => repetition),
    ),
  );
}

/** For each step, whether the same action met the same state before. */
function repeats({ steps }: Row): boolean[] {
  const seen = new Set<string>();
  return steps.map(({ before, action }) => {
    const pair = `${before} ${action}`;
    const again = seen.has(pair);
    seen.add(pair);
    return again;
  });
}

/** The least period of 1 to 3 in which the last actions ran three times; 0 where none did. */
function cycle({ steps }: Row): number {
  const actions = steps.map(({ action }) => action);
  const runs = (period: number) => {
    const tail = actions.slice(-3 * period);
    return tail.length === 3 * period && tail.every((a, i) => a === tail[i % period]);
  };
  return [1, 2, 3].find(runs) ?? 0;
}

describe.each([...columns])('the column of %s', (name, rows) => {
  const loops = rows.map((row) => ({ row, again: repeats(row) }));
  test('has success, whole and by type', () => {
    expectCell(name, 'solved (95 % Wilson interval)', solved(rows));
    const kinds = new Set(rows.map(({ kind }) => kind));
    expect(kinds.size).toBe(6);
    for (const kind of kinds) {
      expectCell(name, `\`${kind}\``, solved(rows.filter((row) => row.kind === kind)));
    }
    const lengths = rows.filter((row) => row.solved).map(({ steps }) => steps.length);
    expectCell(name, 'steps of successes: mean', [mean(lengths)], 1);
  });
  test.each([
    ['successes', true],
    ['failures', false],
  ])('has the repetition of %s', (title, won) => {
    const part = rows.filter((row) => row.solved === won);
    const long = part.map(fifths).filter(({ length }) => length > 0);
    const byFifth = [0, 1, 2, 3, 4].map((i) => mean(long.map((row) => row[i] ?? Number.NaN)));
    expectCell(name, `${title}: repetition in fifths`, byFifth, 2);
    const looped = percent(part.map((row) => (fifths(row)[4] ?? 0) > 0.8));
    expectCell(name, `${title}: last fifth above 0.8`, [looped]);
    const refused = part.flatMap(({ steps }) => steps.map((s) => s.observation));
    const nothing = percent(refused.map((text) => text === 'Nothing happens.'));
    expectCell(name, `${title}: steps that answer \`Nothing happens.\``, [nothing]);
    const pairs = `${title}: steps that repeat a (state, action) pair`;
    expectCell(name, pairs, [
      percent(loops.flatMap(({ row, again }) => (row.solved === won ? again : []))),
    ]);
    const cycles = [1, 2, 3].map((period) => percent(part.map((row) => cycle(row) === period)));
    expectCell(name, `${title}: end in a cycle of 1, 2, 3 actions`, cycles);
  });
  test.each([
    [0, 512],
    [512, 1024],
    [1024, 1536],
    [1536, 2048],
    [2048, 4096],
  ])('has the loop rate at prompts of %i to %i tokens', (low, high) => {
    const hits = loops.flatMap(({ row, again }) =>
      again.filter((_, i) => {
        const position = row.steps[i]?.position ?? -1;
        return position >= low && position < high;
      }),
    );
    const title = `(state, action) repeats at prompts of ${low} to ${high} tokens`;
    expectCell(name, title, [percent(hits)]);
  });
  test('has steps whose repetition is the largest Jaccard with an earlier one, in words', () => {
    for (const { steps } of rows.slice(0, 20)) {
      const earlier: Set<string>[] = [];
      for (const { text, status, repetition } of steps) {
        const own = status === 'ok' ? (/^Thought: (.*\nAction:.*)/.exec(text)?.[1] ?? '') : text;
        const words = new Set(
          own
            .replace('\nAction:', '\n')
            .toLowerCase()
            .match(/[a-z0-9]+/g),
        );
        const common = (other: ReadonlySet<string>) =>
          [...words].filter((w) => other.has(w)).length;
        const ratios = earlier.map((other) => {
          const both = common(other);
          return both / (words.size + other.size - both);
        });
        expect(repetition, text).toBeCloseTo(Math.max(0, ...ratios), 9);
        earlier.push(words);
      }
    }
  });
});

test('what the card says of failures that loop is what the recorded episodes do', () => {
  const lost = [...columns]
    .filter(([name]) => !name.includes('q4_0'))
    .flatMap(([, rows]) => rows.filter((row) => !row.solved));
  const looped = lost.filter((row) => (fifths(row)[4] ?? 0) > 0.8).length;
  expect(card).toContain(`above 0.8 in ${looped} of ${lost.length} of them`);
});
