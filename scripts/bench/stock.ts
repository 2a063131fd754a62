/**
 * The same llama model in tfjs's own ops over decoded float32 weights, as a contestant: what a page gets
 * from tfjs without kernels of its own. Family llama only; trains q and v by tfjs's own gradients.
 */

import '@tensorflow/tfjs-core/dist/register_all_gradients';

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
import { type Contestant, UNKNOWN } from './contestant.ts';
import { countDispatches } from './dispatches.ts';
import { promptIds } from './engine.ts';
import { memoryOf } from './memory.ts';

/** Positions read together, as in the engine. */
const CHUNK = 64;

/** Low-rank terms by layer and projection, both as tfjs multiplies them. */
type Lora = Map<
  string,
  { readonly a: tf.Variable<tf.Rank.R2>; readonly b: tf.Variable<tf.Rank.R2> }
>;

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
  const head = weight(config.tied ? 'token_embd' : 'output');
  const norm = (x: tf.Tensor2D, name: string) =>
    rmsNormReference(x, tf.reshape<tf.Rank.R1>(weight(name), [-1]), rmsEpsilon);

  /** `cache` null: the keys and values are used once, as in training; `lora` adds its term. */
  const layer = (
    x: tf.Tensor2D,
    index: number,
    cache: Rows[] | null,
    start: number,
    lora?: Lora,
  ): tf.Tensor2D => {
    const at = (part: string) => `blk.${index}.${part}`;
    const project = (input: tf.Tensor2D, target: LoraTarget) => {
      const y = linearReference(input, weight(at(PROJECTION_TENSORS[target])));
      const term = lora?.get(`${index}.${target}`);
      if (term === undefined) return y;
      return tf.add<tf.Tensor2D>(y, tf.mul(2, tf.matMul(tf.matMul(input, term.a), term.b)));
    };
    const normed = norm(x, at('attn_norm'));
    const q = ropeReference(project(normed, 'q_proj'), rope, start);
    const k = ropeReference(project(normed, 'k_proj'), rope, start);
    const v = project(normed, 'v_proj');
    const old = cache?.[index];
    const rows = old ? { k: tf.concat([old.k, k]), v: tf.concat([old.v, v]) } : { k, v };
    if (cache) cache[index] = { k: tf.keep(rows.k.clone()), v: tf.keep(rows.v.clone()) };
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
        return tf.argMax(linearReference(last, head), 1);
      });
      [next = 0] = await best.data();
      best.dispose();
    }
    return next;
  };

  /** Seconds of one update: two Adam steps, r 8 on q and v, as the engine's. */
  const update = async (count: number): Promise<number> => {
    const ids = promptIds(count, config.vocabulary);
    const lora: Lora = new Map();
    for (let i = 0; i < layers; i++) {
      for (const target of ['q_proj', 'v_proj'] as const) {
        const [outputs = 0, inputs = 0] = weight(`blk.${i}.${PROJECTION_TENSORS[target]}`).shape;
        const a = tf.variable(tf.randomNormal<tf.Rank.R2>([inputs, 8], 0, 0.05));
        lora.set(`${i}.${target}`, { a, b: tf.variable(tf.zeros<tf.Rank.R2>([8, outputs])) });
      }
    }
    const variables = [...lora.values()].flatMap(({ a, b }) => [a, b]);
    const adam = tf.train.adam(1e-4, 0.9, 0.999, 1e-8);
    const begun = performance.now();
    for (let gradientStep = 0; gradientStep < 2; gradientStep++) {
      const loss = adam.minimize(
        () => {
          let x: tf.Tensor2D = tf.gather(weight('token_embd'), tf.tensor1d(ids, 'int32'));
          for (let i = 0; i < layers; i++) x = layer(x, i, null, 0, lora);
          const before = norm(tf.slice(x, [0, 0], [count - 1, -1]), 'output_norm');
          const labels = tf.oneHot(tf.tensor1d(ids.slice(1), 'int32'), config.vocabulary);
          return tf.losses.softmaxCrossEntropy(labels, linearReference(before, head));
        },
        true,
        variables,
      );
      await loss?.data();
      loss?.dispose();
    }
    const seconds = (performance.now() - begun) / 1000;
    adam.dispose();
    tf.dispose(variables);
    return seconds;
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
        ...UNKNOWN,
        prefillPerSecond: (1000 * work.prompt) / (read - begun),
        decodePerSecond: (1000 * work.decode) / (decoded - read),
        updateSeconds: work.train === 0 ? null : await update(work.train),
        dispatchesPerToken: gpu ? (after.dispatches - before.dispatches) / work.decode : null,
        submitsPerToken: gpu ? (after.submits - before.submits) / work.decode : null,
        ...memoryOf(backend),
      };
    },
  };
}
