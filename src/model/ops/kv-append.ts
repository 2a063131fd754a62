/** Writes new key and value rows into the cache, in place: the only op that changes a tensor. */

import type * as tf from '@tensorflow/tfjs-core';
import { LabError } from '../../errors.ts';
import { dims, sameShape } from './check.ts';
import { onGpu, view } from './host.ts';
import { type Kernel, runInto } from './program.ts';

/**
 * k, v [T, KV] become rows start … start + T - 1 of the caches [capacity, KV]; other rows keep their
 * bits. Throws `limit` when the cache is too short. The caches must never be the right-hand side of
 * tf.matMul: wasm caches packed right-hand sides and would not see the change.
 */
export function kvAppend(
  cacheK: tf.Tensor2D,
  cacheV: tf.Tensor2D,
  k: tf.Tensor2D,
  v: tf.Tensor2D,
  start: number,
): void {
  const { rows, cols } = dims(k);
  const capacity = cacheK.shape[0];
  sameShape('kvAppend v', v.shape, k.shape);
  sameShape('kvAppend cacheK', cacheK.shape, [capacity, cols]);
  sameShape('kvAppend cacheV', cacheV.shape, [capacity, cols]);
  if (start < 0 || start + rows > capacity) {
    throw new LabError(
      'limit',
      `The key-value cache holds ${capacity} positions; positions ${start} to ${start + rows - 1} were asked for. Shorten the conversation or choose a longer context.`,
      { capacity, start, rows },
    );
  }
  if (onGpu()) {
    const uniforms = { length: k.size, offset: start * cols };
    runInto(KERNEL, { inputs: [k], uniforms, threads: { x: k.size } }, cacheK);
    runInto(KERNEL, { inputs: [v], uniforms, threads: { x: v.size } }, cacheV);
    return;
  }
  view(cacheK).set(view(k), start * cols);
  view(cacheV).set(view(v), start * cols);
}

const KERNEL: Kernel = {
  key: 'kv_append',
  inputs: { rows: 1 },
  uniforms: { length: 'u32', offset: 'u32' },
  workgroup: 64,
  body: () => `if (gx < uniforms.length) { result[uniforms.offset + gx] = rows[gx]; }`,
};
