import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { readGguf } from '../formats/gguf.ts';
import { readGgufLora, writeGgufLora } from '../formats/gguf-lora.ts';
import { bytesSource } from '../formats/source.ts';
import type { AdapterData } from '../records.ts';
import { openAdapter, saveAdapter } from './adapter-file.ts';
import { cacheFor } from './cache.ts';
import { openBackend } from './device.ts';
import { forward } from './forward.ts';
import { type LlamaModel, loadLlama } from './llama.ts';
import { Adapter } from './lora.ts';
import { nodeWasmPaths } from './wasm-paths-node.ts';

const folder = 'e2e/fixtures/adapters';
const source = (path: string) =>
  bytesSource(new Uint8Array(readFileSync(`${folder}/${path}`)), path.split('/').pop() ?? path);
const peft = (name: string) => [
  source(`${name}/adapter_config.json`),
  source(`${name}/adapter_model.safetensors`),
];
const card = { name: 'tiny', licence: null };

let model: LlamaModel;

beforeAll(async () => {
  await openBackend('wasm', { wasmPaths: nodeWasmPaths(import.meta.url) });
  const file = readFileSync('e2e/fixtures/engine/tiny.gguf');
  const tiny = bytesSource(new Uint8Array(file), 'tiny.gguf');
  model = await loadLlama(await readGguf(tiny), tiny);
});

async function logits(data: AdapterData | null, ids: readonly number[]): Promise<number[][]> {
  using cache = cacheFor(model);
  using adapter = data && new Adapter(data);
  const rows = await forward(model, adapter, cache, ids, { logits: 'all' });
  const values = (await rows?.array()) ?? [];
  rows?.dispose();
  return values;
}

const farthest = (a: readonly (readonly number[])[], b: readonly (readonly number[])[]) =>
  Math.max(...a.flatMap((row, t) => row.map((value, i) => Math.abs(value - (b[t]?.[i] ?? NaN)))));

/** Expected logits are PEFT's, over transformers in float32 (scripts/make-adapter-fixtures.py). */
test.each([
  ['rank-stabilised', peft('ad_rslora'), 'rslora_expected.json'],
  ['F16 of a list of names', peft('list_f16'), 'list_f16/expected.json'],
  ['BF16 of a pattern', peft('regex_bf16'), 'regex_bf16/expected.json'],
  ['all linear projections', peft('all_linear'), 'all_linear/expected.json'],
  ['rank and alpha patterns', peft('patterns'), 'patterns/expected.json'],
  ['GGUF, rank-stabilised', [source('tiny_lora_rslora.gguf')], 'rslora_expected.json'],
  ['GGUF in F16', [source('all_linear_f16.gguf')], 'all_linear/expected.json'],
  ['GGUF with scales folded', [source('patterns.gguf')], 'patterns/expected.json'],
])(
  "an adapter gives PEFT's logits within 1e-3, also after each form and back: %s",
  async (_, files, path) => {
    const expected = JSON.parse(readFileSync(`${folder}/${path}`, 'utf8'));
    const data = await openAdapter(files, model.config);
    expect(farthest(await logits(data, expected.ids), expected.logits)).toBeLessThan(1e-3);
    expect(farthest(await logits(null, expected.ids), expected.logits)).toBeGreaterThan(0.1);
    for (const form of ['peft', 'gguf'] as const) {
      const saved = saveAdapter(data, form, 'F32', model.config, card);
      const back = await openAdapter([bytesSource(saved, 'saved')], model.config);
      expect(farthest(await logits(back, expected.ids), expected.logits)).toBeLessThan(1e-3);
    }
  },
);

test.each(['ad_rslora', 'list_f16', 'regex_bf16', 'all_linear'])(
  'PEFT to GGUF to PEFT gives the same bits: %s',
  async (name) => {
    const start = await openAdapter(peft(name), model.config);
    const peftZip = saveAdapter(start, 'peft', 'F32', model.config, card);
    const gguf = saveAdapter(start, 'gguf', 'F32', model.config, card);
    const fromGguf = await openAdapter([bytesSource(gguf, 'a.gguf')], model.config);
    expect(fromGguf).toEqual(start);
    expect(saveAdapter(fromGguf, 'peft', 'F32', model.config, card)).toEqual(peftZip);
    expect(await openAdapter([bytesSource(peftZip, 'a.zip')], model.config)).toEqual(start);
  },
);

test("a GGUF with other alphas gives PEFT's back where they are apart by a power of two", async () => {
  const start = await openAdapter(peft('patterns'), model.config);
  const gguf = saveAdapter(start, 'gguf', 'F32', model.config, card);
  const back = await openAdapter([bytesSource(gguf, 'a.gguf')], model.config);
  // alpha_pattern gives layer 0's down_proj an alpha of 5 beside 16: that product is rounded once.
  const same = ({ modules }: AdapterData) =>
    modules.filter(({ layer, target }) => layer !== 0 || target !== 'down_proj');
  expect(same(back)).toEqual(same(start));
  expect(same(start)).toHaveLength(start.modules.length - 1);
});

test.each([
  ['bad_dora', /use_dora/],
  ['bad_bias', /bias "lora_only"/],
  ['bad_loha', /peft_type "LOHA"/],
  ['ad_fullhead', /modules_to_save lm_head/],
  ['ad_bad', /12 tensors .* no LoRA matrices/],
])('%s is refused by name, and the base writes what it wrote before', async (name, message) => {
  const before = await logits(null, [3, 7, 11]);
  await expect(openAdapter(peft(name), model.config)).rejects.toThrow(message);
  expect(await logits(null, [3, 7, 11])).toEqual(before);
});

test('an adapter of another model is refused with both sizes', async () => {
  const { config } = model;
  for (const files of [peft('ad_rslora'), [source('tiny_lora_rslora.gguf')]]) {
    await expect(openAdapter(files, { ...config, kvHeads: 4 })).rejects.toThrow(
      /k(_proj|\.weight) \(16 inputs, 8 outputs\) does not fit .* 16 inputs and 16 outputs/,
    );
    await expect(openAdapter(files, { ...config, layers: 1 })).rejects.toThrow(/layers 0 to 0/);
  }
  const { modules } = await readGgufLora(source('tiny_lora_rslora.gguf'));
  const other = writeGgufLora(modules, { architecture: 'qwen2', name: 'other' });
  await expect(openAdapter([bytesSource(other, 'q.gguf')], config)).rejects.toThrow(
    /for the architecture "qwen2", and this model is "llama"/,
  );
});

test('files that are no adapter are named', async () => {
  const tiny = readFileSync('e2e/fixtures/engine/tiny.gguf');
  const open = (bytes: Uint8Array, name: string) =>
    openAdapter([bytesSource(bytes, name)], model.config);
  await expect(open(new Uint8Array(tiny), 'tiny.gguf')).rejects.toThrow(
    /general\.type .*; expected "adapter"/,
  );
  await expect(open(new Uint8Array(), 'empty.bin')).rejects.toThrow(/Found empty\.bin; expected/);
  await expect(openAdapter([], model.config)).rejects.toThrow(/Found no file/);
  await expect(openAdapter([source('ad_bad/adapter_config.json')], model.config)).rejects.toThrow(
    /Found adapter_config\.json; expected/,
  );
});
