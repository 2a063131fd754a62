/**
 * The low-rank term of a LoRA projection (Hu et al. 2021, eq. 3), y + scale · (x Aᵀ) Bᵀ, and its
 * gradients. A and B are kept transposed, which is the fast form of tf.matMul on wasm.
 * Example: x = [1, 2], Aᵀ = [[1], [1]], Bᵀ = [[3]], scale 2, y = [1] gives 1 + 2 · 3 · 3 = 19.
 */

import * as tf from '@tensorflow/tfjs-core';
import { dims, sameShape } from './check.ts';
import { onGpu, view } from './host.ts';
import { product } from './product.ts';

/** One adapted projection's parameters; the adapter owns them. */
export interface LoraModule {
  readonly aT: tf.Tensor2D; // [in, r]
  readonly bT: tf.Tensor2D; // [r, out]
  readonly scale: number;
}

/**
 * y [T, out] plus the term for x [T, in]. CONSUMES y (on the host the sum is written into it),
 * borrows x, returns owned. Rows are independent: their sums run in double, in one order.
 */
export function loraAdd(y: tf.Tensor2D, x: tf.Tensor2D, module: LoraModule): tf.Tensor2D {
  const { rows, cols: inputs } = dims(x);
  const [rank, outputs] = module.bT.shape;
  sameShape('loraAdd aT', module.aT.shape, [inputs, rank]);
  sameShape('loraAdd y', y.shape, [rows, outputs]);
  if (onGpu()) {
    const hidden = product(x, module.aT);
    const sum = product(hidden, module.bT, { scale: module.scale, plus: y });
    tf.dispose([y, hidden]);
    return sum;
  }
  const xs = view(x);
  const as = view(module.aT);
  const bs = view(module.bT);
  const ys = view(y);
  const hidden = new Float64Array(rank);
  const delta = new Float64Array(outputs);
  for (let t = 0; t < rows; t++) {
    hidden.fill(0);
    for (let i = 0; i < inputs; i++) {
      const value = xs[t * inputs + i] ?? 0;
      const at = i * rank;
      for (let k = 0; k < rank; k++) hidden[k] = (hidden[k] ?? 0) + value * (as[at + k] ?? 0);
    }
    delta.fill(0);
    for (let k = 0; k < rank; k++) {
      const value = (hidden[k] ?? 0) * module.scale;
      const at = k * outputs;
      for (let o = 0; o < outputs; o++) delta[o] = (delta[o] ?? 0) + value * (bs[at + o] ?? 0);
    }
    const at = t * outputs;
    for (let o = 0; o < outputs; o++) ys[at + o] = (ys[at + o] ?? 0) + (delta[o] ?? 0);
  }
  return y;
}

/** {@link loraAdd} in tfjs core ops, without consuming y; its autograd is the reference gradient. */
export function loraAddReference(y: tf.Tensor2D, x: tf.Tensor2D, module: LoraModule): tf.Tensor2D {
  return tf.tidy(() => {
    const hidden = tf.matMul(x, module.aT);
    return tf.add(y, tf.mul(tf.matMul(hidden, module.bT), module.scale));
  });
}

export interface LoraGradients {
  readonly daT: tf.Tensor2D; // [in, r]
  readonly dbT: tf.Tensor2D; // [r, out]
  /** The term's share of the gradient at x, [T, in]. */
  readonly dx: tf.Tensor2D;
}

/**
 * With h = x Aᵀ and dh = scale · dy B: dAᵀ = xᵀ dh, dBᵀ = scale · hᵀ dy, dx = dh A.
 * Borrows its inputs, returns owned.
 */
export function loraBackward(x: tf.Tensor2D, dy: tf.Tensor2D, module: LoraModule): LoraGradients {
  const { aT, bT, scale } = module;
  if (onGpu()) return loraBackwardGpu(x, dy, module);
  return tf.tidy(() => {
    const hidden = tf.matMul<tf.Tensor2D>(x, aT); // [T, r]
    const dHidden = tf.mul<tf.Tensor2D>(tf.matMul(dy, flip(bT)), scale); // [T, r]
    return {
      daT: tf.matMul<tf.Tensor2D>(flip(x), dHidden),
      dbT: tf.mul<tf.Tensor2D>(tf.matMul(flip(hidden), dy), scale),
      dx: tf.matMul<tf.Tensor2D>(dHidden, flip(aT)),
    };
  });
}

function loraBackwardGpu(x: tf.Tensor2D, dy: tf.Tensor2D, module: LoraModule): LoraGradients {
  const { aT, bT, scale } = module;
  return tf.tidy(() => {
    const hidden = product(x, aT); // [T, r]
    const dHidden = product(dy, bT, { transposeB: true, scale }); // [T, r]
    return {
      daT: product(x, dHidden, { transposeA: true }),
      dbT: product(hidden, dy, { transposeA: true, scale }),
      dx: product(dHidden, aT, { transposeB: true }),
    };
  });
}

/** An explicit transpose: tf.matMul with a transpose flag is 12 to 20 times slower on wasm. */
function flip(matrix: tf.Tensor2D): tf.Tensor2D {
  return tf.transpose(matrix);
}
