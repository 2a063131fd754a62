/**
 * Products with a matrix of plain numbers (0: float32, 1: float16, 2: bfloat16) in panels of eight rows,
 * column by column: [rows / 8][cols][8].
 */

import { storePanel } from './panel.as';
import { brains4, halves4 } from './vec.as';

// @ts-ignore: decorator
@inline
function four(at: usize, kind: i32): v128 {
  if (kind == 1) return halves4(at);
  if (kind == 2) return brains4(at);
  return v128.load(at);
}

// @ts-ignore: decorator
@inline
function times4(
  w: usize,
  x: usize,
  y: usize,
  acc: usize,
  tokens: i32,
  rows: i32,
  cols: i32,
  kind: i32,
  from: i32,
  to: i32,
): void {
  const half: usize = kind == 0 ? 16 : 8;
  for (let row = from << 3; row < min(to << 3, rows); row += 8) {
    for (let t = 0; t < tokens; t += 4) {
      let wp = w + (<usize>(row * cols)) * (half >> 2);
      let xp = x + (<usize>(t * cols) << 2);
      const end = xp + (<usize>cols << 4);
      let a0 = f32x4.splat(0);
      let a1 = f32x4.splat(0);
      let a2 = f32x4.splat(0);
      let a3 = f32x4.splat(0);
      let b0 = f32x4.splat(0);
      let b1 = f32x4.splat(0);
      let b2 = f32x4.splat(0);
      let b3 = f32x4.splat(0);
      for (; xp < end; xp += 16) {
        const w0 = four(wp, kind);
        const w1 = four(wp + half, kind);
        let v = v128.load32_splat(xp);
        a0 = f32x4.add(a0, f32x4.mul(w0, v));
        b0 = f32x4.add(b0, f32x4.mul(w1, v));
        v = v128.load32_splat(xp, 4);
        a1 = f32x4.add(a1, f32x4.mul(w0, v));
        b1 = f32x4.add(b1, f32x4.mul(w1, v));
        v = v128.load32_splat(xp, 8);
        a2 = f32x4.add(a2, f32x4.mul(w0, v));
        b2 = f32x4.add(b2, f32x4.mul(w1, v));
        v = v128.load32_splat(xp, 12);
        a3 = f32x4.add(a3, f32x4.mul(w0, v));
        b3 = f32x4.add(b3, f32x4.mul(w1, v));
        wp += 2 * half;
      }
      v128.store(acc, a0);
      v128.store(acc, b0, 16);
      v128.store(acc, a1, 32);
      v128.store(acc, b1, 48);
      v128.store(acc, a2, 64);
      v128.store(acc, b2, 80);
      v128.store(acc, a3, 96);
      v128.store(acc, b3, 112);
      storePanel(acc, y, t, tokens, row, rows);
    }
  }
}

// @ts-ignore: decorator
@inline
function times1(
  w: usize,
  x: usize,
  y: usize,
  acc: usize,
  rows: i32,
  cols: i32,
  kind: i32,
  from: i32,
  to: i32,
): void {
  const half: usize = kind == 0 ? 16 : 8;
  // Two panels at a time: a sum must wait for the addition before it.
  const panel = (<usize>cols) * (half << 1);
  for (let at = from; at < to; at += 2) {
    let wp = w + panel * at;
    const ahead = at + 1 < to ? panel : 0;
    const end = x + (<usize>cols << 2);
    let a0 = f32x4.splat(0);
    let b0 = f32x4.splat(0);
    let a1 = f32x4.splat(0);
    let b1 = f32x4.splat(0);
    for (let xp = x; xp < end; xp += 4) {
      const v = v128.load32_splat(xp);
      a0 = f32x4.add(a0, f32x4.mul(four(wp, kind), v));
      b0 = f32x4.add(b0, f32x4.mul(four(wp + half, kind), v));
      a1 = f32x4.add(a1, f32x4.mul(four(wp + ahead, kind), v));
      b1 = f32x4.add(b1, f32x4.mul(four(wp + ahead + half, kind), v));
      wp += 2 * half;
    }
    v128.store(acc, a0);
    v128.store(acc, b0, 16);
    v128.store(acc, a1, 32);
    v128.store(acc, b1, 48);
    storePanel(acc, y, 0, 1, at << 3, rows);
    if (ahead) storePanel(acc + 32, y, 0, 1, (at << 3) + 8, rows);
  }
}

/** y [tokens, rows], panels `from` … `to` - 1; x as interleaveRows leaves it; `acc` is scratch of 128 bytes. */
export function floatsTimes4(
  w: usize,
  x: usize,
  y: usize,
  acc: usize,
  tokens: i32,
  rows: i32,
  cols: i32,
  kind: i32,
  from: i32,
  to: i32,
): void {
  if (kind == 1) times4(w, x, y, acc, tokens, rows, cols, 1, from, to);
  else if (kind == 2) times4(w, x, y, acc, tokens, rows, cols, 2, from, to);
  else times4(w, x, y, acc, tokens, rows, cols, 0, from, to);
}

/** The same for one row of x as it is, bit for bit. */
export function floatsTimes1(
  w: usize,
  x: usize,
  y: usize,
  acc: usize,
  rows: i32,
  cols: i32,
  kind: i32,
  from: i32,
  to: i32,
): void {
  if (kind == 1) times1(w, x, y, acc, rows, cols, 1, from, to);
  else if (kind == 2) times1(w, x, y, acc, rows, cols, 2, from, to);
  else times1(w, x, y, acc, rows, cols, 0, from, to);
}

/**
 * `count` columns from `w` on of each of `panels` panels, `panelBytes` apart: out[k · stride + 4 r] =
 * value of row r, column k.
 */
export function floatsColumns(
  w: usize,
  out: usize,
  stride: usize,
  panels: i32,
  panelBytes: usize,
  count: i32,
  kind: i32,
): void {
  const half: usize = kind == 0 ? 16 : 8;
  for (let p = 0; p < panels; p++) {
    let from = w;
    let to = out;
    for (let k = 0; k < count; k++) {
      v128.store(to, four(from, kind));
      v128.store(to, four(from + half, kind), 16);
      from += 2 * half;
      to += stride;
    }
    w += panelBytes;
    out += 32;
  }
}
