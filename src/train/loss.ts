/**
 * Token-weighted cross entropy at the head, and its gradient at the last layer's output, in chunks of
 * positions. Knows nothing of layers, adapters or optimisers.
 */

import * as tf from '@tensorflow/tfjs-core';
import { LabError, throwIfAborted } from '../errors.ts';
import { logitsOf } from '../model/forward.ts';
import type { LlamaModel } from '../model/llama.ts';
import { nextMacrotask } from '../model/macrotask.ts';
import { headChunk } from '../model/memory.ts';
import {
  crossEntropy,
  crossEntropyBackward,
  klRows,
  linear,
  linearBackward,
  rmsNorm,
  rmsNormBackward,
} from '../model/ops/index.ts';

/** What the weighted sum is divided by: the sum of the weights, or the number of tokens that may be trained. */
export type Normalisation = 'weights' | 'tokens';

/** One sequence: w_j per id. 0 is context only; the first id can have no label. */
export interface WeightedIds {
  readonly ids: readonly number[];
  readonly weights: readonly number[];
  /** N of the loss, where a method gave some of the ids that may be trained no weight; absent: those with one. */
  readonly trainable?: number;
}

/** Which rows of a sequence's output predict which ids: the label at index j is predicted by row j - 1. */
export interface Targets {
  readonly rows: Int32Array; // ascending
  readonly labels: Int32Array;
  readonly weights: Float64Array;
  /** N. */
  readonly trainable: number;
}

/** The labels of a sequence. Throws `bad_input` when there is none or one cannot be predicted. */
export function targetsOf({ ids, weights, trainable }: WeightedIds): Targets {
  if (weights.length !== ids.length) {
    throw new LabError(
      'bad_input',
      `${ids.length} ids came with ${weights.length} weights; expected one weight per id.`,
    );
  }
  const wrong = weights.findIndex((w) => !(w >= 0 && Number.isFinite(w)));
  if (wrong >= 0) {
    throw new LabError(
      'bad_input',
      `The weight of token ${wrong} is ${weights[wrong]}; expected a number of at least 0.`,
    );
  }
  if ((weights[0] ?? 0) > 0) {
    throw new LabError(
      'bad_input',
      'The first id has a weight, but nothing predicts it; expected 0 there.',
    );
  }
  const at = weights.flatMap((w, j) => (w > 0 ? [j] : []));
  if (at.length === 0) {
    throw new LabError('bad_input', 'No token has a weight above 0; there is nothing to train on.');
  }
  return {
    rows: Int32Array.from(at, (j) => j - 1),
    labels: Int32Array.from(at, (j) => ids[j] ?? 0),
    weights: Float64Array.from(at, (j) => weights[j] ?? 0),
    trainable: trainable ?? at.length,
  };
}

/**
 * What the loss of a window of sequences is divided by: Σ w, or N, over all of them together. N counts the ids that may
 * be trained before any is dropped at random, so that dropping teaches as little as weighing does.
 */
export function lossDivisor(window: readonly Targets[], normalisation: Normalisation): number {
  switch (normalisation) {
    case 'weights':
      return window.reduce((sum, { weights }) => sum + weights.reduce((a, b) => a + b, 0), 0);
    case 'tokens':
      return window.reduce((sum, { trainable }) => sum + trainable, 0);
    default:
      return normalisation satisfies never;
  }
}

/** Σ w · CE over one sequence, in double. */
export function weightedSum(ce: Float32Array, { weights }: Targets): number {
  return weights.reduce((sum, w, n) => sum + w * (ce[n] ?? 0), 0);
}

/** CE in nats of each target, given the residual output x [T, width]. Borrows x. */
export async function crossEntropyAt(
  model: LlamaModel,
  x: tf.Tensor2D,
  { rows, labels }: Targets,
  signal: AbortSignal | undefined,
): Promise<Float32Array> {
  const out = new Float32Array(labels.length);
  for (const [from, to] of chunks(labels.length, headChunk(model.config.vocabulary))) {
    await nextMacrotask();
    throwIfAborted(signal);
    const ce = tf.tidy(() =>
      crossEntropy(logitsOf(model, pick(x, rows.subarray(from, to))), labels.slice(from, to)),
    );
    out.set(await dataOf(ce), from);
  }
  return out;
}

/** A KL penalty at the same rows: coefficient · Σ KL(now ‖ reference). */
export interface KlPull {
  /** The reference's residual output, [T, width]; borrowed. */
  readonly x: tf.Tensor2D;
  readonly coefficient: number;
}

/**
 * As {@link crossEntropyAt}, and the gradient of Σ coeff_n · CE_n (+ the KL penalty) at x, [T, width].
 * Borrows x; the caller owns `dx`.
 */
export async function crossEntropyGradient(
  model: LlamaModel,
  x: tf.Tensor2D,
  { rows, labels }: Targets,
  coefficients: Float32Array,
  signal: AbortSignal | undefined,
  pull: KlPull | null = null,
): Promise<{ readonly ce: Float32Array; readonly dx: tf.Tensor2D }> {
  const { rmsEpsilon, vocabulary } = model.config;
  const out = new Float32Array(labels.length);
  const parts: tf.Tensor2D[] = [];
  try {
    for (const [from, to] of chunks(labels.length, headChunk(vocabulary))) {
      await nextMacrotask();
      throwIfAborted(signal);
      const { ce, dRows } = tf.tidy(() => {
        const picked = pick(x, rows.subarray(from, to));
        const chunkLabels = labels.slice(from, to);
        const normed = rmsNorm(picked, model.outputNorm, rmsEpsilon);
        const logits = linear(normed, model.head);
        const dCe = crossEntropyBackward(logits, chunkLabels, coefficients.slice(from, to));
        const dLogits = pull
          ? tf.add<tf.Tensor2D>(
              dCe,
              klBackward(logits, logitsOf(model, pick(pull.x, rows.subarray(from, to))), pull),
            )
          : dCe;
        const dNormed = linearBackward(dLogits, model.head);
        return {
          ce: crossEntropy(logits, chunkLabels),
          dRows: rmsNormBackward(picked, model.outputNorm, rmsEpsilon, dNormed),
        };
      });
      parts.push(dRows);
      out.set(await dataOf(ce), from);
    }
    return { ce: out, dx: tf.tidy(() => spread(tf.concat(parts, 0), rows, x.shape[0])) };
  } finally {
    tf.dispose(parts);
  }
}

/** d/dp of c · KL(softmax p ‖ softmax q), row by row: c · P (log P − log Q − KL). [N, V]. */
function klBackward(
  p: tf.Tensor2D,
  q: tf.Tensor2D,
  { coefficient }: Pick<KlPull, 'coefficient'>,
): tf.Tensor2D {
  const logP = tf.logSoftmax(p, -1);
  const difference = tf.sub<tf.Tensor2D>(logP, tf.logSoftmax(q, -1));
  const probability = tf.exp(logP);
  const kl = tf.sum(tf.mul(probability, difference), 1, true);
  return tf.mul<tf.Tensor2D>(tf.mul(probability, tf.sub(difference, kl)), coefficient);
}

/**
 * Exact KL(p ‖ q) in nats at the given rows of two residual outputs [T, width], over the whole
 * vocabulary. Borrows both.
 */
export async function klAt(
  model: LlamaModel,
  p: tf.Tensor2D,
  q: tf.Tensor2D,
  rows: Int32Array,
  signal: AbortSignal | undefined,
): Promise<Float32Array> {
  const out = new Float32Array(rows.length);
  for (const [from, to] of chunks(rows.length, headChunk(model.config.vocabulary))) {
    await nextMacrotask();
    throwIfAborted(signal);
    const kl = tf.tidy(() => {
      const at = rows.subarray(from, to);
      return klRows(logitsOf(model, pick(p, at)), logitsOf(model, pick(q, at)));
    });
    out.set(await dataOf(kl), from);
  }
  return out;
}

/** Whole numbers below `length` in ranges [from, to) of at most `size`. */
export function* chunks(length: number, size: number): Generator<readonly [number, number]> {
  for (let from = 0; from < length; from += size) yield [from, Math.min(from + size, length)];
}

/** Rows of x by ascending index, as slices of runs: gather's own index tensor would need an upload. */
export function pick(x: tf.Tensor2D, rows: Int32Array): tf.Tensor2D {
  const runs = runsOf(rows).map(({ row, length }) => tf.slice(x, [row, 0], [length, x.shape[1]]));
  return tf.concat(runs, 0);
}

/** The inverse of {@link pick}: [rows, width] into a zero [length, width]. */
function spread(d: tf.Tensor2D, rows: Int32Array, length: number): tf.Tensor2D {
  const width = d.shape[1];
  const parts: tf.Tensor2D[] = [];
  let at = 0;
  const zeros = (to: number) => {
    if (to > at) parts.push(tf.zeros<tf.Rank.R2>([to - at, width]));
  };
  for (const { row, from, length: count } of runsOf(rows)) {
    zeros(row);
    parts.push(tf.slice(d, [from, 0], [count, width]));
    at = row + count;
  }
  zeros(length);
  return tf.concat(parts, 0);
}

interface Run {
  /** First row of the run, and how many follow each other. */
  readonly row: number;
  readonly length: number;
  /** Its place in the list of rows. */
  readonly from: number;
}

function runsOf(rows: Int32Array): Run[] {
  const runs: Run[] = [];
  for (let from = 0; from < rows.length; ) {
    const row = rows[from] ?? 0;
    let length = 1;
    while (rows[from + length] === row + length) length++;
    runs.push({ row, length, from });
    from += length;
  }
  return runs;
}

/** Reads a small result and frees it. */
export async function dataOf(tensor: tf.Tensor1D): Promise<Float32Array> {
  try {
    return (await tensor.data<'float32'>()).slice();
  } finally {
    tensor.dispose();
  }
}
