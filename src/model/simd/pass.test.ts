/** The pass over the kernels against the ops of layer.ts, which have references of their own. */

import { readFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { loraTargets } from '../../config.ts';
import { readGguf } from '../../formats/gguf.ts';
import { bytesSource } from '../../formats/source.ts';
import { deriveRng } from '../../math/rng.ts';
import type { AdapterData } from '../../records.ts';
import { finish } from '../../sequences.ts';
import { cacheFor } from '../cache.ts';
import { forward, logitsOf } from '../forward.ts';
import { type LlamaModel, loadLlama } from '../llama.ts';
import { runSequence } from '../llama-backward.ts';
import { projectionShape } from '../llama-config.ts';
import { Adapter, freshAdapter } from '../lora.ts';
import { distance, randomArray } from '../ops/testing.ts';
import { openHost } from '../ops/testing-node.ts';
import { cacheBitsOf, passFits } from './pass.ts';

/** Of the largest logit: what 16 bits of keys, values, queries and weights come to in two layers. */
const ROUNDED = 4e-4;

const IDS = Array.from({ length: 29 }, (_, i) => (i * 7 + 3) % 40);

async function open(name: string, keepQuantised = false): Promise<LlamaModel> {
  const path = new URL(`../../../e2e/fixtures/families/${name}.gguf`, import.meta.url);
  const source = bytesSource(new Uint8Array(readFileSync(path)), name);
  return loadLlama(await readGguf(source), source, { keepQuantised });
}

/** On every projection, and B is not zero. */
function busyAdapter({ config }: LlamaModel, rank: number): Adapter {
  const rng = deriveRng(3, 'adapter', rank);
  const shape = { rank, alpha: 16, targets: loraTargets } as const;
  const fresh = freshAdapter(shape, config.layers, (t) => projectionShape(config, t), rng);
  const modules: AdapterData['modules'] = fresh.modules.map((module) => ({
    ...module,
    bT: randomArray(rng, module.bT.length, 0.05),
  }));
  return new Adapter({ modules });
}

/** All positions' logits, the whole sequence at once, op by op. */
async function byOps(model: LlamaModel, adapter: Adapter | null): Promise<Float32Array> {
  const outputs = await finish(runSequence(model, adapter, IDS, 'output', undefined));
  const logits = tf.tidy(() => logitsOf(model, outputs[0] ?? tf.zeros([0, 0])));
  const values = (await logits.data<'float32'>()).slice();
  tf.dispose([logits, ...outputs]);
  return values;
}

/** Chunks of so many ids, each position's logits asked for or, with 'last', those of each chunk's last one. */
async function byPass(
  model: LlamaModel,
  adapter: Adapter | null,
  sizes: readonly number[],
  asked: 'all' | 'last' = 'all',
): Promise<Float32Array> {
  using cache = cacheFor(model);
  const rows: number[] = [];
  for (const size of sizes) {
    const part = IDS.slice(cache.length, cache.length + size);
    const logits = await forward(model, adapter, cache, part, { logits: asked });
    rows.push(...((await logits?.data<'float32'>()) ?? []));
    logits?.dispose();
  }
  return Float32Array.from(rows);
}

describe('the pass on wasm', () => {
  beforeAll(() => openHost('wasm'));

  it.each([
    ['tiny_llama3rope', false],
    ['tiny_qwen2', false],
    ['tiny_qwen3', false],
    ['tiny_gemma3', false],
    ['q_Q4_0', false],
    ['q_Q4_0', true],
    ['q_Q8_0', true],
    ['q_F16', true],
  ])(
    'gives the same bits in chunks of any size, those of the ops where keys are not rounded, with and without an adapter: %s, quantised: %s',
    async (name, keepQuantised) => {
      const model = await open(name, keepQuantised);
      expect(passFits(model)).toBe(true);
      const exact = cacheBitsOf(model) === 32;
      expect(exact).toBe(!keepQuantised || name === 'q_F16');
      for (const rank of [0, 3, 8]) {
        const adapter = rank === 0 ? null : busyAdapter(model, rank);
        const ops = await byOps(model, adapter);
        const expected = exact ? ops : await byPass(model, adapter, [29]);
        expect(distance(expected, ops)).toBeLessThan(ROUNDED);
        for (const sizes of [[29], [1, 2, 13, 1, 1, 11], IDS.map(() => 1)]) {
          expect(await byPass(model, adapter, sizes)).toEqual(expected);
        }
        const width = model.config.vocabulary;
        const lasts = [4, 5, 21, 28].flatMap((i) => [
          ...expected.subarray(i * width, (i + 1) * width),
        ]);
        const found = await byPass(model, adapter, [5, 1, 16, 7], 'last');
        expect(found).toEqual(Float32Array.from(lasts));
        adapter?.dispose();
      }
      model.dispose();
    },
  );

  it('makes no tensor but the logits, and gives its memory back', async () => {
    const model = await open('tiny_gemma3');
    await byPass(model, null, [29]);
    const before = { ...tf.memory() };
    for (let i = 0; i < 20; i++) await byPass(model, null, [13, 1, 15]);
    expect(tf.memory().numTensors).toBe(before.numTensors);
    expect(tf.memory().numBytes).toBe(before.numBytes);
    model.dispose();
  });
});
