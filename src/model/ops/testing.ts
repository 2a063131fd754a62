/** For tests only: seeded odd shapes, random operands, closeness, and a backend opened in Node. */

import '@tensorflow/tfjs-core/dist/register_all_gradients';
import * as tf from '@tensorflow/tfjs-core';
import { deriveRng, type Rng } from '../../math/rng.ts';
import type { BackendName } from '../../records.ts';
import { openBackend } from '../device.ts';
import { nodeWasmPaths } from '../wasm-paths-node.ts';

/** Opens wasm or cpu in Node. */
export async function openHost(name: Exclude<BackendName, 'webgpu'>): Promise<void> {
  await openBackend(name, { wasmPaths: nodeWasmPaths(import.meta.url) });
}

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
