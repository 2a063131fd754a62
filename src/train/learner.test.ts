/** KL at the prompt, read on from the conversation's cache, against the KL of whole sequences. */

import { readFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, expect, it } from 'vitest';
import { defaultSettings, type LoraTarget } from '../config.ts';
import { readGguf } from '../formats/gguf.ts';
import { bytesSource } from '../formats/source.ts';
import { deriveRng } from '../math/rng.ts';
import { cacheFor } from '../model/cache.ts';
import { logitsAfter } from '../model/forward.ts';
import { type LlamaModel, loadLlama } from '../model/llama.ts';
import { runSequence } from '../model/llama-backward.ts';
import { projectionShape } from '../model/llama-config.ts';
import { Adapter, freshAdapter } from '../model/lora.ts';
import { klRows } from '../model/ops/index.ts';
import { openHost } from '../model/ops/testing-node.ts';
import { finish } from '../sequences.ts';
import { createTokenizer } from '../text/tokenizer.ts';
import { LoraLearner } from './learner.ts';
import { dataOf, klAt } from './loss.ts';

const SHAPE = { rank: 4, alpha: 8, targets: ['q_proj', 'v_proj'] } as const;

beforeAll(() => openHost('wasm'));

async function setUp() {
  const path = new URL('../../models/household-2m/household-2m-q8_0.gguf', import.meta.url);
  const source = bytesSource(new Uint8Array(readFileSync(path)), 'household-2m');
  const gguf = await readGguf(source);
  const model = await loadLlama(gguf, source, { contextLength: 64 });
  const { config } = model;
  const shapeOf = (target: LoraTarget) => projectionShape(config, target);
  const start = freshAdapter(SHAPE, config.layers, shapeOf, deriveRng(5));
  const conversation = cacheFor(model);
  const learner = new LoraLearner(model, createTokenizer(gguf.metadata), start, conversation);
  return { model, start, conversation, learner };
}

const idsOf = (length: number) => Array.from({ length }, (_, i) => (i * 37 + 11) % 1000);

/** KL at the last of the ids, each adapter's pass over all of them at once, with the products that play. */
async function wholeKl(
  model: LlamaModel,
  adapters: readonly [Adapter, Adapter],
  ids: readonly number[],
): Promise<number> {
  const outputs: tf.Tensor2D[] = [];
  for (const adapter of adapters) {
    outputs.push(...(await finish(runSequence(model, adapter, ids, 'output', undefined))));
  }
  const [p, q] = outputs;
  if (!p || !q) throw new Error('no outputs');
  const [kl = Number.NaN] = await klAt(model, p, q, Int32Array.of(ids.length - 1), undefined);
  tf.dispose(outputs);
  return kl;
}

/** The same, each adapter's pass through a new cache. */
async function newlyCachedKl(
  model: LlamaModel,
  adapters: readonly [Adapter, Adapter],
  ids: readonly number[],
): Promise<number> {
  const [now, start] = adapters;
  using cache = cacheFor(model);
  using other = cacheFor(model);
  const p = await logitsAfter(model, now, cache, ids);
  const q = await logitsAfter(model, start, other, ids);
  const [kl = Number.NaN] = await dataOf(tf.tidy(() => klRows(p, q)));
  tf.dispose([p, q]);
  return kl;
}

it('KL at a prompt is that of the whole sequence, and leaves its keys for the next step', async () => {
  const { model, start, conversation, learner } = await setUp();
  const { signal } = new AbortController();
  const ids = idsOf(20);
  const weights = ids.map((_, i) => (i === 0 ? 0 : 1));
  const settings = { ...defaultSettings, learning_rate: 0.02 };
  using reference = new Adapter(start);
  for (const length of [21, 40, 64, 80]) {
    await learner.train([{ context: [], ids, weights }], settings, signal, () => {});
    const found = await learner.klAtPrompt(idsOf(length), signal);
    // Of what exceeds the context, its tail.
    const read = idsOf(length).slice(-64);
    const whole = await wholeKl(model, [learner.adapter, reference], read);
    expect(whole).toBeGreaterThan(1e-3);
    // A conversation's keys and values are rounded to 16 bits, those of a whole sequence are not.
    expect(Math.abs(found - whole)).toBeLessThan(1e-3 * whole);
    expect(found).toBe(await newlyCachedKl(model, [learner.adapter, reference], read));
    expect(conversation.ids).toEqual(read);
  }
  learner.dispose();
  conversation.dispose();
  model.dispose();
});

it('KL at a prompt makes no tensor that outlives it but the second cache', async () => {
  const before = tf.memory().numTensors;
  const { model, conversation, learner } = await setUp();
  await learner.klAtPrompt(idsOf(20), new AbortController().signal);
  learner.dispose();
  conversation.dispose();
  model.dispose();
  expect(tf.memory().numTensors).toBe(before);
});
