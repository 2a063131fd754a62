/**
 * dx[t, i] = Σ_r dy[t, r] W[r, i] for a matrix of plain numbers, for up to 32 columns i and a run of rows
 * r that fits the processor's second cache: W's columns decoded to float32 once, read by all tokens.
 */

import { interleaveQuads } from './activations.as';
import { floatsColumns } from './floats.as';
import { sum4 } from './vec.as';

const RUN = 1024;

/**
 * Columns `from` … `to` - 1; `w`'s panels lie `stride` bytes apart, its numbers are of `kind` (as in
 * floats.as.ts). dy [tokens, rows], dx [tokens, cols]. `work` is scratch of 131,072 bytes and 4,096 for
 * each token, their number rounded up to four.
 */
export function transposedFloats(
  w: usize,
  stride: usize,
  dy: usize,
  dx: usize,
  tokens: i32,
  rows: i32,
  cols: i32,
  kind: i32,
  work: usize,
  from: i32,
  to: i32,
): void {
  const quads = work + 128 * RUN;
  for (let t = 0; t < tokens; t++) {
    memory.fill(dx + (<usize>(t * cols + from) << 2), 0, <usize>(to - from) << 2);
  }
  for (let first = 0; first < rows; first += RUN) {
    const count = min(RUN, rows - first);
    const panels = (count + 7) >> 3;
    const padded = panels << 3;
    const run = w + stride * (<usize>first >> 3);
    interleaveQuads(dy, quads, tokens, rows, first, count, padded);
    for (let col = from; col < to; col += 32) {
      const width = min(32, to - col);
      const at = run + (<usize>col << (kind == 0 ? 5 : 4));
      floatsColumns(at, work, <usize>padded << 2, panels, stride, width, kind);
      addTransposed(work, quads, dx, tokens, cols, col, width, padded);
    }
  }
}

/**
 * `columns` [32][padded] f32 (a column's rows side by side), dy as interleaveQuads leaves it, dx
 * [tokens, cols]; adds to columns first … first + count - 1. `padded` is a multiple of 4.
 */
function addTransposed(
  columns: usize,
  dy: usize,
  dx: usize,
  tokens: i32,
  cols: i32,
  first: i32,
  count: i32,
  padded: i32,
): void {
  const stride = <usize>padded << 2;
  for (let t = 0; t < tokens; t += 4) {
    const from = dy + (<usize>(t * padded) << 2);
    for (let k = 0; k < count; k += 2) {
      let c0 = columns + stride * k;
      let yp = from;
      const end = c0 + stride;
      let a0 = f32x4.splat(0);
      let a1 = f32x4.splat(0);
      let a2 = f32x4.splat(0);
      let a3 = f32x4.splat(0);
      let b0 = f32x4.splat(0);
      let b1 = f32x4.splat(0);
      let b2 = f32x4.splat(0);
      let b3 = f32x4.splat(0);
      for (; c0 < end; c0 += 16) {
        const w0 = v128.load(c0);
        const w1 = v128.load(c0 + stride);
        let v = v128.load(yp);
        a0 = f32x4.add(a0, f32x4.mul(w0, v));
        b0 = f32x4.add(b0, f32x4.mul(w1, v));
        v = v128.load(yp, 16);
        a1 = f32x4.add(a1, f32x4.mul(w0, v));
        b1 = f32x4.add(b1, f32x4.mul(w1, v));
        v = v128.load(yp, 32);
        a2 = f32x4.add(a2, f32x4.mul(w0, v));
        b2 = f32x4.add(b2, f32x4.mul(w1, v));
        v = v128.load(yp, 48);
        a3 = f32x4.add(a3, f32x4.mul(w0, v));
        b3 = f32x4.add(b3, f32x4.mul(w1, v));
        yp += 64;
      }
      let to = dx + (<usize>(t * cols + first + k) << 2);
      const second = k + 1 < count;
      const row = <usize>cols << 2;
      plus(to, a0, b0, second);
      if (t + 1 < tokens) plus(to + row, a1, b1, second);
      if (t + 2 < tokens) plus(to + 2 * row, a2, b2, second);
      if (t + 3 < tokens) plus(to + 3 * row, a3, b3, second);
    }
  }
}

// @ts-ignore: decorator
@inline
function plus(to: usize, a: v128, b: v128, second: bool): void {
  store<f32>(to, load<f32>(to) + sum4(a));
  if (second) store<f32>(to, load<f32>(to, 4) + sum4(b), 4);
}
