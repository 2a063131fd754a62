/**
 * llama.cpp itself (wllama, its build for browsers) as the judge: it loads our GGUF LoRA on the bundled
 * policy and must write, token for token, what this engine writes.
 */

import wasmPlain from '@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm.wasm?url';
import wasmSimd from '@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm?url';
import wasmThreaded from '@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-threaded-simd.wasm?url';
import { LoggerWithoutDebug, Wllama } from '@wllama/wllama/esm/index.js';
import wllamaWasm from '@wllama/wllama/esm/wasm/wllama.wasm?url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loraTargets } from '../config.ts';
import { readGguf } from '../formats/gguf.ts';
import { bytesSource } from '../formats/source.ts';
import { deriveRng } from '../math/rng.ts';
import type { AdapterData } from '../records.ts';
import { finish } from '../sequences.ts';
import { bundledModelUrl } from '../store/models.ts';
import { createTokenizer, type Tokenizer } from '../text/tokenizer.ts';
import { openAdapter, saveAdapter } from './adapter-file.ts';
import { cacheFor } from './cache.ts';
import { openBackend } from './device.ts';
import { generate } from './generate.ts';
import { type LlamaModel, loadLlama } from './llama.ts';
import { projectionShape } from './llama-config.ts';
import { Adapter } from './lora.ts';
import { GREEDY } from './sampler.ts';

/**
 * As many as are decided by more than 0.25 in the logits: llama.cpp multiplies Q8_0 weights with 8-bit
 * activations, so nearer ties may fall either way.
 */
const TOKENS = 7;
/** Text that is not in the policy's form, so that an adapter easily makes it write something else. */
const ODD = 'You are in the middle of a room. Your task is to: put a mug in desk.';
/** Text in its form, after which the base alone is sure enough. */
const FORMED = [
  'Task: put a mug in desk.',
  'You are in the middle of a room. Looking quickly around you, you see a bed 1, a desk 1, and a shelf 1.',
  'Thought:',
].join('\n');

let policy: Uint8Array<ArrayBuffer>;
let model: LlamaModel;
let tokenizer: Tokenizer;

beforeAll(async () => {
  const wasmPaths = {
    'tfjs-backend-wasm.wasm': wasmPlain,
    'tfjs-backend-wasm-simd.wasm': wasmSimd,
    'tfjs-backend-wasm-threaded-simd.wasm': wasmThreaded,
  };
  await openBackend('wasm', { wasmPaths });
  const response = await fetch(bundledModelUrl('household', location.origin));
  policy = new Uint8Array(await response.arrayBuffer());
  const source = bytesSource(policy, 'policy');
  const gguf = await readGguf(source);
  model = await loadLlama(gguf, source, { contextLength: 512 });
  tokenizer = createTokenizer(gguf.metadata);
});
afterAll(() => model?.dispose());

/**
 * Every projection adapted, at ranks and scales that differ by target: alphas 8, 12 and 3 beside 16, a rank-stabilised
 * one, 4 / √3, which no alpha in float32 gives, and in one layer a scale of 0, which stands for "none" in llama.cpp.
 * Strong enough that it writes another text than the base, and than itself with one alpha for all.
 */
function madeAdapter(): AdapterData {
  const rng = deriveRng(7, 'llama.cpp');
  const random = (length: number, size: number) =>
    Float32Array.from({ length }, () => size * (2 * rng.next() - 1));
  const strengths = [
    { rank: 8, own: 16 / 8 },
    { rank: 4, own: 8 / 4 },
    { rank: 8, own: 12 / 8 },
    { rank: 2, own: 3 / 2 },
    { rank: 3, own: 4 / Math.sqrt(3) },
  ];
  const modules = Array.from({ length: model.config.layers }, (_, layer) =>
    loraTargets.map((target, i) => {
      const { inputs, outputs } = projectionShape(model.config, target);
      const { rank, own } = strengths[i % strengths.length] ?? { rank: 8, own: 2 };
      const silent = layer === 0 && target === 'v_proj';
      const [aT, bT] = [random(inputs * rank, 0.07), random(rank * outputs, silent ? 4 : 0.4)];
      const scale = silent ? 0 : own;
      return { layer, target, inputs, outputs, rank, scale, aT, bT };
    }),
  );
  return { modules: modules.flat() };
}

interface Written {
  readonly text: string;
  /** An end token included. */
  readonly tokens: number;
}

async function ours(data: AdapterData | null, text = ODD): Promise<Written> {
  using cache = cacheFor(model);
  using adapter = data && new Adapter(data);
  const options = { sampling: GREEDY, maxTokens: TOKENS };
  const ids = tokenizer.encode(text, { special: false });
  const rng = deriveRng(1, 'unused');
  const written = await finish(generate(model, tokenizer, adapter, cache, ids, rng, options));
  return { text: written.text, tokens: written.ids.length };
}

async function theirs(lora: Uint8Array | null, text = ODD): Promise<Written> {
  const wllama = new Wllama({ default: wllamaWasm }, { logger: LoggerWithoutDebug });
  const files = [policy, ...(lora ? [Uint8Array.from(lora)] : [])];
  try {
    await wllama.loadModel(
      files.map((bytes) => new Blob([bytes])),
      {
        // Float32 keys and values, as this engine's.
        ...{ n_ctx: 512, n_threads: 1, n_gpu_layers: 0, cache_type_k: 'f32', cache_type_v: 'f32' },
        // wllama names the files it is given by their order.
        lora_adapters: lora ? [{ path: 'models/model-00002-of-00002.gguf' }] : [],
      },
    );
    const { choices, usage } = await wllama.createCompletion({
      prompt: text,
      ...{ max_tokens: TOKENS, temperature: 0 },
    });
    expect(usage.prompt_tokens).toBe(tokenizer.encode(text, { special: false }).length);
    return { text: choices[0]?.text ?? '', tokens: usage.completion_tokens };
  } finally {
    await wllama.exit();
  }
}

test('llama.cpp writes the same greedy tokens with our GGUF LoRA, and other ones without', async () => {
  const adapter = madeAdapter();
  const card = { name: 'household', licence: null };
  const lora = saveAdapter(adapter, 'gguf', 'F32', model.config, card);
  expect(new TextDecoder('latin1').decode(lora)).toContain('attt.lora.scales');
  const mine = await ours(adapter);
  expect(await theirs(lora)).toEqual(mine);
  expect(await theirs(null, FORMED)).toEqual(await ours(null, FORMED));
  expect(await ours(null)).not.toEqual(mine);
  const unfolded = adapter.modules.map((module) => ({ ...module, scale: 16 / module.rank }));
  expect(await ours({ modules: unfolded })).not.toEqual(mine);
  const heard = adapter.modules.map((module) => ({ ...module, scale: module.scale || 1 }));
  expect(await ours({ modules: heard })).not.toEqual(mine);
  const back = await openAdapter([bytesSource(lora, 'lora.gguf')], model.config);
  expect(back).toEqual(adapter);
  expect(await ours(back)).toEqual(mine);
});
