import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type LoraTarget, loraTargets } from '../config.ts';
import { readGguf } from '../formats/gguf.ts';
import { readPeft } from '../formats/peft.ts';
import { dequantize } from '../formats/quants.ts';
import { bytesSource } from '../formats/source.ts';
import { PROJECTION_TENSORS } from './llama-config.ts';
import { fromHf, type HfModule, hfModuleName, parseHfModuleName, toHf } from './lora-hf.ts';

const fixture = (path: string) =>
  new Uint8Array(readFileSync(new URL(`../../e2e/fixtures/adapters/${path}`, import.meta.url)));

/** A module whose B holds its own row number in every column. */
function numbered(target: LoraTarget, rows: number): HfModule {
  const rank = 2;
  return {
    layer: 0,
    target,
    name: hfModuleName(0, target),
    scale: 1,
    a: { rows: rank, cols: 3, values: Float32Array.of(1, 2, 3, 4, 5, 6) },
    b: {
      rows,
      cols: rank,
      values: Float32Array.from({ length: rows * rank }, (_, i) => Math.floor(i / rank)),
    },
  };
}

test('two heads of 4: GGUF holds the HF rows 0 2 1 3, then 4 6 5 7', () => {
  const [module] = fromHf([numbered('q_proj', 8)], {
    headDim: 4,
    ropeStyle: 'interleaved',
  }).modules;
  expect([...(module?.bT.slice(0, 8) ?? [])]).toEqual([0, 2, 1, 3, 4, 6, 5, 7]);
  expect([...(module?.aT ?? [])]).toEqual([1, 4, 2, 5, 3, 6]);
});

test('only q and k of the interleaved families are reordered', () => {
  for (const target of loraTargets) {
    const order = { headDim: 4, ropeStyle: 'interleaved' } as const;
    const [module] = fromHf([numbered(target, 4)], order).modules;
    const turned = target === 'q_proj' || target === 'k_proj';
    expect([...(module?.bT.slice(0, 4) ?? [])]).toEqual(turned ? [0, 2, 1, 3] : [0, 1, 2, 3]);
  }
  const [module] = fromHf([numbered('q_proj', 4)], { headDim: 4, ropeStyle: 'halves' }).modules;
  expect([...(module?.bT.slice(0, 4) ?? [])]).toEqual([0, 1, 2, 3]);
});

test("an adapter in HF order has the rows of llama.cpp's GGUF of the same adapter (B19)", async () => {
  const gguf = fixture('tiny_lora_rslora.gguf');
  const { tensors } = await readGguf(bytesSource(gguf, 'tiny_lora_rslora.gguf'));
  const values = (name: string) => {
    const tensor = tensors.find((t) => t.name === name);
    if (tensor === undefined) throw new Error(`no ${name}`);
    const out = new Float32Array(tensor.rows * tensor.cols);
    dequantize(tensor.type, gguf.subarray(tensor.offset, tensor.offset + tensor.bytes), out);
    return out;
  };
  const config = new TextDecoder().decode(fixture('ad_rslora/adapter_config.json'));
  const peft = await readPeft(config, fixture('ad_rslora/adapter_model.safetensors'));
  const modules = peft.flatMap((module) => {
    const place = parseHfModuleName(module.name);
    return place === null ? [] : [{ ...module, ...place }];
  });
  const adapter = fromHf(modules, { headDim: 4, ropeStyle: 'interleaved' });
  expect(adapter.modules.length).toBe(8);
  for (const { layer, target, rank, outputs, inputs, aT, bT } of adapter.modules) {
    const base = `blk.${layer}.${PROJECTION_TENSORS[target]}.weight`;
    const a = values(`${base}.lora_a`); // [r, in]
    const b = values(`${base}.lora_b`); // [out, r]
    expect([...aT]).toEqual(
      Array.from(
        { length: inputs * rank },
        (_, i) => a[(i % rank) * inputs + Math.floor(i / rank)],
      ),
    );
    expect([...bT]).toEqual(
      Array.from(
        { length: rank * outputs },
        (_, i) => b[(i % outputs) * rank + Math.floor(i / outputs)],
      ),
    );
  }
});

test('to HF order and back gives the same bits', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...loraTargets),
      fc.constantFrom('interleaved', 'halves'),
      fc.constantFrom(2, 4, 6, 64),
      fc.integer({ min: 1, max: 4 }),
      (target, ropeStyle, headDim, heads) => {
        const order = { headDim, ropeStyle };
        const there = fromHf([numbered(target, headDim * heads)], order);
        expect(toHf(there, order)).toEqual([numbered(target, headDim * heads)]);
      },
    ),
  );
});

test('a name is read back to its place, and other names to none', () => {
  for (const target of loraTargets) {
    expect(parseHfModuleName(hfModuleName(11, target))).toEqual({ layer: 11, target });
  }
  expect(hfModuleName(3, 'o_proj')).toBe('model.layers.3.self_attn.o_proj');
  expect(hfModuleName(3, 'up_proj')).toBe('model.layers.3.mlp.up_proj');
  expect(parseHfModuleName('model.layers.0.mlp.q_proj')).toBeNull();
  expect(parseHfModuleName('lm_head')).toBeNull();
});
