/** For tests only: seeded odd shapes, random operands, closeness. Runs in Node and in a browser. */

import '@tensorflow/tfjs-core/dist/register_all_gradients';
import * as tf from '@tensorflow/tfjs-core';
import { floatToHalf } from '../../formats/half.ts';
import { byteLength, dequantize, GGML_LAYOUTS, type GgmlType } from '../../formats/quants.ts';
import { deriveRng, type Rng } from '../../math/rng.ts';

/** Runs `check` on `count` seeded cases; the failing case's number is in the stack's message. */
export function forCases(purpose: string, count: number, check: (rng: Rng) => void): void {
  for (let number = 0; number < count; number++) {
    try {
      check(deriveRng(7, purpose, number));
    } catch (thrown) {
      throw new Error(`${purpose}, case ${number}: ${String(thrown)}`, { cause: thrown });
    }
  }
}

/**
 * Runs `run` with equal random streams on cpu and on WebGPU, and returns each pair of results. Both
 * backends must be registered; WebGPU is the current one before and after.
 */
export async function onBoth(
  purpose: string,
  number: number,
  run: (rng: Rng) => tf.Tensor[],
): Promise<{ readonly host: Float32Array; readonly gpu: Float32Array }[]> {
  const collect = async (): Promise<Float32Array[]> => {
    const tensors = tf.tidy(() => run(deriveRng(7, purpose, number)));
    const values = await Promise.all(tensors.map((tensor) => tensor.data()));
    tf.dispose(tensors);
    return values.map((value) => Float32Array.from(value));
  };
  await tf.setBackend('cpu');
  const host = await collect();
  await tf.setBackend('webgpu');
  const gpu = await collect();
  return host.map((value, i) => ({ host: value, gpu: gpu[i] ?? new Float32Array() }));
}

/** Values in [-scale, scale). */
export function randomArray(rng: Rng, length: number, scale = 1): Float32Array {
  return Float32Array.from({ length }, () => (rng.next() * 2 - 1) * scale);
}

export function random2D(rng: Rng, rows: number, cols: number, scale = 1): tf.Tensor2D {
  return tf.tensor2d(randomArray(rng, rows * cols, scale), [rows, cols]);
}

export function random1D(rng: Rng, length: number, scale = 1): tf.Tensor1D {
  return tf.tensor1d(randomArray(rng, length, scale));
}

/** max |a - b| over max(1, max |b|): an absolute error for small values, relative for large ones. */
export function distance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) return Number.POSITIVE_INFINITY;
  let error = 0;
  let largest = 1;
  for (let i = 0; i < a.length; i++) {
    const difference = Math.abs((a[i] ?? 0) - (b[i] ?? 0));
    error = Number.isNaN(difference) ? Number.POSITIVE_INFINITY : Math.max(error, difference);
    largest = Math.max(largest, Math.abs(b[i] ?? 0));
  }
  return error / largest;
}

/** Where a block of each type holds float16 numbers: random bits there would often be NaN. */
const HALVES: Readonly<Record<GgmlType, readonly number[]>> = {
  F32: [],
  F16: [0],
  BF16: [],
  Q4_0: [0],
  Q4_1: [0, 2],
  Q5_0: [0],
  Q5_1: [0, 2],
  Q8_0: [0],
  Q2_K: [80, 82],
  Q3_K: [108],
  Q4_K: [0, 2],
  Q5_K: [0, 2],
  Q6_K: [208],
};

/** `values` random values of a type, as a file would hold them: random bits, float16 fields in ±0.1. */
export function randomBlocks(rng: Rng, type: GgmlType, values: number): Uint8Array {
  if (type === 'F32') return new Uint8Array(randomArray(rng, values).buffer);
  const bytes = Uint8Array.from({ length: byteLength(type, values) }, () => rng.int(256));
  const { typeBytes } = GGML_LAYOUTS[type];
  for (let at = 0; at < bytes.length; at += typeBytes) {
    for (const half of HALVES[type]) {
      const bits = floatToHalf((rng.next() * 2 - 1) * 0.1);
      bytes[at + half] = bits & 255;
      bytes[at + half + 1] = bits >> 8;
    }
    // A bfloat16 exponent near that of 1.
    if (type === 'BF16') bytes[at + 1] = ((bytes[at + 1] ?? 0) & 0x80) | 0x3f;
  }
  return bytes;
}

/** A random matrix of a type, with an odd shape that its blocks allow, and its decoded values. */
export function oddWeight(rng: Rng, type: GgmlType, maxRows = 40): OddWeight {
  const { blockSize } = GGML_LAYOUTS[type];
  const rows = 1 + rng.int(maxRows);
  const cols =
    blockSize === 1 ? 1 + rng.int(150) : blockSize * (1 + rng.int(blockSize === 256 ? 3 : 9));
  const bytes = randomBlocks(rng, type, rows * cols);
  const values = new Float32Array(rows * cols);
  dequantize(type, bytes, values);
  return { type, rows, cols, bytes, values };
}

export interface OddWeight {
  readonly type: GgmlType;
  readonly rows: number;
  readonly cols: number;
  readonly bytes: Uint8Array;
  readonly values: Float32Array;
}
