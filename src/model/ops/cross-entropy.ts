/**
 * Cross entropy of one label a row, in nats, and its gradient.
 * ce_n = log Σ_v exp(z_nv) - z_n,label. Example: z = [0, 0], label 1 gives log 2 = 0.6931.
 */

import * as tf from '@tensorflow/tfjs-core';
import { LabError } from '../../errors.ts';
import { dims, idsBelow, sameShape } from './check.ts';
import { allocate1D, allocate2D, view } from './host.ts';

/** logits [N, V], labels [N] -> [N] in nats. Borrows its inputs, returns owned. */
export function crossEntropy(logits: tf.Tensor2D, labels: Int32Array): tf.Tensor1D {
  const { rows, cols } = dims(logits);
  sameShape('crossEntropy labels', [labels.length], [rows]);
  idsBelow('crossEntropy labels', labels, cols);
  const losses = allocate1D(rows);
  const zs = view(logits);
  const out = view(losses);
  for (let n = 0; n < rows; n++) {
    const label = labels[n] ?? 0;
    out[n] = logSumExp(zs, n * cols, cols) - (zs[n * cols + label] ?? 0);
  }
  return losses;
}

/** [N, V] = coeff_n · (softmax(logits_n) - onehot(label_n)). Borrows its inputs, returns owned. */
export function crossEntropyBackward(
  logits: tf.Tensor2D,
  labels: Int32Array,
  coeff: Float32Array,
): tf.Tensor2D {
  const { rows, cols } = dims(logits);
  sameShape('crossEntropyBackward labels', [labels.length], [rows]);
  sameShape('crossEntropyBackward coeff', [coeff.length], [rows]);
  idsBelow('crossEntropyBackward labels', labels, cols);
  const dLogits = allocate2D(rows, cols);
  const zs = view(logits);
  const out = view(dLogits);
  for (let n = 0; n < rows; n++) {
    const at = n * cols;
    const total = logSumExp(zs, at, cols);
    const c = coeff[n] ?? 0;
    const label = labels[n] ?? 0;
    for (let i = 0; i < cols; i++) {
      const p = Math.exp((zs[at + i] ?? 0) - total);
      out[at + i] = c * (i === label ? p - 1 : p);
    }
  }
  return dLogits;
}

/** {@link crossEntropy} in tfjs core ops; its autograd is the reference gradient. */
export function crossEntropyReference(logits: tf.Tensor2D, labels: Int32Array): tf.Tensor1D {
  return tf.tidy(() => {
    const onehot = tf.oneHot(tf.tensor1d(labels, 'int32'), logits.shape[1]);
    const picked = tf.sum(tf.mul(tf.cast(onehot, 'float32'), tf.logSoftmax(logits, -1)), 1);
    const losses = tf.neg(picked);
    if (losses.rank !== 1) throw new LabError('internal', 'crossEntropyReference lost its shape.');
    return losses as tf.Tensor1D; // checked above
  });
}

/** log Σ exp of one row, shifted by its largest value so that it cannot overflow. */
export function logSumExp(zs: Float32Array, at: number, cols: number): number {
  let max = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < cols; i++) {
    const z = zs[at + i] ?? 0;
    if (z > max) max = z;
  }
  let sum = 0;
  for (let i = 0; i < cols; i++) sum += Math.exp((zs[at + i] ?? 0) - max);
  return max + Math.log(sum);
}
