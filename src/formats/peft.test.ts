import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { strFromU8, zipSync } from 'fflate';
import { expect, test } from 'vitest';
import { type PeftModule, readPeft, unzipPeft, writePeft, zipPeft } from './peft.ts';
import { writeSafetensors } from './safetensors.ts';

const fixture = (name: string) => `e2e/fixtures/adapters/${name}`;
const read = (name: string, change: Record<string, unknown> = {}) => {
  const config = JSON.parse(readFileSync(fixture(`${name}/adapter_config.json`), 'utf8'));
  const weights = new Uint8Array(readFileSync(fixture(`${name}/adapter_model.safetensors`)));
  return readPeft(JSON.stringify({ ...config, ...change }), weights);
};

test('a rank-stabilised adapter of PEFT has scale alpha / √r (B19)', () => {
  const modules = read('ad_rslora');
  expect(modules).toHaveLength(8); // q, k, v, o of two layers
  expect(modules.map(({ scale }) => scale)).toEqual(Array(8).fill(4));
  expect(read('ad_rslora', { use_rslora: false })[0]?.scale).toBe(2);
});

test('tensors that match nothing are refused, counted and named (B21)', () => {
  expect(() => read('ad_bad')).toThrow(
    /12 tensors .* no LoRA matrices: base_model\.model\.transformer\./,
  );
});

test('full tensors, DoRA, bias and other PEFT types are refused by name (B26)', () => {
  expect(() => read('ad_fullhead', { modules_to_save: null })).toThrow(
    /lm_head\.weight.*modules_to_save/,
  );
  expect(() => read('ad_rslora', { modules_to_save: ['lm_head'] })).toThrow(
    /modules_to_save lm_head/,
  );
  expect(() => read('ad_rslora', { use_dora: true })).toThrow(/use_dora/);
  expect(() => read('ad_rslora', { bias: 'all' })).toThrow(/bias "all"/);
  expect(() => read('ad_rslora', { peft_type: 'LOHA' })).toThrow(/peft_type "LOHA"/);
});

test('rank and alpha patterns hold for the names they end', () => {
  const scales = Object.fromEntries(
    read('ad_rslora', { alpha_pattern: { 'layers.0.self_attn.q_proj': 16 } }).map((m) => [
      m.name,
      m.scale,
    ]),
  );
  expect(scales['model.layers.0.self_attn.q_proj']).toBe(8);
  expect(scales['model.layers.1.self_attn.q_proj']).toBe(4);
  expect(() => read('ad_rslora', { rank_pattern: { q_proj: 2 } })).toThrow(/rank 4, but .* says 2/);
});

test('pattern keys with wildcards match, other expressions are refused by name', () => {
  const scaleOf = (key: string) => read('ad_rslora', { alpha_pattern: { [key]: 16 } })[0]?.scale;
  expect(scaleOf('model.layers.0.*.k_proj')).toBe(8);
  expect(scaleOf('layers\\.0\\.self_attn\\.k_proj')).toBe(8);
  expect(scaleOf('proj')).toBe(4);
  expect(() => scaleOf('(a+)+b')).toThrow(/pattern "\(a\+\)\+b"; supported are names of modules/);
});

test('settings that change what LoRA computes are refused by name', () => {
  expect(() => read('ad_rslora', { lora_bias: true })).toThrow(/lora_bias true/);
  expect(() => read('ad_rslora', { trainable_token_indices: [1] })).toThrow(
    /trainable_token_indices \[1\]/,
  );
  expect(read('ad_rslora', { lora_bias: null, target_parameters: [] })).toHaveLength(8);
});

test('a config that is no object is refused', () => {
  expect(() => readPeft('null', new Uint8Array(8))).toThrow(/holds null; expected an object/);
  expect(() => readPeft('{', new Uint8Array(8))).toThrow(/is not JSON/);
});

test('a name that occurs with and without the adapter name is refused; either alone is read', () => {
  const matrix = { shape: [1, 1], values: Float32Array.of(1) };
  const name = 'base_model.model.model.layers.0.mlp.up_proj.lora_';
  const config = JSON.stringify({ peft_type: 'LORA', r: 1, lora_alpha: 2 });
  const tensors = new Map([
    [`${name}A.default.weight`, matrix],
    [`${name}B.default.weight`, matrix],
  ]);
  expect(readPeft(config, writeSafetensors(tensors))).toMatchObject([
    { name: 'model.layers.0.mlp.up_proj', scale: 2 },
  ]);
  tensors.set(`${name}A.weight`, matrix);
  expect(() => readPeft(config, writeSafetensors(tensors))).toThrow(/up_proj\.lora_A occurs twice/);
  tensors.delete(`${name}A.weight`);
  tensors.delete(`${name}A.default.weight`);
  expect(() => readPeft(config, writeSafetensors(tensors))).toThrow(/lora_A missing/);
});

test('what is written is what PEFT reads: names, config, a card', () => {
  const files = writePeft(read('ad_rslora'), { name: 'tiny', licence: 'apache-2.0' });
  const config = JSON.parse(strFromU8(files['adapter_config.json'] ?? new Uint8Array()));
  expect(config).toMatchObject({
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: 'tiny',
    r: 4,
    lora_alpha: 16, // scale 4 as alpha / r
    target_modules: ['k_proj', 'o_proj', 'q_proj', 'v_proj'],
  });
  const header = strFromU8(
    (files['adapter_model.safetensors'] ?? new Uint8Array()).subarray(8, 2000),
  );
  expect(header).toContain('"base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight"');
  expect(strFromU8(files['README.md'] ?? new Uint8Array())).toMatch(
    /base_model: tiny\nlibrary_name: peft/,
  );
});

test('export and import give the same bits, whatever ranks and scales', () => {
  const matrix = (rows: number, cols: number, seed: number) => ({
    rows,
    cols,
    values: Float32Array.from({ length: rows * cols }, (_, i) => Math.sin(seed + i)),
  });
  const module = fc.record({
    inputs: fc.integer({ min: 1, max: 6 }),
    outputs: fc.integer({ min: 1, max: 6 }),
    rank: fc.integer({ min: 1, max: 4 }),
    alpha: fc.integer({ min: 1, max: 64 }),
  });
  fc.assert(
    fc.property(fc.array(module, { minLength: 1, maxLength: 5 }), (shapes) => {
      const modules: PeftModule[] = shapes.map(({ inputs, outputs, rank, alpha }, i) => ({
        name: `model.layers.${i}.self_attn.q_proj`,
        scale: alpha / rank,
        a: matrix(rank, inputs, i),
        b: matrix(outputs, rank, -i),
      }));
      expect(unzipPeft(zipPeft(modules, { name: 'm', licence: null }))).toEqual(modules);
    }),
  );
});

test('a zip without the two files, and bytes that are no zip, say so', () => {
  expect(() => unzipPeft(zipSync({ 'a.txt': new Uint8Array(1) }))).toThrow(
    /holds a\.txt; expected adapter_config/,
  );
  expect(() => unzipPeft(new Uint8Array([1, 2, 3]))).toThrow(/not a readable zip/);
});
