/**
 * Cross entropy of one label a row, in nats, and its gradient.
 * ce_n = log Σ_v exp(z_nv) - z_n,label. Example: z = [0, 0], label 1 gives log 2 = 0.6931.
 */

import * as tf from '@tensorflow/tfjs-core';
import { LabError } from '../../errors.ts';
import { heapDoubles, pointerOf, scratch, simdKernels } from '../simd/kernels.ts';
import { dims, idsBelow, sameShape } from './check.ts';
import { allocate1D, allocate2D, onGpu, view } from './host.ts';
import { type Kernel, lanes, run1D, run2D } from './program.ts';

/** logits [N, V], labels [N] -> [N] in nats. Borrows its inputs, returns owned. */
export function crossEntropy(logits: tf.Tensor2D, labels: Int32Array): tf.Tensor1D {
  const { rows, cols } = dims(logits);
  sameShape('crossEntropy labels', [labels.length], [rows]);
  idsBelow('crossEntropy labels', labels, cols);
  if (onGpu()) {
    return tf.tidy(() => {
      const total = logSumExpGpu(logits);
      const inputs = [logits, total, tf.tensor1d(labels, 'int32')];
      const launch = { inputs, uniforms: { rows, cols }, threads: { x: rows } };
      return run1D(LOSS_KERNEL, launch, rows);
    });
  }
  const losses = allocate1D(rows);
  const sums = expSums(logits);
  const zs = view(logits);
  const out = view(losses);
  sums.forEach(({ max, sum }, n) => {
    out[n] = max + Math.log(sum) - (zs[n * cols + (labels[n] ?? 0)] ?? 0);
  });
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
  if (onGpu()) {
    return tf.tidy(() => {
      const total = logSumExpGpu(logits);
      const inputs = [logits, total, tf.tensor1d(labels, 'int32'), tf.tensor1d(coeff)];
      const launch = { inputs, uniforms: { rows, cols }, threads: { x: logits.size } };
      return run2D(GRADIENT_KERNEL, launch, rows, cols);
    });
  }
  const dLogits = allocate2D(rows, cols);
  const sums = expSums(logits);
  const simd = simdKernels();
  const zs = view(logits);
  const out = view(dLogits);
  sums.forEach(({ max, sum }, n) => {
    const at = n * cols;
    const c = coeff[n] ?? 0;
    if (simd) {
      const offset = 4 * at;
      simd.scaledExp(pointerOf(logits) + offset, pointerOf(dLogits) + offset, cols, max, c / sum);
    } else {
      for (let i = 0; i < cols; i++) out[at + i] = (c / sum) * Math.exp((zs[at + i] ?? 0) - max);
    }
    const label = at + (labels[n] ?? 0);
    out[label] = (out[label] ?? 0) - c;
  });
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

/** One row's largest value, and Σ e^(z - largest), which cannot overflow. */
export interface ExpSum {
  readonly max: number;
  readonly sum: number;
}

/** Of every row of [N, V] on the host. */
function expSums(logits: tf.Tensor2D): ExpSum[] {
  const { rows, cols } = dims(logits);
  const simd = simdKernels();
  if (simd) {
    const out = scratch(16 * rows);
    simd.expSums(pointerOf(logits), out, cols, 0, rows);
    const values = heapDoubles(out, 2 * rows);
    return Array.from({ length: rows }, (_, n) => ({
      max: values[2 * n] ?? 0,
      sum: values[2 * n + 1] ?? 0,
    }));
  }
  const zs = view(logits);
  return Array.from({ length: rows }, (_, n) => {
    const row = zs.subarray(n * cols, (n + 1) * cols);
    let max = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < cols; i++) max = Math.max(max, row[i] as number); // i < cols
    let sum = 0;
    for (let i = 0; i < cols; i++) sum += Math.exp((row[i] as number) - max);
    return { max, sum };
  });
}

/** log Σ e^z of every row of [N, V] on the host. */
export function logSumExps(logits: tf.Tensor2D): number[] {
  return expSums(logits).map(({ max, sum }) => max + Math.log(sum));
}

/** {@link logSumExps} on the GPU: [N]. Returns owned. */
export function logSumExpGpu(logits: tf.Tensor2D): tf.Tensor1D {
  const { rows, cols } = dims(logits);
  const steps = cols / lanes(cols).count;
  const launch = { inputs: [logits], uniforms: { rows, steps }, threads: { x: rows } };
  return run1D(logSumExpKernel(cols), launch, rows);
}

/** One invocation a row; it reads the row twice. */
function logSumExpKernel(cols: number): Kernel {
  const { count, type, total } = lanes(cols);
  const largest = count === 4 ? 'max(max(most.x, most.y), max(most.z, most.w))' : 'most';
  return {
    key: `log_sum_exp_${count}`,
    inputs: { z: count },
    uniforms: { rows: 'u32', steps: 'u32' },
    workgroup: 8,
    body: () => `
      if (gx >= uniforms.rows) { return; }
      let at = gx * uniforms.steps;
      var most = z[at];
      for (var i = 1u; i < uniforms.steps; i++) { most = max(most, z[at + i]); }
      let top = ${largest};
      var sum = ${type}(0.0);
      for (var i = 0u; i < uniforms.steps; i++) { sum += exp(z[at + i] - ${type}(top)); }
      result[gx] = top + log(${total('sum')});`,
  };
}

const LOSS_KERNEL: Kernel = {
  key: 'cross_entropy',
  inputs: { z: 1, total: 1, labels: 1 },
  uniforms: { rows: 'u32', cols: 'u32' },
  workgroup: 64,
  body: () => `
    if (gx >= uniforms.rows) { return; }
    result[gx] = total[gx] - z[gx * uniforms.cols + u32(labels[gx])];`,
};

const GRADIENT_KERNEL: Kernel = {
  key: 'cross_entropy_gradient',
  inputs: { z: 1, total: 1, labels: 1, coeff: 1 },
  uniforms: { rows: 'u32', cols: 'u32' },
  workgroup: 64,
  body: () => `
    let n = gx / uniforms.cols;
    if (n >= uniforms.rows) { return; }
    let hit = select(0.0, 1.0, gx - n * uniforms.cols == u32(labels[n]));
    result[gx] = coeff[n] * (exp(z[gx] - total[n]) - hit);`,
};
