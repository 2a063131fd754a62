/**
 * The gated activation of llama's MLP, silu(gate) · up, and its gradient (Shazeer 2020).
 * silu(z) = z · σ(z). Example: gate 1, up 2 gives 2 · 0.7311 = 1.4621.
 */

import * as tf from '@tensorflow/tfjs-core';
import { pointerOf, simdKernels } from '../simd/kernels.ts';
import { dims, sameShape } from './check.ts';
import { allocate2D, onGpu, view } from './host.ts';
import { elementwise, type Kernel } from './program.ts';

/** gate [T, F], up [T, F] -> [T, F]. Borrows its inputs, returns owned. */
export function swiglu(gate: tf.Tensor2D, up: tf.Tensor2D): tf.Tensor2D {
  sameShape('swiglu up', up.shape, gate.shape);
  const { rows, cols } = dims(gate);
  if (onGpu()) return elementwise(FORWARD, [gate, up], rows, cols);
  const y = allocate2D(rows, cols);
  const simd = simdKernels();
  if (simd) {
    simd.swiglu(pointerOf(gate), pointerOf(up), pointerOf(y), 0, gate.size);
    return y;
  }
  const gs = view(gate);
  const us = view(up);
  const ys = view(y);
  for (let i = 0; i < ys.length; i++) {
    const g = gs[i] ?? 0;
    ys[i] = (g / (1 + Math.exp(-g))) * (us[i] ?? 0);
  }
  return y;
}

/** Both gradients: dGate = dy · up · σ(g)(1 + g(1 - σ(g))), dUp = dy · silu(g). Returns owned. */
export function swigluBackward(
  gate: tf.Tensor2D,
  up: tf.Tensor2D,
  dy: tf.Tensor2D,
): { readonly dGate: tf.Tensor2D; readonly dUp: tf.Tensor2D } {
  sameShape('swigluBackward up', up.shape, gate.shape);
  sameShape('swigluBackward dy', dy.shape, gate.shape);
  const { rows, cols } = dims(gate);
  if (onGpu()) {
    return {
      dGate: elementwise(GATE_GRADIENT, [gate, up, dy], rows, cols),
      dUp: elementwise(UP_GRADIENT, [gate, dy], rows, cols),
    };
  }
  const dGate = allocate2D(rows, cols);
  const dUp = allocate2D(rows, cols);
  const simd = simdKernels();
  if (simd) {
    const [g, u, d] = [pointerOf(gate), pointerOf(up), pointerOf(dy)];
    simd.swigluBackward(g, u, d, pointerOf(dGate), pointerOf(dUp), 0, gate.size);
    return { dGate, dUp };
  }
  const gs = view(gate);
  const us = view(up);
  const dys = view(dy);
  const dgs = view(dGate);
  const dus = view(dUp);
  for (let i = 0; i < dys.length; i++) {
    const g = gs[i] ?? 0;
    const slope = dys[i] ?? 0;
    const sigmoid = 1 / (1 + Math.exp(-g));
    dgs[i] = slope * (us[i] ?? 0) * sigmoid * (1 + g * (1 - sigmoid));
    dus[i] = slope * g * sigmoid;
  }
  return { dGate, dUp };
}

/** {@link swiglu} in tfjs core ops; its autograd is the reference gradient. */
export function swigluReference(gate: tf.Tensor2D, up: tf.Tensor2D): tf.Tensor2D {
  return tf.tidy(() => tf.mul(tf.mul(gate, tf.sigmoid(gate)), up));
}

const FORWARD: Kernel = {
  key: 'swiglu',
  inputs: { gate: 1, up: 1 },
  uniforms: { length: 'u32' },
  workgroup: 64,
  body: () => `
    if (gx >= uniforms.length) { return; }
    let g = gate[gx];
    result[gx] = g / (1.0 + exp(-g)) * up[gx];`,
};

const GATE_GRADIENT: Kernel = {
  key: 'swiglu_gate_gradient',
  inputs: { gate: 1, up: 1, dy: 1 },
  uniforms: { length: 'u32' },
  workgroup: 64,
  body: () => `
    if (gx >= uniforms.length) { return; }
    let g = gate[gx];
    let sigmoid = 1.0 / (1.0 + exp(-g));
    result[gx] = dy[gx] * up[gx] * sigmoid * (1.0 + g * (1.0 - sigmoid));`,
};

const UP_GRADIENT: Kernel = {
  key: 'swiglu_up_gradient',
  inputs: { gate: 1, dy: 1 },
  uniforms: { length: 'u32' },
  workgroup: 64,
  body: () => `
    if (gx >= uniforms.length) { return; }
    let g = gate[gx];
    result[gx] = dy[gx] * g / (1.0 + exp(-g));`,
};
