/**
 * Products with a matrix of 4-bit values, value = d · q + m with d and m for each 32 columns of a row.
 * The matrix lies in panels of eight rows, 192 bytes a block of 32 columns: for each 8 columns c two
 * vectors (rows 0-3, rows 4-7) of 16-bit lanes, lane 2r + p holding row r's columns 8c + p, + 2, + 4, + 6
 * in its four nibbles from the lowest up; then d[8] and m[8] as float32. With x as 16-bit integers one
 * instruction multiplies two columns of four rows.
 */

import { panelTimes4 } from './bytes.as';
import { storePanel } from './panel.as';

const BLOCK: usize = 192;
/** The same block as bytes. */
const BYTES: usize = 320;

/**
 * y [tokens, rows] for tokens in tiles of 4, panels `from` … `to` - 1. Each panel is spread out to bytes in `panel`, scratch of 320
 * bytes a block, and multiplied as such, at 27 instead of 17 billion products a second with 64 tokens
 * (one busy core): the registers do not hold nibbles and eight sums at once. `acc` is scratch of 128 bytes, `blocks` = cols / 32.
 */
export function nibblesTimes4(
  w: usize,
  q: usize,
  s: usize,
  sums: usize,
  y: usize,
  acc: usize,
  panel: usize,
  tokens: i32,
  rows: i32,
  blocks: i32,
  from: i32,
  to: i32,
): void {
  w += BLOCK * <usize>(from * blocks);
  for (let row = from << 3; row < min(to << 3, rows); row += 8) {
    let to = panel;
    for (let b = 0; b < blocks; b++) {
      spread(w, to);
      w += BLOCK;
      to += BYTES;
    }
    panelTimes4(panel, q, s, sums, y, acc, tokens, row, rows, blocks, 16, true);
  }
}

/** The block at `w` as bytes.as.ts has it: 16 vectors of two columns, then d and m; 320 bytes. */
// @ts-ignore: decorator
@inline
export function spread(w: usize, to: usize): void {
  const mask = i16x8.splat(15);
  for (let c: usize = 0; c < 128; c += 32) {
    const v0 = v128.load(w + c);
    const v1 = v128.load(w + c, 16);
    const at = to + 2 * c;
    v128.store(at, i8x16.narrow_i16x8_u(v128.and(v0, mask), v128.and(v1, mask)));
    v128.store(at, i8x16.narrow_i16x8_u(nibble(v0, 4, mask), nibble(v1, 4, mask)), 16);
    v128.store(at, i8x16.narrow_i16x8_u(nibble(v0, 8, mask), nibble(v1, 8, mask)), 32);
    v128.store(at, i8x16.narrow_i16x8_u(i16x8.shr_u(v0, 12), i16x8.shr_u(v1, 12)), 48);
  }
  for (let i: usize = 0; i < 64; i += 16) v128.store(to + 256 + i, v128.load(w + 128 + i));
}

// @ts-ignore: decorator
@inline
function nibble(v: v128, shift: i32, mask: v128): v128 {
  return v128.and(i16x8.shr_u(v, shift), mask);
}

// @ts-ignore: decorator
@inline
function finished(acc: v128, q: v128, d: v128, m: v128, s: usize, sum: usize): v128 {
  const product = f32x4.mul(f32x4.convert_i32x4_s(q), f32x4.mul(d, v128.load32_splat(s)));
  return f32x4.add(f32x4.add(acc, product), f32x4.mul(m, v128.load32_splat(sum)));
}

/** The same for one token, bit for bit. */
export function nibblesTimes1(
  w: usize,
  q: usize,
  s: usize,
  sums: usize,
  y: usize,
  acc: usize,
  rows: i32,
  blocks: i32,
  from: i32,
  to: i32,
): void {
  const low = i16x8.splat(15);
  const high = i16x8.splat(240);
  let wp = w + BLOCK * <usize>(from * blocks);
  for (let row = from << 3; row < min(to << 3, rows); row += 8) {
    let xp = q;
    let sp = s;
    let mp = sums;
    let y0 = f32x4.splat(0);
    let y1 = f32x4.splat(0);
    for (let b = 0; b < blocks; b++) {
      // Nibbles 1 and 3 stay where they are, 16 times too large; their sums are shifted at the end.
      let a0 = i32x4.splat(0);
      let b0 = i32x4.splat(0);
      let a1 = i32x4.splat(0);
      let b1 = i32x4.splat(0);
      const end = wp + 128;
      for (; wp < end; wp += 32) {
        const v0 = v128.load(wp);
        const v1 = v128.load(wp, 16);
        const u0 = i16x8.shr_u(v0, 8);
        const u1 = i16x8.shr_u(v1, 8);
        let x = v128.load32_splat(xp);
        a0 = i32x4.add(a0, i32x4.dot_i16x8_s(v128.and(v0, low), x));
        a1 = i32x4.add(a1, i32x4.dot_i16x8_s(v128.and(v1, low), x));
        x = v128.load32_splat(xp, 4);
        b0 = i32x4.add(b0, i32x4.dot_i16x8_s(v128.and(v0, high), x));
        b1 = i32x4.add(b1, i32x4.dot_i16x8_s(v128.and(v1, high), x));
        x = v128.load32_splat(xp, 8);
        a0 = i32x4.add(a0, i32x4.dot_i16x8_s(v128.and(u0, low), x));
        a1 = i32x4.add(a1, i32x4.dot_i16x8_s(v128.and(u1, low), x));
        x = v128.load32_splat(xp, 12);
        b0 = i32x4.add(b0, i32x4.dot_i16x8_s(v128.and(u0, high), x));
        b1 = i32x4.add(b1, i32x4.dot_i16x8_s(v128.and(u1, high), x));
        xp += 16;
      }
      a0 = i32x4.add(a0, i32x4.shr_s(b0, 4));
      a1 = i32x4.add(a1, i32x4.shr_s(b1, 4));
      y0 = finished(y0, a0, v128.load(wp), v128.load(wp, 32), sp, mp);
      y1 = finished(y1, a1, v128.load(wp, 16), v128.load(wp, 48), sp, mp);
      wp += 64;
      sp += 4;
      mp += 4;
    }
    v128.store(acc, y0);
    v128.store(acc, y1, 16);
    storePanel(acc, y, 0, 1, row, rows);
  }
}

/**
 * The block at `w` of each of `panels` panels, `panelBytes` apart: out[k · stride + 4 r] = value of row
 * r, column k.
 */
export function nibblesColumns(
  w: usize,
  out: usize,
  stride: usize,
  panels: i32,
  panelBytes: usize,
): void {
  const mask = i16x8.splat(15);
  for (let half = 0; half < 2 * panels; half++) {
    const part: usize = (half & 1) << 4;
    const d = v128.load(w + 128 + part);
    const m = v128.load(w + 160 + part);
    let to = out;
    for (let c: usize = 0; c < 128; c += 32) {
      let v = v128.load(w + c + part);
      for (let j = 0; j < 4; j++) {
        const q = v128.and(v, mask);
        v = i16x8.shr_u(v, 4);
        const even = v128.and(q, i32x4.splat(0xffff));
        v128.store(to, f32x4.add(f32x4.mul(f32x4.convert_i32x4_s(even), d), m));
        const odd = i32x4.shr_u(q, 16);
        v128.store(to + stride, f32x4.add(f32x4.mul(f32x4.convert_i32x4_s(odd), d), m));
        to += 2 * stride;
      }
    }
    out += 16;
    if (part) w += panelBytes;
  }
}
