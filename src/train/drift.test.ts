/** Per-token drift on the tiny model. Expected numbers come from transformers and PEFT. */

import { readFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readGguf } from '../formats/gguf.ts';
import { bytesSource } from '../formats/source.ts';
import { openBackend } from '../model/device.ts';
import { type LlamaModel, loadLlama } from '../model/llama.ts';
import { Adapter } from '../model/lora.ts';
import { nodeWasmPaths } from '../model/wasm-paths-node.ts';
import { rowDrift } from './drift.ts';
import { targetsOf } from './loss.ts';
import { caseStart, readTrainingCase, sequenceOf } from './training-case.ts';

const fixture = (path: string) =>
  readFileSync(new URL(`../../e2e/fixtures/engine/${path}`, import.meta.url));
const { visible_all_modules: visible } = JSON.parse(fixture('tiny_training.json').toString('utf8'));
const logits: { readonly ids: number[]; readonly logits_base: number[][] } = JSON.parse(
  fixture('tiny_logits.json').toString('utf8'),
);
const training = readTrainingCase(visible);
let model: LlamaModel;

beforeAll(async () => {
  await openBackend('wasm', { wasmPaths: nodeWasmPaths(import.meta.url) });
  const source = bytesSource(new Uint8Array(fixture('tiny.gguf')), 'tiny.gguf');
  model = await loadLlama(await readGguf(source), source);
});
afterAll(() => model.dispose());

/** B is zero: the policy is the base. */
const base = () => new Adapter(caseStart(model, { ...training, init: { b_scale: 0 } }));

it("has PEFT's KL as its mean over the trained positions", async () => {
  const sequence = sequenceOf(training);
  using adapter = new Adapter(caseStart(model, training));
  using start = base();
  const { kl } = await rowDrift(model, adapter, start, sequence.ids, targetsOf(sequence).rows, 0);
  const mean = kl.reduce((sum, value) => sum + value, 0) / kl.length;
  expect(Math.abs(mean / visible.kl_adapter_base_before - 1)).toBeLessThan(1e-3);
});

it.each(['q_Q4_0', 'q_Q8_0'])(
  'measures with the quantised weights of %s what it does with the same ones in float32, bit for bit',
  async (name) => {
    const bytes = readFileSync(
      new URL(`../../e2e/fixtures/families/${name}.gguf`, import.meta.url),
    );
    const source = bytesSource(new Uint8Array(bytes), name);
    const drifts: Float32Array[] = [];
    for (const keepQuantised of [true, false]) {
      const each = await loadLlama(await readGguf(source), source, { keepQuantised });
      using now = new Adapter(caseStart(each, { ...training, init: { b_scale: 0.01 } }));
      using start = new Adapter(caseStart(each, { ...training, init: { b_scale: 0 } }));
      const { ids } = sequenceOf(training);
      const rows = Int32Array.from(ids.keys());
      drifts.push((await rowDrift(each, now, start, ids, rows, 0)).kl);
      each.dispose();
    }
    const [found, wanted] = drifts;
    expect(Math.max(...(wanted ?? []))).toBeGreaterThan(1e-5);
    expect(found).toEqual(wanted);
  },
);

it("has the entropy and the likeliest tokens of transformers' logits", async () => {
  using now = base();
  using start = base();
  const rows = Int32Array.from(logits.ids, (_, row) => row);
  const before = tf.memory().numTensors;
  const drift = await rowDrift(model, now, start, logits.ids, rows, 3);
  expect(tf.memory().numTensors).toBe(before);
  expect(Math.max(...drift.kl)).toBeLessThan(1e-6);
  logits.logits_base.forEach((row, n) => {
    const total = Math.log(row.reduce((sum, z) => sum + Math.exp(z), 0));
    const entropy = -row.reduce((sum, z) => sum + Math.exp(z - total) * (z - total), 0);
    expect(drift.entropy[n]).toBeCloseTo(entropy, 3);
    const sorted = row.map((z, id) => ({ id, logprob: z - total }));
    sorted.sort((a, b) => b.logprob - a.logprob);
    expect(drift.likeliest[n]?.map(({ id }) => id)).toEqual(sorted.slice(0, 3).map(({ id }) => id));
    expect(drift.likeliest[n]?.[0]?.logprob).toBeCloseTo(sorted[0]?.logprob ?? 0, 3);
  });
});
