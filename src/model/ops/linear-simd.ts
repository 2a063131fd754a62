/**
 * The products with a frozen matrix on WASM, by our own vector kernels: blocks of a quantised matrix
 * meet x as 16-bit integers (a rounding of at most 2^-16 of the block's largest |x|), plain numbers
 * meet x as it is. Row t has the same bits whatever rows come with it.
 */

import type * as tf from '@tensorflow/tfjs-core';
import { heapFloats, pointerOf, scratch } from '../simd/kernels.ts';
import type { WeightMatrix } from '../weights.ts';
import { blockBytes, PANEL, type SimdWeight } from '../weights-simd.ts';
import { allocate2D, view } from './host.ts';

/** Scratch for a tile of results: 4 tokens, 8 rows, float32; and two panels for one token. */
const TILE_BYTES = 128;

/** Rows of W whose decoded columns stay in the processor's second cache: 32 x 1024 float32. */
const RUN_ROWS = 1024;

/** x [T, cols] -> x W^T [T, rows]. Borrows x, returns owned. */
export function linearSimd(x: tf.Tensor2D, w: WeightMatrix, stored: SimdWeight): tf.Tensor2D {
  const { rows, cols } = w;
  const { form, kernels, pointer } = stored;
  const tokens = x.shape[0];
  const tile = tokens === 1 ? 1 : 4;
  const padded = Math.ceil(tokens / tile) * tile;
  const y = allocate2D(tokens, rows);
  if (form.kind === 'floats') {
    const to = pointerOf(y);
    if (tile === 1) {
      const acc = scratch(TILE_BYTES);
      kernels.floatsTimes1(pointer, pointerOf(x), to, acc, rows, cols, form.code);
    } else {
      const acc = scratch(TILE_BYTES + padded * cols * 4);
      const interleaved = acc + TILE_BYTES;
      kernels.interleaveRows(pointerOf(x), interleaved, tokens, cols);
      kernels.floatsTimes4(pointer, interleaved, to, acc, tokens, rows, cols, form.code);
    }
    return y;
  }
  const blocks = cols / form.block;
  const spread = form.kind === 'nibbles' ? 320 * blocks : 0;
  const acc = scratch(TILE_BYTES + padded * (2 * cols + 8 * blocks) + spread);
  const s = acc + TILE_BYTES;
  const sums = s + padded * blocks * 4;
  const q = sums + padded * blocks * 4;
  kernels.quantizeRows(pointerOf(x), q, s, sums, tokens, cols, form.block, tile);
  const to = pointerOf(y);
  if (form.kind === 'nibbles') {
    if (tile === 1) kernels.nibblesTimes1(pointer, q, s, sums, to, acc, rows, blocks);
    else {
      const panel = q + padded * cols * 2;
      kernels.nibblesTimes4(pointer, q, s, sums, to, acc, panel, tokens, rows, blocks);
    }
    return y;
  }
  const pairs = form.block / 2;
  const offsets = form.offsets ? 1 : 0;
  if (tile === 1) {
    kernels.bytesTimes1(pointer, q, s, sums, to, acc, rows, blocks, pairs, offsets);
  } else {
    kernels.bytesTimes4(pointer, q, s, sums, to, acc, tokens, rows, blocks, pairs, offsets);
  }
  return y;
}

/** dy [T, rows] -> dy W [T, cols]. Borrows dy, returns owned. */
export function linearBackwardSimd(
  dy: tf.Tensor2D,
  w: WeightMatrix,
  stored: SimdWeight,
): tf.Tensor2D {
  const { rows, cols } = w;
  const { kernels } = stored;
  const tokens = dy.shape[0];
  const dx = allocate2D(tokens, cols);
  const most = Math.min(RUN_ROWS, PANEL * Math.ceil(rows / PANEL));
  const columns = scratch(32 * most * 4 + Math.ceil(tokens / 4) * 4 * most * 4);
  const quads = columns + 32 * most * 4;
  view(dx).fill(0);
  const to = pointerOf(dx);
  for (let first = 0; first < rows; first += RUN_ROWS) {
    const count = Math.min(RUN_ROWS, rows - first);
    const panels = Math.ceil(count / PANEL);
    const padded = panels * PANEL;
    const from = stored.pointer + (first / PANEL) * stored.stride;
    kernels.interleaveQuads(pointerOf(dy), quads, tokens, rows, first, count, padded);
    for (let col = 0; col < cols; ) {
      const width = decodeColumns(w, stored, from, col, columns, 4 * padded, panels);
      kernels.addTransposed(columns, quads, to, tokens, cols, col, width, padded);
      col += width;
    }
  }
  return dx;
}

/** w [rows, cols], ids [T] -> [T, cols], decoded. Returns owned. */
export function gatherSimd(w: WeightMatrix, stored: SimdWeight, ids: Int32Array): tf.Tensor2D {
  const out = allocate2D(ids.length, w.cols);
  const columns = scratch(32 * PANEL * 4);
  const decoded = heapFloats(columns, 32 * PANEL);
  const values = view(out);
  ids.forEach((id, t) => {
    const from = stored.pointer + Math.floor(id / PANEL) * stored.stride;
    for (let col = 0; col < w.cols; ) {
      const width = decodeColumns(w, stored, from, col, columns, 4 * PANEL, 1);
      for (let k = 0; k < width; k++) {
        values[t * w.cols + col + k] = decoded[k * PANEL + (id % PANEL)] as number; // in the panel
      }
      col += width;
    }
  });
  return out;
}

/**
 * Decodes the block of columns that begins at `col`, for `panels` panels from address `from` on, to
 * [width][padded rows] at `out`; returns its width.
 */
function decodeColumns(
  w: WeightMatrix,
  { form, kernels, stride }: SimdWeight,
  from: number,
  col: number,
  out: number,
  rowBytes: number,
  panels: number,
): number {
  switch (form.kind) {
    case 'nibbles': {
      const at = from + (col / form.block) * blockBytes(form);
      kernels.nibblesColumns(at, out, rowBytes, panels, stride);
      return form.block;
    }
    case 'bytes': {
      const at = from + (col / form.block) * blockBytes(form);
      const offsets = form.offsets ? 1 : 0;
      kernels.bytesColumns(at, out, rowBytes, panels, stride, form.block / 2, offsets);
      return form.block;
    }
    case 'floats': {
      const width = Math.min(32, w.cols - col);
      const at = from + col * blockBytes(form);
      kernels.floatsColumns(at, out, rowBytes, panels, stride, width, form.code);
      return width;
    }
    default:
      return form satisfies never;
  }
}
