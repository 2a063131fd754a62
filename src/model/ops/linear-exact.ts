/**
 * The product with a quantised matrix on WASM in float32 throughout: some panels of eight rows of W at a time are
 * decoded and meet x as it is. At half the rate of linear-simd.ts, for what is measured and not played.
 */

import type * as tf from '@tensorflow/tfjs-core';
import { heapFloats, pointerOf, scratch } from '../simd/kernels.ts';
import type { WeightMatrix } from '../weights.ts';
import { PANEL, type SimdWeight } from '../weights-simd.ts';
import { allocate2D } from './host.ts';
import { decodeColumns, linearSimd, TILE_BYTES } from './linear-simd.ts';

/** Bytes of eight rows' values of one column. */
const COLUMN_BYTES = 4 * PANEL;

/** Panels decoded together: threads share them out. */
const PANELS = 16;

/** x [T, cols] -> x W^T [T, rows]; row t has the same bits for any T. Borrows x, returns owned. */
export function linearExact(x: tf.Tensor2D, w: WeightMatrix, stored: SimdWeight): tf.Tensor2D {
  if (stored.form.kind === 'floats') return linearSimd(x, w, stored);
  const { rows, cols } = w;
  const { kernels, pointer, stride } = stored;
  const [tokens] = x.shape;
  const y = allocate2D(tokens, rows);
  const xBytes = 4 * cols * Math.ceil(tokens / 4) * 4;
  const panelBytes = COLUMN_BYTES * cols;
  const acc = scratch(TILE_BYTES + xBytes + PANELS * (panelBytes + COLUMN_BYTES * tokens));
  const tiles = acc + TILE_BYTES;
  const decoded = tiles + xBytes; // [panel][cols][8]
  const part = decoded + PANELS * panelBytes; // [T, 8 panels]
  kernels.interleaveRows(pointerOf(x), tiles, tokens, cols);
  for (let row = 0; row < rows; row += PANEL * PANELS) {
    const count = Math.min(PANEL * PANELS, rows - row);
    const panels = Math.ceil(count / PANEL);
    for (let p = 0; p < panels; p++) {
      const from = pointer + (row / PANEL + p) * stride;
      const to = decoded + p * panelBytes;
      for (let col = 0; col < cols; ) {
        col += decodeColumns(w, stored, from, col, to + COLUMN_BYTES * col, COLUMN_BYTES, 1);
      }
    }
    kernels.floatsTimes4(decoded, tiles, part, acc, tokens, count, cols, 0, 0, panels);
    const found = heapFloats(part, tokens * count);
    const ys = heapFloats(pointerOf(y), tokens * rows);
    for (let t = 0; t < tokens; t++) {
      ys.set(found.subarray(t * count, (t + 1) * count), t * rows + row);
    }
  }
  return y;
}
