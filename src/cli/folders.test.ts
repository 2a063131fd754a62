/** Folders that commands are told to write into, and places where there can be none. */

import { statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { adapterCommand } from './adapter.ts';
import { saveAdapter } from './adapters.ts';
import { exportBundle } from './bundle.ts';
import { runExperiment } from './experiment.ts';
import { readBytes } from './files.ts';
import { makeFolder } from './folders.ts';
import { openRows, writeWhole } from './rows.ts';
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

const nowhere = '/proc/nope/x';
const refused = {
  code: 'bad_input',
  message: expect.stringContaining('/proc takes no new folder'),
};

test('every command that writes ends where its place takes no folder', async () => {
  const v2 = 'e2e/fixtures/bundles/run-v2.attt.zip';
  for (const to of ['files', 'csv', 'jsonl', 'peft'] as const) {
    await expect(exportBundle({ file: v2, to, out: nowhere }), to).rejects.toMatchObject(refused);
  }
  const plan = scratchFile(
    'plan.toml',
    'name = "x"\nenv = "household"\nsplit = "valid_seen"\ntasks = "0"\nseeds = [1]\nmethods = ["frozen"]\n',
  );
  const where = { model: 'household', backend: 'wasm' } as const;
  const shard = { index: 1, count: 1 };
  const experiment = runExperiment(plan, { ...where, out: nowhere, shard, arm: [] });
  await expect(experiment).rejects.toMatchObject(refused);
  await expect(saveAdapter(nowhere, [])).rejects.toMatchObject(refused);
  await expect(writeWhole(nowhere, 'report.md', '')).rejects.toMatchObject(refused);
  await expect(openRows(nowhere, 'rows.jsonl')).rejects.toMatchObject(refused);
  const adapter = ['--model', tiny, '--out', nowhere, 'e2e/fixtures/adapters/ad_rslora'];
  const convert = adapterCommand().parseAsync(['convert', ...adapter], { from: 'user' });
  await expect(convert).rejects.toMatchObject(refused);
});

test.each([
  ['run', '--model', 'household', '--tasks', '0', '--out', nowhere],
  ['train', '--model', tiny, '--case', cases, '--save-adapter', nowhere],
])('attt %s ends before it computes anything', async (...args) => {
  const ran = await attt(...args);
  expect(ran).toMatchObject({ code: 1, stdout: '' });
  expect(ran.stderr).toContain('attt: The folder "/proc/nope/x" could not be made');
  expect(ran.stderr).not.toContain('Backend');
});

test('a file without end is given up, with what was read', async () => {
  await expect(readBytes('/dev/zero', 4e6)).rejects.toMatchObject({
    code: 'limit',
    message: expect.stringContaining('/dev/zero has more than 4000000 bytes, or no end'),
  });
});
