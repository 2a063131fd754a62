/**
 * The low-rank term of a LoRA projection (Hu et al. 2021, eq. 3), y + scale · (x Aᵀ) Bᵀ, and its
 * gradients. A and B are kept transposed, which is the fast form of tf.matMul on wasm.
 * Example: x = [1, 2], Aᵀ = [[1], [1]], Bᵀ = [[3]], scale 2, y = [1] gives 1 + 2 · 3 · 3 = 19.
 */

import * as tf from '@tensorflow/tfjs-core';
import type { SimdKernels } from '../simd/exports.ts';
import { pointerOf, scratch, simdKernels } from '../simd/kernels.ts';
import { dims, sameShape } from './check.ts';
import { allocate2D, onGpu, view } from './host.ts';
import { product } from './product.ts';

/** One adapted projection's parameters; the adapter owns them. */
export interface LoraModule {
  readonly aT: tf.Tensor2D; // [in, r]
  readonly bT: tf.Tensor2D; // [r, out]
  readonly scale: number;
}

/**
 * y [T, out] plus the term for x [T, in]. CONSUMES y (on the host the sum is written into it),
 * borrows x, returns owned. Rows are independent: each is summed in one order.
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
  const simd = simdKernels();
  if (simd) {
    const hidden = scratch(rank * 4);
    const [to, from] = [pointerOf(y), pointerOf(x)];
    const [a, b] = [pointerOf(module.aT), pointerOf(module.bT)];
    simd.loraAdd(to, from, a, b, hidden, inputs, rank, outputs, module.scale, 0, rows);
    return y;
  }
  const xs = view(x);
  const as = view(module.aT);
  const bs = view(module.bT);
  const ys = view(y);
  const hidden = new Float64Array(rank);
  const delta = new Float64Array(outputs);
  for (let t = 0; t < rows; t++) {
    for (let k = 0; k < rank; k += UNROLL) hiddenFour(xs, t * inputs, inputs, as, rank, k, hidden);
    delta.fill(0);
    for (let k = 0; k < rank; k += UNROLL) {
      addFour(hidden, module.scale, rank, k, bs, outputs, delta);
    }
    const at = t * outputs;
    for (let o = 0; o < outputs; o++) ys[at + o] = (ys[at + o] as number) + (delta[o] as number); // o < outputs
  }
  return y;
}

/** Ranks taken together: sums in registers run about six times as fast as sums in an array. */
const UNROLL = 4;

/** hidden[k … k + 3] = row of x times those columns of Aᵀ; beyond the rank nothing is written. */
function hiddenFour(
  xs: Float32Array,
  at: number,
  inputs: number,
  as: Float32Array,
  rank: number,
  k: number,
  hidden: Float64Array,
): void {
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  // Reads past the last column belong to the next row (or are undefined, in the last): not kept.
  for (let i = 0, a = k; i < inputs; i++, a += rank) {
    const value = xs[at + i] as number; // within row t
    s0 += value * (as[a] as number);
    s1 += value * (as[a + 1] ?? 0);
    s2 += value * (as[a + 2] ?? 0);
    s3 += value * (as[a + 3] ?? 0);
  }
  hidden[k] = s0;
  if (k + 1 < rank) hidden[k + 1] = s1;
  if (k + 2 < rank) hidden[k + 2] = s2;
  if (k + 3 < rank) hidden[k + 3] = s3;
}

/** delta += scale · hidden[k … k + 3] times those rows of Bᵀ. */
function addFour(
  hidden: Float64Array,
  scale: number,
  rank: number,
  k: number,
  bs: Float32Array,
  outputs: number,
  delta: Float64Array,
): void {
  // A rank that is no multiple of four ends with rows of weight 0, read from row k instead.
  const row = (n: number) => (k + n < rank ? (k + n) * outputs : k * outputs);
  const weight = (n: number) => (k + n < rank ? (hidden[k + n] as number) * scale : 0);
  const [w0, w1, w2, w3] = [weight(0), weight(1), weight(2), weight(3)];
  const [b0, b1, b2, b3] = [row(0), row(1), row(2), row(3)];
  for (let o = 0; o < outputs; o++) {
    const sum =
      w0 * (bs[b0 + o] as number) + // all four rows hold `outputs` values
      w1 * (bs[b1 + o] as number) +
      w2 * (bs[b2 + o] as number) +
      w3 * (bs[b3 + o] as number);
    delta[o] = (delta[o] as number) + sum;
  }
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
  const simd = simdKernels();
  if (simd) return loraBackwardSimd(simd, x, dy, module);
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

function loraBackwardSimd(
  kernels: SimdKernels,
  x: tf.Tensor2D,
  dy: tf.Tensor2D,
  { aT, bT, scale }: LoraModule,
): LoraGradients {
  const { rows: tokens, cols: inputs } = dims(x);
  const [rank, outputs] = bT.shape;
  const [daT, dbT] = [allocate2D(inputs, rank), allocate2D(rank, outputs)];
  const dx = allocate2D(tokens, inputs);
  const hidden = scratch(4 * rank * (2 * tokens + inputs));
  const slopes = hidden + 4 * rank * tokens;
  const turned = slopes + 4 * rank * tokens;
  const [from, to, slope] = [pointerOf(x), pointerOf(dx), pointerOf(dy)];
  kernels.loraTokens(
    from,
    slope,
    pointerOf(aT),
    pointerOf(bT),
    hidden,
    slopes,
    to,
    turned,
    inputs,
    rank,
    outputs,
    scale,
    0,
    tokens,
  );
  kernels.loraColumns(from, slopes, pointerOf(daT), tokens, inputs, rank, 1, 1, 0, inputs);
  kernels.loraColumns(slope, hidden, pointerOf(dbT), tokens, outputs, rank, scale, 0, 0, outputs);
  return { daT, dbT, dx };
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
