/**
 * The products with a frozen matrix on WASM, by our own vector kernels: blocks of a quantised matrix
 * meet x as 16-bit integers (a rounding of at most 2^-16 of the block's largest |x|), plain numbers
 * meet x as it is. Row t has the same bits whatever rows come with it.
 */

import type * as tf from '@tensorflow/tfjs-core';
import type { SimdKernels } from '../simd/exports.ts';
import { heapFloats, pointerOf, scratch } from '../simd/kernels.ts';
import { transposedBytes } from '../simd/team.ts';
import type { WeightMatrix } from '../weights.ts';
import { blockBytes, PANEL, type SimdWeight } from '../weights-simd.ts';
import { allocate2D } from './host.ts';

/** Scratch for a tile of results: 4 tokens, 8 rows, float32; and two panels for one token. */
export const TILE_BYTES = 128;

/** x [T, cols] -> x W^T [T, rows]. Borrows x, returns owned. */
export function linearSimd(x: tf.Tensor2D, w: WeightMatrix, stored: SimdWeight): tf.Tensor2D {
  const [tokens] = x.shape;
  const y = allocate2D(tokens, w.rows);
  const work = scratch(productBytes(w, stored, tokens));
  multiply(w, stored, pointerOf(x), pointerOf(y), tokens, work, stored.kernels);
  return y;
}

/** Scratch that {@link multiply} needs. */
export function productBytes({ cols }: WeightMatrix, { form }: SimdWeight, tokens: number): number {
  const padded = tokens === 1 ? 1 : Math.ceil(tokens / 4) * 4;
  if (form.kind === 'floats') return TILE_BYTES + (tokens === 1 ? 0 : padded * cols * 4);
  const blocks = cols / form.block;
  const spread = form.kind === 'nibbles' ? 320 * blocks : 0;
  return TILE_BYTES + padded * (2 * cols + 8 * blocks) + spread;
}

/** x [tokens, cols] at an address -> x W^T [tokens, rows] at `y`; `work` is scratch. */
export function multiply(
  { rows, cols }: WeightMatrix,
  { form, pointer }: SimdWeight,
  x: number,
  y: number,
  tokens: number,
  work: number,
  kernels: SimdKernels,
): void {
  const acc = work;
  const panels = Math.ceil(rows / PANEL);
  const rest = work + TILE_BYTES;
  if (form.kind === 'floats') {
    if (tokens === 1) {
      kernels.floatsTimes1(pointer, x, y, acc, rows, cols, form.code, 0, panels);
    } else {
      kernels.interleaveRows(x, rest, tokens, cols);
      kernels.floatsTimes4(pointer, rest, y, acc, tokens, rows, cols, form.code, 0, panels);
    }
    return;
  }
  const tile = tokens === 1 ? 1 : 4;
  const padded = Math.ceil(tokens / tile) * tile;
  const blocks = cols / form.block;
  const s = rest;
  const sums = s + padded * blocks * 4;
  const q = sums + padded * blocks * 4;
  kernels.quantizeRows(x, q, s, sums, tokens, cols, form.block, tile, 0, tokens);
  if (form.kind === 'nibbles') {
    if (tile === 1) kernels.nibblesTimes1(pointer, q, s, sums, y, acc, rows, blocks, 0, panels);
    else {
      const panel = q + padded * cols * 2;
      kernels.nibblesTimes4(pointer, q, s, sums, y, acc, panel, tokens, rows, blocks, 0, panels);
    }
    return;
  }
  const pairs = form.block / 2;
  const offsets = form.offsets ? 1 : 0;
  if (tile === 1) {
    kernels.bytesTimes1(pointer, q, s, sums, y, acc, rows, blocks, pairs, offsets, 0, panels);
  } else {
    kernels.bytesTimes4(
      pointer,
      q,
      s,
      sums,
      y,
      acc,
      tokens,
      rows,
      blocks,
      pairs,
      offsets,
      0,
      panels,
    );
  }
}

/**
 * dy [T, rows] -> dy W [T, cols]. Where W is quantised, dy times a block's d is rounded to 16 bits, by at most
 * 2^-16 of the largest of 32 rows. Borrows dy, returns owned.
 */
export function linearBackwardSimd(
  dy: tf.Tensor2D,
  w: WeightMatrix,
  stored: SimdWeight,
): tf.Tensor2D {
  const { rows, cols } = w;
  const { form, kernels, pointer, stride } = stored;
  const tokens = dy.shape[0];
  const dx = allocate2D(tokens, cols);
  const work = scratch(transposedBytes(form.kind === 'floats' ? 'floats' : 'blocks', tokens));
  const [from, to] = [pointerOf(dy), pointerOf(dx)];
  if (form.kind === 'floats') {
    kernels.transposedFloats(
      pointer,
      stride,
      from,
      to,
      tokens,
      rows,
      cols,
      form.code,
      work,
      0,
      cols,
    );
    return dx;
  }
  const { block } = form;
  const nibbles = form.kind === 'nibbles';
  const offsets = nibbles || form.offsets ? 1 : 0;
  kernels.transposedBlocks(
    pointer,
    stride,
    from,
    to,
    tokens,
    rows,
    cols,
    block,
    nibbles ? 1 : 0,
    offsets,
    work,
    0,
    cols / block,
  );
  return dx;
}

/** w [rows, cols], ids [T] -> [T, cols], decoded. Returns owned. */
export function gatherSimd(w: WeightMatrix, stored: SimdWeight, ids: Int32Array): tf.Tensor2D {
  const out = allocate2D(ids.length, w.cols);
  decodeRows(w, stored, ids, pointerOf(out), scratch(GATHER_BYTES));
  return out;
}

/** Scratch that {@link decodeRows} needs. */
export const GATHER_BYTES = 32 * PANEL * 4;

/** The rows of `ids`, decoded, to [ids, cols] at `to`; `work` is scratch. */
export function decodeRows(
  w: WeightMatrix,
  stored: SimdWeight,
  ids: ArrayLike<number>,
  to: number,
  work: number,
): void {
  const decoded = heapFloats(work, 32 * PANEL);
  const values = heapFloats(to, ids.length * w.cols);
  for (let t = 0; t < ids.length; t++) {
    const id = ids[t] as number; // t < length
    const from = stored.pointer + Math.floor(id / PANEL) * stored.stride;
    for (let col = 0; col < w.cols; ) {
      const width = decodeColumns(w, stored, from, col, work, 4 * PANEL, 1);
      for (let k = 0; k < width; k++) {
        values[t * w.cols + col + k] = decoded[k * PANEL + (id % PANEL)] as number; // in the panel
      }
      col += width;
    }
  }
}

/**
 * Decodes the block of columns that begins at `col`, for `panels` panels from address `from` on, to
 * [width][padded rows] at `out`; returns its width.
 */
export function decodeColumns(
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
