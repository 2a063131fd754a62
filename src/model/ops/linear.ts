/**
 * The product with a frozen, quantised matrix and its gradient with respect to the input.
 * y = x W^T and dx = dy W; W itself has no gradient. Example: W = [[1, 2], [3, 4]], x = [1, 1] gives
 * y = [3, 7], and dy = [1, 0] gives dx = [1, 2].
 */

import * as tf from '@tensorflow/tfjs-core';
import { choiceOn } from '../variants.ts';
import type { WeightMatrix } from '../weights.ts';
import type { GpuWeight } from '../weights-gpu.ts';
import { dims, sameShape } from './check.ts';
import { allocate2D, view } from './host.ts';
import { linearExact } from './linear-exact.ts';
import {
  BACKWARD_TILE,
  BACKWARD_WALKS,
  linearBackwardKernel,
  linearKernel,
  productTile,
  rowForm,
  sumPartsKernel,
} from './linear-kernels.ts';
import { linearBackwardSimd, linearSimd } from './linear-simd.ts';
import { halvesTileKernel, holdsHalves, tileKernel } from './linear-tile.ts';
import { empty2D, gpuBackend, run2D, runInto } from './program.ts';

/** Rows of W that one invocation of the gradient adds up before another takes over. */
const PART_ROWS = 2048;

/** x [T, cols] -> [T, rows]. Row t is bit-equal for any T on wasm and cpu. Borrows x, returns owned. */
export function linear(x: tf.Tensor2D, w: WeightMatrix): tf.Tensor2D {
  sameShape(`linear input of ${w.name}`, x.shape, [x.shape[0], w.cols]);
  const { storage } = w;
  if (storage.kind === 'gpu') return linearGpu(x, w, storage);
  if (storage.kind === 'simd') {
    return w.exact ? linearExact(x, w, storage) : linearSimd(x, w, storage);
  }
  if (tf.getBackend() === 'wasm') return tf.matMul(x, storage.transposed());
  return storage.withPlain((plain) => timesTransposed(x, plain));
}

/** dy [T, rows] -> dx [T, cols]. Borrows dy, returns owned. */
export function linearBackward(dy: tf.Tensor2D, w: WeightMatrix): tf.Tensor2D {
  sameShape(`linearBackward dy of ${w.name}`, dy.shape, [dy.shape[0], w.rows]);
  const { storage } = w;
  if (storage.kind === 'gpu') return linearBackwardGpu(dy, w, storage);
  if (storage.kind === 'simd') return linearBackwardSimd(dy, w, storage);
  if (tf.getBackend() === 'wasm') return storage.withPlain((plain) => tf.matMul(dy, plain));
  return storage.withPlain((plain) => times(dy, plain));
}

/** {@link linear} in tfjs core ops over the decoded W [rows, cols]; autograd is the reference gradient. */
export function linearReference(x: tf.Tensor2D, decoded: tf.Tensor2D): tf.Tensor2D {
  return tf.matMul(x, decoded, false, true);
}

function timesTransposed(x: tf.Tensor2D, w: tf.Tensor2D): tf.Tensor2D {
  const { rows, cols } = dims(w);
  const y = allocate2D(x.shape[0], rows);
  const xs = view(x);
  const ws = view(w);
  const ys = view(y);
  for (let t = 0; t < x.shape[0]; t++) {
    for (let o = 0; o < rows; o++) {
      let sum = 0;
      // Both rows hold `cols` values, so no read is undefined.
      for (let i = 0; i < cols; i++) {
        sum += (xs[t * cols + i] as number) * (ws[o * cols + i] as number);
      }
      ys[t * rows + o] = sum;
    }
  }
  return y;
}

function times(dy: tf.Tensor2D, w: tf.Tensor2D): tf.Tensor2D {
  const { rows, cols } = dims(w);
  const dx = allocate2D(dy.shape[0], cols);
  const dys = view(dy);
  const ws = view(w);
  const dxs = view(dx);
  const sum = new Float64Array(cols);
  for (let t = 0; t < dy.shape[0]; t++) {
    sum.fill(0);
    for (let o = 0; o < rows; o++) {
      const slope = dys[t * rows + o] as number; // o < rows
      for (let i = 0; i < cols; i++)
        sum[i] = (sum[i] as number) + slope * (ws[o * cols + i] as number);
    }
    dxs.set(sum, t * cols);
  }
  return dx;
}

function linearGpu(x: tf.Tensor2D, w: WeightMatrix, stored: GpuWeight): tf.Tensor2D {
  const tokens = x.shape[0];
  const form = rowForm(w.cols);
  const choice = choiceOn(gpuBackend().device);
  const tile = productTile(tokens, choice, form);
  const halves = choice.matmul === 'halves' && holdsHalves(w.type);
  const shared = halves ? halvesTileKernel : tileKernel;
  const kernel = tile.threads === 1 ? linearKernel(w.type, form, tile) : shared(w.type);
  const y = empty2D(`product with ${w.name}`, tokens, w.rows);
  for (const shard of stored.shards) {
    runInto(
      kernel,
      {
        inputs: [x, ...shard.planes],
        uniforms: { ...sizesOf(w, tokens), rows: shard.rows, width: w.rows, first: shard.first },
        threads: {
          x: tile.threads * Math.ceil(shard.rows / tile.rows),
          y: Math.ceil(tokens / tile.tokens),
        },
      },
      y,
    );
  }
  return y;
}

function linearBackwardGpu(dy: tf.Tensor2D, w: WeightMatrix, stored: GpuWeight): tf.Tensor2D {
  const tokens = dy.shape[0];
  const tiles = Math.ceil(tokens / BACKWARD_TILE);
  const variant = choiceOn(gpuBackend().device).transpose;
  const kernel = linearBackwardKernel(w.type, rowForm(w.cols), variant);
  const perChunk = 4 / BACKWARD_WALKS[variant].steps;
  const counts = stored.shards.map((shard) => Math.ceil(shard.rows / PART_ROWS));
  const total = counts.reduce((sum, count) => sum + count, 0);
  const parts = empty2D(`gradient through ${w.name}`, total * tokens, w.cols);
  let slot = 0;
  stored.shards.forEach((shard, i) => {
    const count = counts[i] ?? 0;
    const step = Math.ceil(shard.rows / count);
    const span = { width: w.rows, first: shard.first, tiles, parts: count, step, slot };
    runInto(
      kernel,
      {
        inputs: [dy, ...shard.planes],
        uniforms: { ...sizesOf(w, tokens), rows: shard.rows, ...span },
        threads: { x: perChunk * Math.ceil(w.cols / 32), y: count * tiles },
      },
      parts,
    );
    slot += count;
  });
  if (total === 1) return parts;
  const length = tokens * w.cols;
  const launch = { inputs: [parts], uniforms: { parts: total, length }, threads: { x: length } };
  const dx = run2D(sumPartsKernel, launch, tokens, w.cols);
  parts.dispose();
  return dx;
}

/** The uniforms that are the same for every shard. */
export function sizesOf(w: WeightMatrix, tokens: number): Record<string, number> {
  const chunks = Math.ceil(w.cols / 32);
  return { tokens, cols: w.cols, chunks, quads: Math.ceil(w.cols / 4) };
}
