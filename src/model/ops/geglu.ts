/**
 * The gated activation of Gemma's MLP, gelu(gate) · up, and its gradient (Shazeer 2020), with GELU in
 * its tanh form (Hendrycks and Gimpel 2016): gelu(z) = z/2 (1 + tanh(√(2/π) (z + 0.044715 z³))).
 * Example: gate 1, up 2 gives 2 · 0.8412 = 1.6824.
 */

import * as tf from '@tensorflow/tfjs-core';
import { pointerOf, simdKernels } from '../simd/kernels.ts';
import { dims, sameShape } from './check.ts';
import { allocate2D, onGpu, view } from './host.ts';
import { elementwise, type Kernel } from './program.ts';

const ROOT = Math.sqrt(2 / Math.PI);
const CUBIC = 0.044715;

/** gate [T, F], up [T, F] -> [T, F]. Borrows its inputs, returns owned. */
export function geglu(gate: tf.Tensor2D, up: tf.Tensor2D): tf.Tensor2D {
  sameShape('geglu up', up.shape, gate.shape);
  const { rows, cols } = dims(gate);
  if (onGpu()) return elementwise(FORWARD, [gate, up], rows, cols);
  const y = allocate2D(rows, cols);
  const simd = simdKernels();
  if (simd) {
    simd.geglu(pointerOf(gate), pointerOf(up), pointerOf(y), 0, gate.size);
    return y;
  }
  const gs = view(gate);
  const us = view(up);
  const ys = view(y);
  for (let i = 0; i < ys.length; i++) ys[i] = gelu(gs[i] ?? 0).value * (us[i] ?? 0);
  return y;
}

/** Both gradients: dGate = dy · up · gelu'(gate), dUp = dy · gelu(gate). Returns owned. */
export function gegluBackward(
  gate: tf.Tensor2D,
  up: tf.Tensor2D,
  dy: tf.Tensor2D,
): { readonly dGate: tf.Tensor2D; readonly dUp: tf.Tensor2D } {
  sameShape('gegluBackward up', up.shape, gate.shape);
  sameShape('gegluBackward dy', dy.shape, gate.shape);
  const { rows, cols } = dims(gate);
  if (onGpu()) {
    return {
      dGate: elementwise(GATE_GRADIENT, [gate, up, dy], rows, cols),
      dUp: elementwise(FORWARD, [gate, dy], rows, cols),
    };
  }
  const dGate = allocate2D(rows, cols);
  const dUp = allocate2D(rows, cols);
  const gs = view(gate);
  const us = view(up);
  const dys = view(dy);
  const dgs = view(dGate);
  const dus = view(dUp);
  for (let i = 0; i < dys.length; i++) {
    const { value, slope } = gelu(gs[i] ?? 0);
    dgs[i] = (dys[i] ?? 0) * (us[i] ?? 0) * slope;
    dus[i] = (dys[i] ?? 0) * value;
  }
  return { dGate, dUp };
}

/** {@link geglu} in tfjs core ops; its autograd is the reference gradient. */
export function gegluReference(gate: tf.Tensor2D, up: tf.Tensor2D): tf.Tensor2D {
  return tf.tidy(() => {
    const cubed = tf.mul(gate, tf.square(gate));
    const t = tf.tanh(tf.mul(tf.add(gate, tf.mul(cubed, CUBIC)), ROOT));
    return tf.mul(tf.mul(tf.mul(gate, 0.5), tf.add(t, 1)), up);
  });
}

/** gelu(z) and gelu'(z) = (1 + t)/2 + z/2 (1 - t²) √(2/π) (1 + 3 · 0.044715 z²), t the tanh. */
function gelu(z: number): { readonly value: number; readonly slope: number } {
  const t = Math.tanh(ROOT * (z + CUBIC * z * z * z));
  const inner = ROOT * (1 + 3 * CUBIC * z * z);
  return { value: 0.5 * z * (1 + t), slope: 0.5 * (1 + t) + 0.5 * z * (1 - t * t) * inner };
}

/** WGSL's tanh may overflow to NaN where exp does; beyond ±10 it is ±1 in float32 anyway. */
const TANH = `
  let z = gate[gx];
  let t = tanh(clamp(${ROOT} * (z + ${CUBIC} * z * z * z), -10.0, 10.0));`;

const FORWARD: Kernel = {
  key: 'geglu',
  inputs: { gate: 1, up: 1 },
  uniforms: { length: 'u32' },
  workgroup: 64,
  body: () => `
    if (gx >= uniforms.length) { return; }
    ${TANH}
    result[gx] = 0.5 * z * (1.0 + t) * up[gx];`,
};

const GATE_GRADIENT: Kernel = {
  key: 'geglu_gate_gradient',
  inputs: { gate: 1, up: 1, dy: 1 },
  uniforms: { length: 'u32' },
  workgroup: 64,
  body: () => `
    if (gx >= uniforms.length) { return; }
    ${TANH}
    let inner = ${ROOT} * (1.0 + ${3 * CUBIC} * z * z);
    result[gx] = dy[gx] * up[gx] * (0.5 * (1.0 + t) + 0.5 * z * (1.0 - t * t) * inner);`,
};
