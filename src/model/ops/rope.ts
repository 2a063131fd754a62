/**
 * Rotary position embedding (Su et al. 2021) and the turn back, which is its gradient: each pair of
 * channels turns by the angle of its position (yarn also makes it longer, then back as well). `interleaved`
 * pairs channels (2i, 2i + 1), as llama's GGUF row order wants; `halves` pairs (i, i + headDim / 2), as
 * Qwen and Gemma want.
 */

import * as tf from '@tensorflow/tfjs-core';
import { LabError } from '../../errors.ts';
import { pointerOf, simdKernels } from '../simd/kernels.ts';
import { dims, sameShape } from './check.ts';
import { allocate2D, onGpu, view } from './host.ts';
import { type Kernel, run2D } from './program.ts';
import { type RopeScaling, ropeFrequencies } from './rope-frequencies.ts';

export type RopeStyle = 'interleaved' | 'halves';

/** Cosines and sines of every position's angles, times yarn's magnitude; owned by the model. */
export interface RopeTable {
  readonly headDim: number;
  readonly style: RopeStyle;
  readonly cos: tf.Tensor2D; // [context, headDim / 2]
  readonly sin: tf.Tensor2D; // [context, headDim / 2]
}

export interface RopeOptions {
  /** Turns backwards: the gradient of the forward turn. */
  readonly inverse?: boolean;
}

/**
 * x [T, H * headDim], row i at position start + i -> the same shape. Positions beyond the table throw
 * `limit`. Borrows its inputs, returns owned.
 */
export function rope(
  x: tf.Tensor2D,
  table: RopeTable,
  start: number,
  options: RopeOptions = {},
): tf.Tensor2D {
  const { rows, cols } = dims(x);
  checkRope(x, table, start);
  const half = table.headDim / 2;
  const { second, stride } = pairing(table);
  const sign = options.inverse === true ? -1 : 1;
  if (onGpu()) {
    const uniforms = { rows, cols, half, start, second, stride, sign };
    const launch = { inputs: [x, table.cos, table.sin], uniforms, threads: { x: x.size / 2 } };
    return run2D(KERNEL, launch, rows, cols);
  }
  const y = allocate2D(rows, cols);
  const simd = simdKernels();
  if (simd) {
    const [from, to] = [pointerOf(x), pointerOf(y)];
    const [c, s] = [pointerOf(table.cos), pointerOf(table.sin)];
    simd.rope(from, to, c, s, rows, cols, half, start, second, stride, sign);
    return y;
  }
  const xs = view(x);
  const ys = view(y);
  const cos = view(table.cos);
  const sin = view(table.sin);
  for (let t = 0; t < rows; t++) {
    const angles = (start + t) * half;
    for (let head = 0; head < cols; head += table.headDim) {
      const at = t * cols + head;
      for (let i = 0; i < half; i++) {
        const c = cos[angles + i] ?? 0;
        const s = sign * (sin[angles + i] ?? 0);
        const a = xs[at + i * stride] ?? 0;
        const b = xs[at + i * stride + second] ?? 0;
        ys[at + i * stride] = a * c - b * s;
        ys[at + i * stride + second] = a * s + b * c;
      }
    }
  }
  return y;
}

/**
 * The table for angles position · f_i, f as {@link ropeFrequencies} gives it (factors: llama 3's
 * `rope_freqs`). Computed in double. Returns owned.
 */
export function makeRopeTable(spec: {
  readonly headDim: number;
  readonly style: RopeStyle;
  readonly context: number;
  readonly base: number;
  readonly scaling?: RopeScaling;
  readonly factors?: Float32Array;
}): RopeTable {
  const { headDim, style, context } = spec;
  const half = headDim / 2;
  const { perPosition, magnitude } = ropeFrequencies(
    headDim,
    spec.base,
    spec.scaling,
    spec.factors,
  );
  const cos = new Float32Array(context * half);
  const sin = new Float32Array(context * half);
  perPosition.forEach((frequency, i) => {
    for (let t = 0; t < context; t++) {
      cos[t * half + i] = magnitude * Math.cos(t * frequency);
      sin[t * half + i] = magnitude * Math.sin(t * frequency);
    }
  });
  const shape: [number, number] = [context, half];
  return { headDim, style, cos: tf.tensor2d(cos, shape), sin: tf.tensor2d(sin, shape) };
}

/** {@link rope} in tfjs core ops; its autograd is the reference gradient. */
export function ropeReference(x: tf.Tensor2D, table: RopeTable, start: number): tf.Tensor2D {
  return tf.tidy(() => {
    const { rows, cols } = dims(x);
    const half = table.headDim / 2;
    const heads = cols / table.headDim;
    const paired = table.style === 'interleaved' ? [rows, heads, half, 2] : [rows, heads, 2, half];
    const axis = table.style === 'interleaved' ? 3 : 2;
    const angleShape = table.style === 'interleaved' ? [rows, 1, half, 1] : [rows, 1, 1, half];
    const [a, b] = tf.split(tf.reshape(x, paired), 2, axis);
    const cos = tf.reshape(tf.slice(table.cos, [start, 0], [rows, half]), angleShape);
    const sin = tf.reshape(tf.slice(table.sin, [start, 0], [rows, half]), angleShape);
    if (a === undefined || b === undefined) throw new LabError('internal', 'split gave no halves.');
    const turned = tf.concat(
      [tf.sub(tf.mul(a, cos), tf.mul(b, sin)), tf.add(tf.mul(a, sin), tf.mul(b, cos))],
      axis,
    );
    return tf.reshape(turned, [rows, cols]);
  });
}

/** Where a pair's two channels lie within a head: i * stride and i * stride + second. */
export function pairing(table: RopeTable): {
  readonly second: number;
  readonly stride: number;
} {
  switch (table.style) {
    case 'interleaved':
      return { second: 1, stride: 2 };
    case 'halves':
      return { second: table.headDim / 2, stride: 1 };
    default:
      return table.style satisfies never;
  }
}

function checkRope(x: tf.Tensor2D, table: RopeTable, start: number): void {
  const { rows, cols } = dims(x);
  const [context, half] = table.cos.shape;
  sameShape('rope sin', table.sin.shape, table.cos.shape);
  if (table.headDim !== 2 * half || cols % table.headDim !== 0) {
    throw new LabError(
      'internal',
      `rope: width ${cols} is not a multiple of the head width ${table.headDim}.`,
    );
  }
  if (start < 0 || start + rows > context) {
    throw new LabError(
      'limit',
      `Positions ${start} to ${start + rows - 1} were asked for; the context ends at ${context}. Shorten the conversation or choose a longer context.`,
      { start, rows, context },
    );
  }
}

/** One invocation a pair. */
const KERNEL: Kernel = {
  key: 'rope',
  inputs: { x: 1, cosines: 1, sines: 1 },
  uniforms: {
    rows: 'u32',
    cols: 'u32',
    half: 'u32',
    start: 'u32',
    second: 'u32',
    stride: 'u32',
    sign: 'f32',
  },
  workgroup: 64,
  body: () => `
    let pairs = uniforms.cols / 2u;
    let t = gx / pairs;
    if (t >= uniforms.rows) { return; }
    let pair = gx - t * pairs;
    let head = pair / uniforms.half;
    let i = pair - head * uniforms.half;
    let angle = (uniforms.start + t) * uniforms.half + i;
    let c = cosines[angle];
    let s = uniforms.sign * sines[angle];
    let at = t * uniforms.cols + head * 2u * uniforms.half + i * uniforms.stride;
    let a = x[at];
    let b = x[at + uniforms.second];
    result[at] = a * c - b * s;
    result[at + uniforms.second] = a * s + b * c;`,
};
