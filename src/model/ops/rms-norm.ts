/**
 * RMS normalisation over the last axis and its gradient (Zhang and Sennrich 2019, eq. 4).
 * y_d = x_d · r · g_d with r = 1 / sqrt(mean(x²) + eps). Example: x = [3, 4], g = [1, 1], eps = 0
 * gives r = 1 / sqrt(12.5), y = [0.8485, 1.1314].
 */

import * as tf from '@tensorflow/tfjs-core';
import { pointerOf, simdKernels } from '../simd/kernels.ts';
import { dims, sameShape } from './check.ts';
import { allocate2D, onGpu, view } from './host.ts';
import { type Kernel, lanes, run2D } from './program.ts';

/** x [T, D], gain [D] -> [T, D]. Borrows its inputs, returns owned. */
export function rmsNorm(x: tf.Tensor2D, gain: tf.Tensor1D, eps: number): tf.Tensor2D {
  sameShape('rmsNorm gain', gain.shape, [x.shape[1]]);
  const { rows, cols } = dims(x);
  if (onGpu()) {
    const launch = { inputs: [x, gain], uniforms: sizes(rows, cols, eps), threads: { x: rows } };
    return run2D(forwardKernel(cols), launch, rows, cols);
  }
  const y = allocate2D(rows, cols);
  const simd = simdKernels();
  if (simd) {
    simd.rmsNorm(pointerOf(x), pointerOf(gain), pointerOf(y), cols, eps, 0, rows);
    return y;
  }
  const xs = view(x);
  const gs = view(gain);
  const ys = view(y);
  for (let t = 0, at = 0; t < rows; t++, at += cols) {
    const r = inverseRms(xs, at, cols, eps);
    for (let d = 0; d < cols; d++) ys[at + d] = (xs[at + d] ?? 0) * r * (gs[d] ?? 0);
  }
  return y;
}

/** The gradient with respect to x (the gain is frozen): [T, D]. Borrows its inputs, returns owned. */
export function rmsNormBackward(
  x: tf.Tensor2D,
  gain: tf.Tensor1D,
  eps: number,
  dy: tf.Tensor2D,
): tf.Tensor2D {
  sameShape('rmsNormBackward gain', gain.shape, [x.shape[1]]);
  sameShape('rmsNormBackward dy', dy.shape, x.shape);
  const { rows, cols } = dims(x);
  if (onGpu()) {
    const launch = {
      inputs: [x, gain, dy],
      uniforms: sizes(rows, cols, eps),
      threads: { x: rows },
    };
    return run2D(backwardKernel(cols), launch, rows, cols);
  }
  const dx = allocate2D(rows, cols);
  const simd = simdKernels();
  if (simd) {
    const [from, to] = [pointerOf(dy), pointerOf(dx)];
    simd.rmsNormBackward(pointerOf(x), pointerOf(gain), from, to, cols, eps, 0, rows);
    return dx;
  }
  const xs = view(x);
  const gs = view(gain);
  const dys = view(dy);
  const dxs = view(dx);
  for (let t = 0, at = 0; t < rows; t++, at += cols) {
    const r = inverseRms(xs, at, cols, eps);
    let dot = 0;
    for (let d = 0; d < cols; d++) dot += (dys[at + d] ?? 0) * (gs[d] ?? 0) * (xs[at + d] ?? 0);
    const shrink = (dot * r * r) / cols;
    for (let d = 0; d < cols; d++) {
      dxs[at + d] = r * ((dys[at + d] ?? 0) * (gs[d] ?? 0) - (xs[at + d] ?? 0) * shrink);
    }
  }
  return dx;
}

/** {@link rmsNorm} in tfjs core ops; its autograd is the reference gradient. */
export function rmsNormReference(x: tf.Tensor2D, gain: tf.Tensor1D, eps: number): tf.Tensor2D {
  return tf.tidy(() => {
    const meanSquare = tf.mean(tf.square(x), 1, true);
    return tf.mul(tf.mul(x, tf.rsqrt(tf.add(meanSquare, eps))), gain);
  });
}

function inverseRms(xs: Float32Array, at: number, cols: number, eps: number): number {
  let sum = 0;
  for (let d = 0; d < cols; d++) {
    const value = xs[at + d] ?? 0;
    sum += value * value;
  }
  return 1 / Math.sqrt(sum / cols + eps);
}

const UNIFORMS = { rows: 'u32', cols: 'u32', steps: 'u32', eps: 'f32' } as const;

function sizes(rows: number, cols: number, eps: number): Record<string, number> {
  return { rows, cols, eps, steps: cols / lanes(cols).count };
}

/** One invocation a row; it reads the row twice. */
function forwardKernel(cols: number): Kernel {
  const { count, type, total } = lanes(cols);
  return {
    key: `rms_norm_${count}`,
    inputs: { x: count, gain: count },
    output: count,
    uniforms: UNIFORMS,
    workgroup: 16,
    body: () => `
      if (gx >= uniforms.rows) { return; }
      let at = gx * uniforms.steps;
      var squares = ${type}(0.0);
      for (var i = 0u; i < uniforms.steps; i++) { let v = x[at + i]; squares += v * v; }
      let r = inverseSqrt(${total('squares')} / f32(uniforms.cols) + uniforms.eps);
      for (var i = 0u; i < uniforms.steps; i++) { result[at + i] = x[at + i] * r * gain[i]; }`,
  };
}

function backwardKernel(cols: number): Kernel {
  const { count, type, total } = lanes(cols);
  return {
    key: `rms_norm_backward_${count}`,
    inputs: { x: count, gain: count, dy: count },
    output: count,
    uniforms: UNIFORMS,
    workgroup: 16,
    body: () => `
      if (gx >= uniforms.rows) { return; }
      let at = gx * uniforms.steps;
      var squares = ${type}(0.0);
      var products = ${type}(0.0);
      for (var i = 0u; i < uniforms.steps; i++) {
        let v = x[at + i];
        squares += v * v;
        products += dy[at + i] * gain[i] * v;
      }
      let r = inverseSqrt(${total('squares')} / f32(uniforms.cols) + uniforms.eps);
      let shrink = ${total('products')} * r * r / f32(uniforms.cols);
      for (var i = 0u; i < uniforms.steps; i++) {
        result[at + i] = r * (dy[at + i] * gain[i] - x[at + i] * shrink);
      }`,
  };
}
