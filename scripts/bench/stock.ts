/**
 * The same llama model in tfjs's own ops over decoded float32 weights, as a contestant: what a page gets
 * from tfjs without kernels of its own. Family llama only; trains nothing.
 */

import * as tf from '@tensorflow/tfjs-core';
import type { LoraTarget } from '../../src/config.ts';
import { readGguf } from '../../src/formats/gguf.ts';
import { dequantize } from '../../src/formats/quants.ts';
import type { ByteSource } from '../../src/formats/source.ts';
import type { OpenBackend } from '../../src/model/device.ts';
import { PROJECTION_TENSORS, readLlamaConfig } from '../../src/model/llama-config.ts';
import { attentionReference } from '../../src/model/ops/attention.ts';
import { linearReference } from '../../src/model/ops/linear.ts';
import { rmsNormReference } from '../../src/model/ops/rms-norm.ts';
import { makeRopeTable, ropeReference } from '../../src/model/ops/rope.ts';
import { swigluReference } from '../../src/model/ops/swiglu.ts';
import type { Contestant } from './contestant.ts';
import { countDispatches } from './dispatches.ts';
import { promptIds } from './engine.ts';

/** Positions read together, as in the engine. */
const CHUNK = 64;

type Rows = { k: tf.Tensor2D; v: tf.Tensor2D };

export async function stockContestant(
  backend: OpenBackend,
  source: ByteSource,
): Promise<Contestant> {
  const counted = countDispatches();
  const gguf = await readGguf(source);
  const config = readLlamaConfig(gguf, 2048);
  const weights = new Map<string, tf.Tensor2D>();
  for (const { name, type, rows, cols, offset, bytes } of gguf.tensors) {
    const values = new Float32Array(rows * cols);
    dequantize(type, await source.read(offset, bytes), values);
    weights.set(name, tf.keep(tf.tensor2d(values, [rows, cols])));
  }
  const weight = (name: string): tf.Tensor2D => {
    const found = weights.get(`${name}.weight`);
    if (found === undefined) throw new Error(`The file has no ${name}.weight.`);
    return found;
  };
  const { headDim, ropeStyle: style, ropeBase: base, contextLength: context } = config;
  const rope = makeRopeTable({ headDim, style, context, base });
  const { heads, kvHeads, layers, rmsEpsilon } = config;
  const span = { heads, kvHeads, headDim, scale: 1 / Math.sqrt(headDim) };
  const norm = (x: tf.Tensor2D, name: string) =>
    rmsNormReference(x, tf.reshape<tf.Rank.R1>(weight(name), [-1]), rmsEpsilon);

  const layer = (x: tf.Tensor2D, index: number, cache: Rows[], start: number): tf.Tensor2D => {
    const at = (part: string) => `blk.${index}.${part}`;
    const project = (input: tf.Tensor2D, target: LoraTarget) =>
      linearReference(input, weight(at(PROJECTION_TENSORS[target])));
    const normed = norm(x, at('attn_norm'));
    const q = ropeReference(project(normed, 'q_proj'), rope, start);
    const k = ropeReference(project(normed, 'k_proj'), rope, start);
    const v = project(normed, 'v_proj');
    const old = cache[index];
    const rows = old ? { k: tf.concat([old.k, k]), v: tf.concat([old.v, v]) } : { k, v };
    cache[index] = { k: tf.keep(rows.k.clone()), v: tf.keep(rows.v.clone()) };
    if (old) tf.dispose([old.k, old.v]);
    const length = start + x.shape[0];
    const mixed = attentionReference(q, rows.k, rows.v, { ...span, start, length });
    const middle = tf.add<tf.Tensor2D>(x, project(mixed, 'o_proj'));
    const inner = norm(middle, at('ffn_norm'));
    const gated = swigluReference(project(inner, 'gate_proj'), project(inner, 'up_proj'));
    return tf.add<tf.Tensor2D>(middle, project(gated, 'down_proj'));
  };
  const step = async (ids: readonly number[], cache: Rows[], start: number): Promise<number> => {
    let next = 0;
    for (let from = 0; from < ids.length; from += CHUNK) {
      const best = tf.tidy(() => {
        const chunk = tf.tensor1d(ids.slice(from, from + CHUNK), 'int32');
        let x: tf.Tensor2D = tf.gather(weight('token_embd'), chunk);
        for (let i = 0; i < layers; i++) x = layer(x, i, cache, start + from);
        const last = norm(tf.slice(x, [x.shape[0] - 1, 0]), 'output_norm');
        return tf.argMax(linearReference(last, weight(config.tied ? 'token_embd' : 'output')), 1);
      });
      [next = 0] = await best.data();
      best.dispose();
    }
    return next;
  };

  return {
    device: `stock tfjs ops, ${backend.name}: ${backend.device}`,
    measure: async (work) => {
      const cache: Rows[] = [];
      const begun = performance.now();
      let next = await step(promptIds(work.prompt, config.vocabulary), cache, 0);
      const read = performance.now();
      const before = counted();
      for (let i = 0; i < work.decode; i++) next = await step([next], cache, work.prompt + i);
      const decoded = performance.now();
      const after = counted();
      for (const { k, v } of cache) tf.dispose([k, v]);
      const gpu = backend.ledger !== null;
      return {
        prefillPerSecond: (1000 * work.prompt) / (read - begun),
        decodePerSecond: (1000 * work.decode) / (decoded - read),
        updateSeconds: null,
        firstStepSeconds: null,
        lastStepSeconds: null,
        dispatchesPerToken: gpu ? (after.dispatches - before.dispatches) / work.decode : null,
        submitsPerToken: gpu ? (after.submits - before.submits) / work.decode : null,
        memoryBytes: backend.ledger?.live.bytes ?? tf.memory().numBytes,
        leastBytesPerToken: null,
      };
    },
  };
}
