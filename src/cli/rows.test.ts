import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Header } from '../experiment/header.ts';
import type { Row } from '../experiment/row.ts';
import { headerOf, rowOf } from '../experiment/testing-rows.ts';
import { mergeExperiments } from './experiment.ts';
import { writeReport } from './report.ts';
import { checkKnown, openRows, readRows, writeWhole } from './rows.ts';
import { scratchFolder } from './testing-scratch.ts';

const header = headerOf(['frozen', 'attt']);
const [solved, error, other] = [
  rowOf('attt', 0, 1, { solved: true }),
  rowOf('attt', 0, 1, { reason: 'engine_error', error: 'lost', steps: 2 }),
  rowOf('frozen', 0, 1),
];

function folderOf(rows: readonly Row[], own: Header = header): string {
  const folder = scratchFolder();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'experiment.json'), JSON.stringify(own));
  writeFileSync(
    join(folder, 'rows-1-of-1.jsonl'),
    rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  );
  return folder;
}

const rowsOf = async (folder: string) => [...(await readRows(folder)).values()];

describe('merging', () => {
  test('takes the result of an episode that ended by an error elsewhere, in either order', async () => {
    for (const folders of [
      [folderOf([error]), folderOf([solved, other])],
      [folderOf([solved, other]), folderOf([error])],
    ]) {
      const out = scratchFolder();
      expect(await mergeExperiments(folders, out, false)).toMatchObject({ finished: 2, errors: 0 });
      expect(new Set(await rowsOf(out))).toEqual(new Set([solved, other]));
    }
  });

  test('into a folder that has the error adds the result, once', async () => {
    const [out, folder] = [folderOf([error]), folderOf([solved])];
    await mergeExperiments([folder], out, false);
    await mergeExperiments([folder], out, false);
    expect(await rowsOf(out)).toEqual([solved]);
    const merged = readFileSync(join(out, 'rows-merged.jsonl'), 'utf8');
    expect(merged).toBe(`${JSON.stringify(solved)}\n`);
  });
});

describe('rows without a header', () => {
  const refused = (folder: string) =>
    `${folder} has rows (rows-1-of-1.jsonl) and no experiment.json that says of what experiment`;

  test('belong to no experiment: nothing is taken from them, and nothing goes beside them', async () => {
    const out = folderOf([{ ...solved, solved: false, reason: 'step_limit' }]);
    rmSync(join(out, 'experiment.json'));
    await expect(checkKnown(out)).rejects.toThrow(refused(out));
    const merging = mergeExperiments([folderOf([solved])], out, false);
    await expect(merging).rejects.toThrow(refused(out));
    expect(readdirSync(out)).toEqual(['rows-1-of-1.jsonl']);
  });

  test('are none where there is a header, or nothing', async () => {
    await checkKnown(folderOf([solved]));
    await checkKnown(scratchFolder());
  });
});

test('a row that could not be written is told of with the name of its file', async () => {
  const folder = scratchFolder();
  const writer = await openRows(folder, 'rows.jsonl');
  await writer[Symbol.asyncDispose](); // as a full disk does: the handle takes no more
  await expect(writer.append(solved)).rejects.toMatchObject({ path: join(folder, 'rows.jsonl') });
});

test('of two commands that write one file, one goes on', async () => {
  const folder = folderOf([solved]);
  await using first = await openRows(folder, 'rows-1-of-1.jsonl');
  await using second = await openRows(folder, 'rows-1-of-1.jsonl');
  await first.append(other);
  await expect(second.append(other)).rejects.toThrow('another one runs the same part');
  await first.append(rowOf('frozen', 1, 1));
  expect(await rowsOf(folder)).toEqual([solved, other, rowOf('frozen', 1, 1)]);
});

test('a file that could not be put into its place leaves nothing aside', async () => {
  const folder = scratchFolder();
  const path = join(folder, 'report.md');
  mkdirSync(join(path, 'a folder with something in it'), { recursive: true });
  await expect(writeWhole(folder, 'report.md', 'words')).rejects.toMatchObject({ path });
  expect(readdirSync(folder)).toEqual(['report.md']);
});

describe('a report', () => {
  const options = { date: '2026-11-30', note: [] };

  test('replaces no other experiment, and says what is there', async () => {
    const other = { ...header, modelSha256: 'aa' };
    const [from, to] = [folderOf([solved]), folderOf([solved], other)];
    const before = readdirSync(to).map((name) => [name, readFileSync(join(to, name), 'utf8')]);
    await expect(writeReport(from, { ...options, out: to })).rejects.toThrow(
      `${to} holds another experiment, which the report would replace (model: "aa" and "ff")`,
    );
    expect(readdirSync(to).map((name) => [name, readFileSync(join(to, name), 'utf8')])).toEqual(
      before,
    );
  });

  test('loses no row of the same experiment', async () => {
    const [from, to] = [folderOf([solved]), folderOf([solved, other])];
    await expect(writeReport(from, { ...options, out: to })).rejects.toThrow(
      'holds 1 rows that are not among those of the report and would be lost, frozen/valid_seen/0/1 first',
    );
    const result = folderOf([solved]);
    await expect(writeReport(folderOf([error]), { ...options, out: result })).rejects.toThrow(
      'would be lost',
    );
  });

  test('goes where an earlier one of fewer rows is, an error tried again since', async () => {
    const [from, to] = [folderOf([error, solved, other]), folderOf([error])];
    await writeReport(from, { ...options, out: to });
    await writeReport(from, { ...options, out: to });
    expect(new Set(await rowsOf(to))).toEqual(new Set([solved, other]));
    await writeReport(to, { ...options, out: to });
  });
});
