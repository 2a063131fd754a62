/**
 * The exact Kullback-Leibler divergence of two softmax distributions, row by row, in nats.
 * KL(P ‖ Q) = Σ_v P_v (log P_v - log Q_v). Example: p = [0, 0], q = [log 3, 0] gives
 * ½ log(½ / ¾) + ½ log(½ / ¼) = 0.1438.
 */

import * as tf from '@tensorflow/tfjs-core';
import { dims, sameShape } from './check.ts';
import { logSumExp } from './cross-entropy.ts';
import { allocate1D, view } from './host.ts';

/** Logits p [N, V] and q [N, V] -> KL(softmax p ‖ softmax q) [N]. Borrows its inputs, returns owned. */
export function klRows(p: tf.Tensor2D, q: tf.Tensor2D): tf.Tensor1D {
  sameShape('klRows q', q.shape, p.shape);
  const { rows, cols } = dims(p);
  const kl = allocate1D(rows);
  const ps = view(p);
  const qs = view(q);
  const out = view(kl);
  for (let n = 0; n < rows; n++) {
    const at = n * cols;
    const totalP = logSumExp(ps, at, cols);
    const totalQ = logSumExp(qs, at, cols);
    let sum = 0;
    for (let i = 0; i < cols; i++) {
      const logP = (ps[at + i] ?? 0) - totalP;
      sum += Math.exp(logP) * (logP - ((qs[at + i] ?? 0) - totalQ));
    }
    out[n] = sum;
  }
  return kl;
}

/** {@link klRows} in tfjs core ops. */
export function klRowsReference(p: tf.Tensor2D, q: tf.Tensor2D): tf.Tensor1D {
  return tf.tidy(() => {
    const logP = tf.logSoftmax(p, -1);
    return tf.sum<tf.Tensor1D>(tf.mul(tf.exp(logP), tf.sub(logP, tf.logSoftmax(q, -1))), 1);
  });
}
