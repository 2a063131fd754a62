/**
 * A small float32 product on the GPU, C = α · op(A) op(B) (+ D), for LoRA's thin matrices: tfjs's own
 * matMul is built on workgroup memory and barriers, and here one side is 4 to 64 wide.
 */

import type * as tf from '@tensorflow/tfjs-core';
import { sameShape } from './check.ts';
import { type Kernel, run2D } from './program.ts';

export interface ProductOptions {
  /** Read A (or B) as its transpose. */
  readonly transposeA?: boolean;
  readonly transposeB?: boolean;
  /** α; 1 unless said. */
  readonly scale?: number;
  /** D [M, N], added to the product. */
  readonly plus?: tf.Tensor2D;
}

/** A [M, K], B [K, N] (or transposed) -> [M, N]. WebGPU only. Borrows its inputs, returns owned. */
export function product(a: tf.Tensor2D, b: tf.Tensor2D, options: ProductOptions = {}): tf.Tensor2D {
  const { transposeA = false, transposeB = false, scale = 1, plus } = options;
  const [m, k] = transposeA ? [a.shape[1], a.shape[0]] : a.shape;
  const [depth, n] = transposeB ? [b.shape[1], b.shape[0]] : b.shape;
  sameShape('product depth', [depth], [k]);
  if (plus !== undefined) sameShape('product plus', plus.shape, [m, n]);
  const uniforms = {
    length: m * n,
    width: n,
    depth: k,
    scale,
    rowA: transposeA ? 1 : k,
    stepA: transposeA ? m : 1,
    colB: transposeB ? k : 1,
    stepB: transposeB ? 1 : n,
  };
  const inputs = plus === undefined ? [a, b] : [a, b, plus];
  return run2D(kernelFor(plus !== undefined), { inputs, uniforms, threads: { x: m * n } }, m, n);
}

/** One invocation an element. */
function kernelFor(plus: boolean): Kernel {
  return {
    key: plus ? 'product_plus' : 'product',
    inputs: plus ? { a: 1, b: 1, plus: 1 } : { a: 1, b: 1 },
    uniforms: {
      length: 'u32',
      width: 'u32',
      depth: 'u32',
      rowA: 'u32',
      stepA: 'u32',
      colB: 'u32',
      stepB: 'u32',
      scale: 'f32',
    },
    workgroup: 64,
    body: () => `
      if (gx >= uniforms.length) { return; }
      let row = gx / uniforms.width;
      var atA = row * uniforms.rowA;
      var atB = (gx - row * uniforms.width) * uniforms.colB;
      var sum = 0.0;
      for (var i = 0u; i < uniforms.depth; i++) {
        sum += a[atA] * b[atB];
        atA += uniforms.stepA;
        atB += uniforms.stepB;
      }
      result[gx] = uniforms.scale * sum${plus ? ' + plus[gx]' : ''};`,
  };
}
