/**
 * The product with a quantised matrix on WASM in float32 throughout: eight rows of W at a time are decoded
 * and meet x as it is. At half the rate of linear-simd.ts, for what is measured and not played.
 */

import type * as tf from '@tensorflow/tfjs-core';
import { heapFloats, pointerOf, scratch } from '../simd/kernels.ts';
import type { WeightMatrix } from '../weights.ts';
import { PANEL, type SimdWeight } from '../weights-simd.ts';
import { allocate2D } from './host.ts';
import { decodeColumns, linearSimd, TILE_BYTES } from './linear-simd.ts';

/** Bytes of eight rows' values of one column. */
const COLUMN_BYTES = 4 * PANEL;

/** x [T, cols] -> x W^T [T, rows]; row t has the same bits for any T. Borrows x, returns owned. */
export function linearExact(x: tf.Tensor2D, w: WeightMatrix, stored: SimdWeight): tf.Tensor2D {
  if (stored.form.kind === 'floats') return linearSimd(x, w, stored);
  const { rows, cols } = w;
  const { kernels, pointer, stride } = stored;
  const [tokens] = x.shape;
  const y = allocate2D(tokens, rows);
  const xBytes = 4 * cols * Math.ceil(tokens / 4) * 4;
  const acc = scratch(TILE_BYTES + xBytes + COLUMN_BYTES * cols + COLUMN_BYTES * tokens);
  const tiles = acc + TILE_BYTES;
  const panel = tiles + xBytes;
  const part = panel + COLUMN_BYTES * cols; // [T, 8]
  kernels.interleaveRows(pointerOf(x), tiles, tokens, cols);
  const found = heapFloats(part, PANEL * tokens);
  const ys = heapFloats(pointerOf(y), tokens * rows);
  for (let row = 0; row < rows; row += PANEL) {
    const from = pointer + (row / PANEL) * stride;
    for (let col = 0; col < cols; ) {
      col += decodeColumns(w, stored, from, col, panel + COLUMN_BYTES * col, COLUMN_BYTES, 1);
    }
    kernels.floatsTimes4(panel, tiles, part, acc, tokens, PANEL, cols, 0, 0, 1);
    const count = Math.min(PANEL, rows - row);
    for (let t = 0; t < tokens; t++) {
      for (let r = 0; r < count; r++) ys[t * rows + row + r] = found[t * PANEL + r] as number; // in [T, 8]
    }
  }
  return y;
}
