/**
 * How far an update has moved the policy at each trained position, and what it would say there now.
 * Knows nothing of limits: what happens with the numbers is the boundary's.
 */

import * as tf from '@tensorflow/tfjs-core';
import { throwIfAborted } from '../errors.ts';
import { withExactProducts } from '../model/exact.ts';
import { logitsOf } from '../model/forward.ts';
import type { LlamaModel } from '../model/llama.ts';
import { runSequence } from '../model/llama-backward.ts';
import type { Adapter } from '../model/lora.ts';
import { nextMacrotask } from '../model/macrotask.ts';
import { headChunk } from '../model/memory.ts';
import { klRows } from '../model/ops/index.ts';
import { finish } from '../sequences.ts';
import { chunks, dataOf, pick } from './loss.ts';

/** One of the likeliest next tokens. */
export interface LikelyId {
  readonly id: number;
  /** Nats, under the raw logits. */
  readonly logprob: number;
}

/** One value per row. */
export interface RowDrift {
  /** Exact KL(now ‖ start) over the whole vocabulary, nats. */
  readonly kl: Float32Array;
  /** Entropy of the policy now, nats. */
  readonly entropy: Float32Array;
  /** The likeliest tokens now, the likeliest first; empty lists where none were asked for. */
  readonly likeliest: readonly (readonly LikelyId[])[];
}

/**
 * The next-token distributions after ids[0 … row], for every row, under two adapters. Two forward
 * passes, whose products do not round; the entropy comes with them: H(p) = ln V − KL(p ‖ uniform). Example: p = [¼, ¾] has
 * ln 2 − KL = 0.6931 − 0.1308 = 0.5623.
 */
export async function rowDrift(
  rounding: LlamaModel,
  now: Adapter,
  start: Adapter,
  ids: readonly number[],
  rows: Int32Array,
  alternatives: number,
  signal?: AbortSignal,
): Promise<RowDrift> {
  const model = withExactProducts(rounding);
  const { vocabulary } = model.config;
  const used = ids.slice(0, (rows.at(-1) ?? 0) + 1);
  const top = Math.min(alternatives, vocabulary);
  const kl = new Float32Array(rows.length);
  const entropy = new Float32Array(rows.length);
  const likeliest: LikelyId[][] = [];
  const outputs: tf.Tensor2D[] = [];
  try {
    for (const adapter of [now, start]) {
      outputs.push(...(await finish(runSequence(model, adapter, used, 'output', signal))));
    }
    const [xNow, xStart] = outputs;
    if (!xNow || !xStart) return { kl, entropy, likeliest };
    for (const [from, to] of chunks(rows.length, headChunk(vocabulary))) {
      await nextMacrotask();
      throwIfAborted(signal);
      const at = rows.subarray(from, to);
      const logits = tf.tidy(() => logitsOf(model, pick(xNow, at)));
      try {
        const drift = tf.tidy(() => klRows(logits, logitsOf(model, pick(xStart, at))));
        kl.set(await dataOf(drift), from);
        const toUniform = await dataOf(tf.tidy(() => klRows(logits, tf.zerosLike(logits))));
        entropy.set(
          toUniform.map((value) => Math.log(vocabulary) - value),
          from,
        );
        likeliest.push(...(await likeliestOf(logits, top)));
      } finally {
        logits.dispose();
      }
    }
    return { kl, entropy, likeliest };
  } finally {
    tf.dispose(outputs);
  }
}

/** The `top` largest logits of each row with their log-probabilities. Borrows the logits. */
async function likeliestOf(logits: tf.Tensor2D, top: number): Promise<LikelyId[][]> {
  const [rows] = logits.shape;
  if (top === 0) return Array.from({ length: rows }, () => []);
  const { values, indices } = tf.topk(logits, top);
  const totals = tf.logSumExp<tf.Tensor1D>(logits, -1);
  try {
    const [z, ids, total] = [await values.data(), await indices.data(), await totals.data()];
    return Array.from({ length: rows }, (_, n) =>
      Array.from({ length: top }, (__, k) => ({
        id: ids[n * top + k] ?? 0,
        logprob: (z[n * top + k] ?? 0) - (total[n] ?? 0),
      })),
    );
  } finally {
    tf.dispose([values, indices, totals]);
  }
}
