/** Folders that commands are told to write into, and places where there can be none. */

import { statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { headerOf } from '../experiment/testing-rows.ts';
import { adapterCommand } from './adapter.ts';
import { saveAdapter } from './adapters.ts';
import { exportBundle } from './bundle.ts';
import { mergeExperiments, runExperiment } from './experiment.ts';
import { readBytes } from './files.ts';
import { makeFolder } from './folders.ts';
import { writeReport } from './report.ts';
import { openRows, writeHeader, writeWhole } from './rows.ts';
import { attt } from './testing.ts';
import { scratchFile, scratchFolder } from './testing-scratch.ts';

// Processes wait for a build where a source is newer, on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const folder = scratchFolder();
const tiny = 'e2e/fixtures/engine/tiny.gguf';
const cases = 'e2e/fixtures/engine/tiny_training.json';

test('a folder is made with those above it, and one that is there is left alone', async () => {
  const path = join(folder, 'a', 'b', '..', 'c');
  await Promise.all([makeFolder(path), makeFolder(path), makeFolder(join(path, 'd'))]);
  expect(statSync(join(folder, 'a', 'c', 'd')).isDirectory()).toBe(true);
  await makeFolder(path);
});

test('a place that takes no folder is named at once, with what was found there', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const link = join(folder, 'link');
  symlinkSync(join(folder, 'nothing'), link);
  const loop = join(folder, 'loop');
  symlinkSync(loop, loop);
  const places: readonly (readonly [path: string, why: RegExp])[] = [
    ['/proc/nope', /\/proc takes no new folder \(ENOENT/],
    ['/proc/nope/deeper', /\/proc takes no new folder \(ENOENT/],
    ['/proc/self/nope', /takes no new folder/],
    [file, /file is a file/],
    [join(file, 'below'), /file is a file/],
    ['/dev/null/x', /\/dev\/null is a file/],
    [link, /takes no new folder \(EEXIST/],
    [join(loop, 'x'), /ELOOP/],
    [join(folder, 'x'.repeat(300)), /ENAMETOOLONG/],
    ['', /its name is empty/],
  ];
  const began = performance.now();
  for (const [path, why] of places) {
    await expect(makeFolder(path), path).rejects.toMatchObject({
      code: 'bad_input',
      message: expect.stringMatching(why),
    });
  }
  expect(performance.now() - began).toBeLessThan(1000);
});

const v2 = 'e2e/fixtures/bundles/run-v2.attt.zip';
const given = 'e2e/fixtures/adapters/ad_rslora';
const done = scratchFolder();
await writeHeader(done, headerOf(['frozen']));
const plan = scratchFile(
  'plan.toml',
  'name = "x"\nenv = "household"\nsplit = "valid_seen"\ntasks = "0"\nseeds = [1]\nmethods = ["frozen"]\n',
);
const adapter = (...words: string[]) => adapterCommand().parseAsync(words, { from: 'user' });
/** Every command that has `--out`, and what writes for those that ask a model first. */
const writers: Readonly<Record<string, (out: string) => Promise<unknown>>> = {
  ...Object.fromEntries(
    (['files', 'csv', 'jsonl', 'peft'] as const).map((to) => [
      `bundle export ${to}`,
      (out: string) => exportBundle({ file: v2, to, out }),
    ]),
  ),
  experiment: (out) => {
    const where = { model: 'household', backend: 'wasm' } as const;
    return runExperiment(plan, { ...where, out, shard: { index: 1, count: 1 }, jobs: 1, arm: [] });
  },
  'experiment merge': (out) => mergeExperiments([done], out, false),
  report: (out) => writeReport(done, { out, date: '2026-11-30', note: [] }),
  'train --save-adapter': (out) => saveAdapter(out, []),
  rows: (out) => openRows(out, 'rows.jsonl'),
  'a whole file': (out) => writeWhole(out, 'report.md', ''),
  'adapter convert': (out) => adapter('convert', '--model', tiny, '--out', out, given),
  'adapter convert to one file': (out) =>
    adapter('convert', '--model', tiny, '--out', join(out, 'x.zip'), given),
  'adapter prune': (out) =>
    adapter('prune', '--model', tiny, '--keep', '1', '--out', join(out, 'x.gguf'), given),
  'adapter diff': (out) => adapter('diff', '--model', tiny, '--out', out, given, given),
  'adapter mix': (out) => adapter('mix', '--model', tiny, '--t', '0', '--out', out, given, given),
  'adapter merge': (out) =>
    adapter('merge', '--model', tiny, '--type', 'F16', '--out', join(out, 'x.gguf'), given),
};

test.each(Object.entries(writers))('%s ends where its place takes no folder', async (_, write) => {
  const file = scratchFile('file', '');
  for (const [place, why] of [
    ['/proc/nope/x', '/proc takes no new folder'],
    [join(file, 'below'), `${file} is a file`],
  ] as const) {
    await expect(write(place), place).rejects.toMatchObject({
      code: 'bad_input',
      message: expect.stringMatching(/^The folder .* could not be made: .*\. Name a place/),
    });
    await expect(write(place), place).rejects.toThrow(why);
  }
});

const nowhere = '/proc/nope/x';
test.each([
  ['run', '--model', 'household', '--tasks', '0', '--out', nowhere],
  ['train', '--model', tiny, '--case', cases, '--save-adapter', nowhere],
])('attt %s ends before it computes anything', async (...args) => {
  const ran = await attt(...args);
  expect(ran).toMatchObject({ code: 1, stdout: '' });
  expect(ran.stderr).toContain('attt: The folder "/proc/nope/x" could not be made');
  expect(ran.stderr).not.toContain('Backend');
});

test('an adapter that is one file makes the folders above it', async () => {
  const out = join(folder, 'new', 'deeper', 'x.gguf');
  await adapter('convert', '--model', tiny, '--out', out, given);
  expect(statSync(out).size).toBeGreaterThan(0);
});

test('a file without end is given up, with what was read', async () => {
  await expect(readBytes('/dev/zero', 4e6)).rejects.toMatchObject({
    code: 'limit',
    message: expect.stringContaining('/dev/zero has more than 4000000 bytes, or no end'),
  });
});
