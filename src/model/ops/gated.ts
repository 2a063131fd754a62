/**
 * The gated activation of an MLP, act(gate) · up, and its gradient, for any activation of one value
 * (Shazeer 2020). Which activations there are: swiglu.ts, geglu.ts.
 */

import * as tf from '@tensorflow/tfjs-core';
import { pointerOf, simdKernels } from '../simd/kernels.ts';
import { dims, sameShape } from './check.ts';
import { allocate2D, onGpu, view } from './host.ts';
import { elementwise, type Kernel } from './program.ts';

export interface Activation {
  /** The gated op's name; also its vector kernel's. */
  readonly name: 'swiglu' | 'geglu';
  /** act(z) and act'(z). */
  readonly at: (z: number) => { readonly value: number; readonly slope: number };
  /** WGSL statements that from z: f32 make `value`, and those that then make `slope`. */
  readonly wgsl: { readonly value: string; readonly slope: string };
  /** act in tfjs core ops. */
  readonly reference: (z: tf.Tensor2D) => tf.Tensor2D;
  /** The gradient's vector kernel, where there is one. */
  readonly backward?: 'swigluBackward';
}

export interface Gated {
  /** gate [T, F], up [T, F] -> [T, F]. Borrows its inputs, returns owned. */
  readonly forward: (gate: tf.Tensor2D, up: tf.Tensor2D) => tf.Tensor2D;
  /** dGate = dy · up · act'(gate), dUp = dy · act(gate). Borrows its inputs, returns owned. */
  readonly backward: (
    gate: tf.Tensor2D,
    up: tf.Tensor2D,
    dy: tf.Tensor2D,
  ) => { readonly dGate: tf.Tensor2D; readonly dUp: tf.Tensor2D };
  /** The forward op in tfjs core ops; its autograd is the reference gradient. */
  readonly reference: (gate: tf.Tensor2D, up: tf.Tensor2D) => tf.Tensor2D;
}

export function gatedBy(activation: Activation): Gated {
  const { name } = activation;
  const forwardKernel: Kernel = {
    ...ELEMENTWISE,
    key: name,
    inputs: { gate: 1, up: 1 },
    body: () => bodyOf(activation, 'value * up[gx]'),
  };
  const gateKernel: Kernel = {
    ...ELEMENTWISE,
    key: `${name}_gate_gradient`,
    inputs: { gate: 1, up: 1, dy: 1 },
    body: () => bodyOf(activation, 'dy[gx] * up[gx] * slope'),
  };
  return {
    forward: (gate, up) => {
      sameShape(`${name} up`, up.shape, gate.shape);
      const { rows, cols } = dims(gate);
      if (onGpu()) return elementwise(forwardKernel, [gate, up], rows, cols);
      const y = allocate2D(rows, cols);
      const simd = simdKernels();
      if (simd) {
        simd[name](pointerOf(gate), pointerOf(up), pointerOf(y), 0, gate.size);
        return y;
      }
      const [gs, us, ys] = [view(gate), view(up), view(y)];
      for (let i = 0; i < ys.length; i++) ys[i] = activation.at(gs[i] ?? 0).value * (us[i] ?? 0);
      return y;
    },
    backward: (gate, up, dy) => {
      sameShape(`${name} up`, up.shape, gate.shape);
      sameShape(`${name} dy`, dy.shape, gate.shape);
      const { rows, cols } = dims(gate);
      if (onGpu()) {
        return {
          dGate: elementwise(gateKernel, [gate, up, dy], rows, cols),
          dUp: elementwise(forwardKernel, [gate, dy], rows, cols),
        };
      }
      const dGate = allocate2D(rows, cols);
      const dUp = allocate2D(rows, cols);
      const simd = simdKernels();
      if (simd && activation.backward) {
        const [g, u, d] = [pointerOf(gate), pointerOf(up), pointerOf(dy)];
        simd[activation.backward](g, u, d, pointerOf(dGate), pointerOf(dUp), 0, gate.size);
        return { dGate, dUp };
      }
      const [gs, us, dys] = [view(gate), view(up), view(dy)];
      const [dgs, dus] = [view(dGate), view(dUp)];
      for (let i = 0; i < dys.length; i++) {
        const { value, slope } = activation.at(gs[i] ?? 0);
        dgs[i] = (dys[i] ?? 0) * (us[i] ?? 0) * slope;
        dus[i] = (dys[i] ?? 0) * value;
      }
      return { dGate, dUp };
    },
    reference: (gate, up) => tf.tidy(() => tf.mul(activation.reference(gate), up)),
  };
}

const ELEMENTWISE = { uniforms: { length: 'u32' }, workgroup: 64 } as const;

function bodyOf({ wgsl }: Activation, result: string): string {
  return `
    if (gx >= uniforms.length) { return; }
    let z = gate[gx];
    ${wgsl.value}
    ${result.includes('slope') ? wgsl.slope : ''}
    result[gx] = ${result};`;
}
