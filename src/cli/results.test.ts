/** The committed results: each report is the one that its rows give, as docs/results/README.md says. */

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { writeReport } from './report.ts';
import { readHeader } from './rows.ts';

const results = join(import.meta.dirname, '../../docs/results');
const days = (await readdir(results)).filter((name) => /^\d{4}-\d{2}-\d{2}$/.test(name));
const folders = await Promise.all(
  days.map(async (day) => (await readdir(join(results, day))).map((name) => [day, name] as const)),
);
const made = await mkdtemp(join(tmpdir(), 'attt-results-'));
afterAll(() => rm(made, { recursive: true }));

/** The paragraphs of `--note`: what stands between the title and the question. */
async function notesOf(folder: string): Promise<readonly string[]> {
  const paragraphs = (await readFile(join(folder, 'report.md'), 'utf8')).split('\n\n');
  const question = (await readHeader(folder))?.experiment.question ?? '';
  const end = paragraphs.indexOf(question);
  if (end < 1) throw new Error(`${folder}/report.md does not state the question "${question}".`);
  return paragraphs.slice(1, end);
}

/** What a report is read in: its texts and figures. */
async function textsOf(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((file) => /\.(html|md|svg)$/.test(file)).sort();
}

test.each(folders.flat())('%s/%s', async (date, name) => {
  const folder = join(results, date, name);
  const out = join(made, `${date}-${name}`);
  await writeReport(folder, { out, date, note: await notesOf(folder) });
  const texts = await textsOf(folder);
  expect(texts).toEqual(expect.arrayContaining(['report.html', 'report.md', 'success.svg']));
  expect(await textsOf(out)).toEqual(texts);
  for (const file of texts) {
    const [is, was] = await Promise.all(
      [out, folder].map((at) => readFile(join(at, file), 'utf8')),
    );
    expect(is === was, `${file} is not what its rows give; make it again`).toBe(true);
  }
});

test("README's table has the numbers of the report that it links", async () => {
  const cellsOf = (line: string) => line.split('|').map((cell) => cell.trim());
  const readme = await readFile(join(results, '../../README.md'), 'utf8');
  const [, found = ''] = readme.split('## What it found so far');
  const [, link = ''] = /\(docs\/results\/([^)]*unseen-1000\/report\.md)\)/.exec(found) ?? [];
  const lines = (await readFile(join(results, link), 'utf8')).split('\n').map(cellsOf);
  const head = lines.find((cells) => cells.includes('vs frozen')) ?? [];
  const at = head.indexOf('vs frozen');
  const reported = (arm: string) =>
    lines.find((cells) => cells[1] === arm && cells.length > at) ?? [];
  const arms = {
    aTTT: 'attt',
    'naive training (all weights 1)': 'naive',
    'tokens dropped at random': 'random_drop',
    'breaking loops without training': 'loop_breaker',
    'a higher temperature': 'temperature',
  };
  for (const [words, arm] of Object.entries(arms)) {
    const said = found
      .split('\n')
      .map(cellsOf)
      .find((cells) => cells[1] === words);
    expect(said?.slice(2, 4), words).toEqual(reported(arm).slice(at, at + 2));
  }
});
