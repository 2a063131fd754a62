/** `attt bundle` as a person runs it, on stored runs of both schemas. */

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { snapshotIn } from '../formats/bundle-read.ts';
import { readZip, writeZip } from '../formats/zip.ts';
import { compare, exportBundle, validate } from './bundle.ts';
import { attt } from './testing.ts';
import { scratchFolder } from './testing-scratch.ts';

// Processes wait for a build where a source is newer, on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const v1 = 'e2e/fixtures/bundles/run-v1.jsonl';
const v2 = 'e2e/fixtures/bundles/run-v2.attt.zip';
const folder = scratchFolder();

test('validate prints what it found; a damaged file is named and ends with 1', async () => {
  expect(await validate(v2)).toMatchObject({ valid: true, schema: 2, problems: [] });
  expect(await validate(v1)).toMatchObject({ valid: true, schema: 1, events: 62 });
  const files = new Map(readZip(new Uint8Array(readFileSync(v2)), v2));
  files.set('metrics.csv', new TextEncoder().encode('step\n1\n'));
  const damaged = join(folder, 'damaged.attt.zip');
  writeFileSync(
    damaged,
    writeZip([...files].map(([path, bytes]) => ({ path, bytes, stored: false }))),
  );
  const ran = await attt('bundle', 'validate', damaged);
  expect(ran.code).toBe(1);
  expect(JSON.parse(ran.stdout)).toMatchObject({
    valid: false,
    problems: [{ file: 'metrics.csv' }],
  });
  const refused = await attt(
    'bundle',
    'export',
    damaged,
    '--to',
    'csv',
    '--out',
    join(folder, 'x'),
  );
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toContain('metrics.csv: has 7 bytes');
});

test('export writes each part; a JSONL run becomes a bundle', async () => {
  const out = (name: string) => join(folder, name);
  await exportBundle({ file: v2, to: 'peft', out: out('adapter') });
  const config = JSON.parse(readFileSync(out('adapter/adapter_config.json'), 'utf8'));
  expect(config).toMatchObject({ peft_type: 'LORA', r: 2, target_modules: ['q_proj', 'v_proj'] });
  await exportBundle({ file: v1, to: 'jsonl', out: out('run.jsonl') });
  await exportBundle({ file: v1, to: 'bundle', out: out('run.attt.zip') });
  expect(await validate(out('run.attt.zip'))).toMatchObject({ valid: true, schema: 3, events: 62 });
  expect((await compare(v1, out('run.attt.zip'))).equal).toBe(true);
  await expect(exportBundle({ file: v1, to: 'peft', out: out('none') })).rejects.toThrow(
    'keeps no adapter',
  );
});

test('a bundle that lacks what follows from its events and snapshots is made whole again', async () => {
  const files = new Map(readZip(new Uint8Array(readFileSync(v2)), v2));
  const weights = files.get('adapter/adapter_model.safetensors');
  const without = (...paths: string[]) => {
    const file = join(folder, 'in-part.attt.zip');
    const kept = [...files].filter(([path]) => !paths.includes(path));
    writeFileSync(file, writeZip(kept.map(([path, bytes]) => ({ path, bytes, stored: false }))));
    return file;
  };
  const out = (name: string) => join(folder, name);
  const lost = [
    'metrics.csv',
    'tokens.parquet',
    'adapter/adapter_model.safetensors',
    'replay/train.py',
  ];
  await exportBundle({ file: without(...lost), to: 'bundle', out: out('whole.attt.zip') });
  expect(await validate(out('whole.attt.zip'))).toMatchObject({ valid: true, schema: 3 });
  const again = readZip(new Uint8Array(readFileSync(out('whole.attt.zip'))), 'whole');
  expect(again.get('adapter/adapter_model.safetensors')).toEqual(weights);
  expect(snapshotIn(again, 'latest')).toEqual(snapshotIn(files, 'latest'));

  // An adapter that is not that of the snapshots, its manifest made to agree.
  const path = 'adapter/adapter_model.safetensors';
  const other = again.get('adapter-start/adapter_model.safetensors') ?? new Uint8Array();
  const manifest = JSON.parse(new TextDecoder().decode(again.get('MANIFEST.json')));
  manifest.files[path] = {
    bytes: other.length,
    sha256: createHash('sha256').update(other).digest('hex'),
  };
  const swapped = new Map([...again, [path, other] as const]);
  swapped.set('MANIFEST.json', new TextEncoder().encode(JSON.stringify(manifest)));
  const entries = [...swapped].map(([name, bytes]) => ({ path: name, bytes, stored: true }));
  writeFileSync(out('swapped.attt.zip'), writeZip(entries));
  expect((await validate(out('swapped.attt.zip'))).problems).toEqual([
    { file: path, problem: expect.stringMatching(/^is not what the snapshots give\. It follows/) },
  ]);

  // Adam's moments stand nowhere else; the run itself comes out all the same.
  const bare = without('snapshots/latest.safetensors');
  const refused = exportBundle({ file: bare, to: 'bundle', out: out('x') });
  await expect(refused).rejects.toThrow('snapshots/latest.safetensors: is named in MANIFEST.json');
  await exportBundle({ file: bare, to: 'jsonl', out: out('saved.jsonl') });
  expect(new Uint8Array(readFileSync(out('saved.jsonl')))).toEqual(files.get('events.jsonl'));
});

test('compare tells two runs apart by their settings', async () => {
  const { equal, settings, adapters } = await compare(v1, v2);
  expect(equal).toBe(false);
  expect(settings).toContainEqual({ at: 'step_limit', a: 50, b: 6 });
  expect(adapters).toBeNull();
});

test.each([[['validate']], [['export', v2, '--to', 'pdf', '--out', 'x']], [['compare', v2]]])(
  '%j is wrong use',
  async (args) => {
    expect(await attt('bundle', ...args)).toMatchObject({ code: 2, stdout: '' });
  },
);
