/**
 * The exact Kullback-Leibler divergence of two softmax distributions, row by row, in nats.
 * KL(P ‖ Q) = Σ_v P_v (log P_v - log Q_v). Example: p = [0, 0], q = [log 3, 0] gives
 * ½ log(½ / ¾) + ½ log(½ / ¼) = 0.1438.
 */

import * as tf from '@tensorflow/tfjs-core';
import { dims, sameShape } from './check.ts';
import { logSumExpGpu, logSumExps } from './cross-entropy.ts';
import { allocate1D, onGpu, view } from './host.ts';
import { type Kernel, run1D } from './program.ts';

/** Logits p [N, V] and q [N, V] -> KL(softmax p ‖ softmax q) [N]. Borrows its inputs, returns owned. */
export function klRows(p: tf.Tensor2D, q: tf.Tensor2D): tf.Tensor1D {
  sameShape('klRows q', q.shape, p.shape);
  const { rows, cols } = dims(p);
  if (onGpu()) {
    return tf.tidy(() => {
      const inputs = [p, q, logSumExpGpu(p), logSumExpGpu(q)];
      return run1D(KERNEL, { inputs, uniforms: { rows, cols }, threads: { x: rows } }, rows);
    });
  }
  const kl = allocate1D(rows);
  const [totalsP, totalsQ] = [logSumExps(p), logSumExps(q)];
  const ps = view(p);
  const qs = view(q);
  const out = view(kl);
  for (let n = 0; n < rows; n++) {
    const at = n * cols;
    const totalP = totalsP[n] ?? 0;
    const totalQ = totalsQ[n] ?? 0;
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

/**
 * Sums P (e^d - 1 - d) with d = log Q - log P, which equals the divergence since ΣQ = ΣP = 1. Every
 * term is >= 0, so nothing cancels in float32 when P and Q are close; the series takes over where
 * e^d - 1 - d itself would cancel.
 */
const KERNEL: Kernel = {
  key: 'kl_rows',
  inputs: { p: 1, q: 1, totalP: 1, totalQ: 1 },
  uniforms: { rows: 'u32', cols: 'u32' },
  workgroup: 8,
  body: () => `
    if (gx >= uniforms.rows) { return; }
    let at = gx * uniforms.cols;
    var sum = 0.0;
    for (var i = 0u; i < uniforms.cols; i++) {
      let logP = p[at + i] - totalP[gx];
      let logQ = q[at + i] - totalQ[gx];
      let d = logQ - logP;
      let weight = exp(logP);
      let near = weight * d * d * (0.5 + d * (1.0 / 6.0 + d * (1.0 / 24.0 + d / 120.0)));
      let far = exp(logQ) - weight - weight * d;
      sum += select(far, near, abs(d) < 0.1);
    }
    result[gx] = sum;`,
};
