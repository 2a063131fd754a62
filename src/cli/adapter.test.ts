import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { readAdapter } from './adapters.ts';
import { attt, json } from './testing.ts';
import { scratchFile, scratchFolder } from './testing-scratch.ts';

// Each test starts processes, which wait for a build where a source is newer, on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const tiny = 'e2e/fixtures/engine/tiny.gguf';
const fixtures = 'e2e/fixtures/adapters';
const out = (name: string) => join(scratchFolder(), name);
const adapter = (...args: readonly string[]) => json('adapter', ...args, '--model', tiny);

interface Info {
  readonly norm: number;
  readonly ranks: readonly number[];
  readonly modules: readonly { readonly name: string; readonly scale: number }[];
}

test('info says the same of an adapter in each of its forms', async () => {
  const peft = (await adapter('info', `${fixtures}/ad_rslora`)) as Info;
  expect(peft).toMatchObject({ ranks: [4], targets: ['k_proj', 'o_proj', 'q_proj', 'v_proj'] });
  expect(peft.modules.map(({ scale }) => scale)).toEqual(Array(8).fill(4));
  expect(await adapter('info', `${fixtures}/tiny_lora_rslora.gguf`)).toMatchObject(peft);
});

test('a folder converts to GGUF and back to a folder with the same weights', async () => {
  const [gguf, folder, zip] = [out('a.gguf'), out('folder'), out('a.zip')];
  const label = { name: 'after the kitchen', note: 'step 40' };
  const named = ['--name', label.name, '--note', label.note];
  await adapter('convert', `${fixtures}/ad_rslora`, '--out', gguf, ...named);
  expect(await adapter('convert', gguf, '--out', folder)).toMatchObject(label);
  expect(await adapter('info', folder)).toMatchObject(label);
  await adapter('convert', gguf, '--out', zip, '--dtype', 'F16');
  const tensors = 'adapter_model.safetensors';
  const start = out('start');
  await adapter('convert', `${fixtures}/ad_rslora`, '--out', start);
  expect(readFileSync(join(folder, tensors))).toEqual(readFileSync(join(start, tensors)));
  const config = JSON.parse(readFileSync(join(folder, 'adapter_config.json'), 'utf8'));
  expect(config).toMatchObject({ r: 4, lora_alpha: 16, use_rslora: false });
  expect(readFileSync(join(folder, 'README.md'), 'utf8')).toContain('library_name: peft');
  const { norm } = (await adapter('info', zip)) as Info;
  const { norm: exact } = (await adapter('info', gguf)) as Info;
  expect(Math.abs(norm / exact - 1)).toBeLessThan(1e-3);
});

test('a merged model has the logits of base and adapter', async () => {
  const merged = out('merged.gguf');
  const report = (await adapter(
    'merge',
    `${fixtures}/ad_rslora`,
    '--out',
    merged,
    '--type',
    'F16',
  )) as {
    error_share: number;
    tensors: unknown[];
  };
  expect(report.tensors).toHaveLength(8);
  expect(report.error_share).toBeLessThan(1e-3);
  const expected = JSON.parse(readFileSync(`${fixtures}/rslora_expected.json`, 'utf8'));
  const { logits } = (await json('logits', '--model', merged, '--ids', expected.ids.join())) as {
    logits: number[][];
  };
  const far = logits.flatMap((row, t) => row.map((v, i) => Math.abs(v - expected.logits[t][i])));
  expect(Math.max(...far)).toBeLessThan(0.02); // float16 weights
});

test('prune, diff and mix write adapters whose norms are as they must be', async () => {
  const file = `${fixtures}/ad_rslora`;
  const whole = (await adapter('info', file)) as Info;
  const pruned = (await adapter('prune', file, '--keep', '0.5', '--out', out('p.gguf'))) as Info & {
    removed: string[];
    kept_norm: number;
  };
  expect(pruned.modules).toHaveLength(4);
  expect(pruned.removed).toHaveLength(4);
  expect(pruned.norm / whole.norm).toBeCloseTo(pruned.kept_norm, 6);
  const nothing = (await adapter('diff', file, file, '--out', out('d.zip'))) as Info;
  expect(nothing).toMatchObject({ ranks: [8] });
  expect(nothing.norm).toBeLessThan(1e-4);
  const mixed = out('m.gguf');
  await adapter('mix', file, file, '--t', '0.25', '--out', mixed);
  expect(((await adapter('info', mixed)) as Info).norm / whole.norm).toBeCloseTo(1, 5);
});

test('compare gives every token its log-probability with the adapter off and on', async () => {
  const messages = scratchFile('m.json', '[{"role":"user","content":"look around"}]');
  const household = ['--model', 'household', '--messages', messages, '--max-tokens', '5'];
  const small = scratchFile('none.json', '{}');
  const { sides, texts } = (await json('adapter', 'compare', ...household)) as {
    sides: string[];
    texts: { tokens: { logprobs: number[] }[]; total: number[] }[];
  };
  expect(sides).toEqual(['base']);
  expect(texts[0]?.tokens.length).toBeGreaterThan(0);
  const sum = texts[0]?.tokens.reduce((total, token) => total + (token.logprobs[0] ?? NaN), 0);
  expect(texts[0]?.total[0]).toBeCloseTo(sum ?? NaN, 10);
  const refused = await attt('adapter', 'compare', small, ...household);
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toContain('none.json; expected an adapter');
});

test('wrong use ends with 2, a bad adapter with 1 and no file left', async () => {
  const merge = (...args: readonly string[]) => attt('adapter', 'merge', ...args, '--model', tiny);
  expect(await merge(`${fixtures}/ad_rslora`, '--out', out('m.gguf'))).toMatchObject({ code: 2 });
  expect(
    await merge(`${fixtures}/ad_rslora`, '--out', out('m.bin'), '--type', 'F16'),
  ).toMatchObject({ code: 2, stdout: '' });
  const file = out('m.gguf');
  const bad = await merge(`${fixtures}/bad_dora`, '--out', file, '--type', 'F16');
  expect(bad).toMatchObject({ code: 1, stdout: '' });
  expect(bad.stderr).toContain('use_dora');
  expect(existsSync(file) || existsSync(`${file}.part`)).toBe(false);
  expect(await attt('adapter', 'nonsense')).toMatchObject({ code: 2, stdout: '' });
  expect(
    await attt(
      'adapter',
      'prune',
      `${fixtures}/ad_rslora`,
      '--model',
      tiny,
      '--keep',
      '2',
      '--out',
      file,
    ),
  ).toMatchObject({ code: 1 });
});

test('a folder with a pickle, or with nothing of an adapter, says what it holds and what to do', async () => {
  const pickled = dirname(scratchFile('adapter_model.bin', 'PK'));
  await expect(readAdapter(pickled)).rejects.toThrow(
    / holds adapter_model\.bin; expected .*Pickles .*save_pretrained/,
  );
  await expect(readAdapter('e2e')).rejects.toThrow(/^e2e holds .*; expected one adapter_config/);
});
