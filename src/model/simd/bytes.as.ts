/**
 * Products with a matrix of signed bytes, value = d · q (+ m) with d (and m) for each block of a row.
 * The matrix lies in panels of eight rows; a block of B columns (16 or 32) is B / 2 vectors, each two
 * columns of the eight rows (byte 2r + p: row r, column p), then d[8] and, where the type has it, m[8]
 * as float32.
 */

import { addScaled, dotBlock } from './dot-block.as';
import { storePanel } from './panel.as';

/**
 * y [tokens, rows] for tokens in tiles of 4, panels `from` … `to` - 1; `pairs` = B / 2; `acc` is scratch of
 * 128 bytes.
 */
export function bytesTimes4(
  w: usize,
  q: usize,
  s: usize,
  sums: usize,
  y: usize,
  acc: usize,
  tokens: i32,
  rows: i32,
  blocks: i32,
  pairs: i32,
  offsets: bool,
  from: i32,
  to: i32,
): void {
  const size = <usize>blocks * ((<usize>pairs << 4) + (offsets ? 64 : 32));
  w += size * from;
  for (let row = from << 3; row < min(to << 3, rows); row += 8) {
    panelTimes4(w, q, s, sums, y, acc, tokens, row, rows, blocks, pairs, offsets);
    w += size;
  }
}

/** The eight rows from `row` on, whose panel begins at `panel`. */
export function panelTimes4(
  panel: usize,
  q: usize,
  s: usize,
  sums: usize,
  y: usize,
  acc: usize,
  tokens: i32,
  row: i32,
  rows: i32,
  blocks: i32,
  pairs: i32,
  offsets: bool,
): void {
  const vectors = (<usize>pairs) << 4;
  const gap: usize = offsets ? 64 : 32;
  for (let t = 0; t < tokens; t += 4) {
    let wp = panel;
    let xp = q + ((<usize>(t * blocks * pairs)) << 2);
    let sp = s + ((<usize>(t * blocks)) << 2);
    const toSums = sums - s;
    for (let i: usize = 0; i < 128; i += 16) v128.store(acc + i, i32x4.splat(0));
    for (let b = 0; b < blocks; b++) {
      const end = wp + vectors;
      dotBlock(acc, wp, end, xp, sp, sp + toSums, true, offsets);
      xp += vectors;
      wp = end + gap;
      sp += 16;
    }
    storePanel(acc, y, t, tokens, row, rows);
  }
}

/** The same for one token, bit for bit. */
export function bytesTimes1(
  w: usize,
  q: usize,
  s: usize,
  sums: usize,
  y: usize,
  acc: usize,
  rows: i32,
  blocks: i32,
  pairs: i32,
  offsets: bool,
  from: i32,
  to: i32,
): void {
  const vectors = (<usize>pairs) << 4;
  let wp = w + <usize>from * <usize>blocks * (vectors + (offsets ? 64 : 32));
  for (let row = from << 3; row < min(to << 3, rows); row += 8) {
    let xp = q;
    let sp = s;
    let mp = sums;
    v128.store(acc, f32x4.splat(0));
    v128.store(acc, f32x4.splat(0), 16);
    for (let b = 0; b < blocks; b++) {
      let a0 = i32x4.splat(0);
      let b0 = i32x4.splat(0);
      let a1 = i32x4.splat(0);
      let b1 = i32x4.splat(0);
      const end = wp + vectors;
      for (; wp < end; wp += 32) {
        let v = v128.load(wp);
        let x = v128.load32_splat(xp);
        a0 = i32x4.add(a0, i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_s(v), x));
        b0 = i32x4.add(b0, i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_s(v), x));
        v = v128.load(wp, 16);
        x = v128.load32_splat(xp, 4);
        a1 = i32x4.add(a1, i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_s(v), x));
        b1 = i32x4.add(b1, i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_s(v), x));
        xp += 8;
      }
      addScaled(acc, i32x4.add(a0, a1), i32x4.add(b0, b1), wp, sp, mp, true, offsets);
      wp += offsets ? 64 : 32;
      sp += 4;
      mp += 4;
    }
    storePanel(acc, y, 0, 1, row, rows);
  }
}

/**
 * The block at `w` of each of `panels` panels, `panelBytes` apart: out[k · stride + 4 r] = value of row
 * r, column k.
 */
export function bytesColumns(
  w: usize,
  out: usize,
  stride: usize,
  panels: i32,
  panelBytes: usize,
  pairs: i32,
  offsets: bool,
): void {
  const vectors = (<usize>pairs) << 4;
  for (let half = 0; half < 2 * panels; half++) {
    const part: usize = (half & 1) << 4;
    const end = w + vectors;
    const d = v128.load(end + part);
    const m = offsets ? v128.load(end + 32 + part) : f32x4.splat(0);
    let to = out;
    for (let at = w; at < end; at += 16) {
      const q = v128.load8x8_s(at + (part >> 1));
      const even = i32x4.shr_s(i32x4.shl(q, 16), 16);
      const odd = i32x4.shr_s(q, 16);
      let a = f32x4.mul(f32x4.convert_i32x4_s(even), d);
      let b = f32x4.mul(f32x4.convert_i32x4_s(odd), d);
      if (offsets) {
        a = f32x4.add(a, m);
        b = f32x4.add(b, m);
      }
      v128.store(to, a);
      v128.store(to + stride, b);
      to += 2 * stride;
    }
    out += 16;
    if (part) w += panelBytes;
  }
}
