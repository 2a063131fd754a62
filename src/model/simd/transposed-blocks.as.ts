/**
 * dx[t, i] = Σ_r dy[t, r] W[r, i] for a matrix of quantised blocks, W[r, i] = d q (+ m) with d and m for
 * a block of columns. In runs of up to 512 rows, block by block: dy · d is rounded to 16 bits, with a
 * scale for each 32 rows of a token, and meets the integers q, two rows of eight columns an instruction;
 * Σ_r dy m stays float32.
 */

import { dotBlock } from './dot-block.as';
import { spread } from './nibbles.as';
import { sum4 } from './vec.as';

const RUN = 512;
/** Rows that share a scale. */
const GROUP = 32;

/** Parts of the scratch, in bytes from its start; the rows of dy come last. */
const COLUMNS: usize = 0;
const D: usize = 32 * RUN;
const M: usize = D + 4 * RUN;
const BLOCK: usize = M + 4 * RUN;
const Q: usize = BLOCK + 320;
const S: usize = Q + 8 * RUN;
const LARGEST_D: usize = S + (16 * RUN) / GROUP;
const SUMS: usize = LARGEST_D + (4 * RUN) / GROUP;
const ACC: usize = SUMS + 16;
const LARGEST: usize = ACC + 128;

/**
 * Blocks `from` … `to` - 1 of columns; `w`'s panels lie `stride` bytes apart. dy [tokens, rows],
 * dx [tokens, cols]. `nibbles`: 4-bit values with offsets, else signed bytes with or without. `work` is
 * scratch of 25,360 bytes and 2,112 for each token, their number rounded up to four.
 */
export function transposedBlocks(
  w: usize,
  stride: usize,
  dy: usize,
  dx: usize,
  tokens: i32,
  rows: i32,
  cols: i32,
  block: i32,
  nibbles: bool,
  offsets: bool,
  work: usize,
  from: i32,
  to: i32,
): void {
  const padded = (tokens + 3) & ~3;
  const scaled = work + LARGEST + ((<usize>(padded * (RUN / GROUP))) << 2);
  const blockBytes: usize = nibbles ? 192 : (<usize>block << 3) + (offsets ? 64 : 32);
  for (let first = 0; first < rows; first += RUN) {
    const count = min(RUN, rows - first);
    const groups = (count + GROUP - 1) / GROUP;
    const panels = w + stride * ((<usize>first) >> 3);
    scaleRows(dy + (<usize>first << 2), scaled, work + LARGEST, tokens, rows, count, groups);
    for (let b = from; b < to; b++) {
      spreadColumns(panels + blockBytes * b, stride, work, count, groups, block, nibbles, offsets);
      scaleFactors(work, groups);
      for (let t = 0; t < tokens; t += 4) {
        roundRows(work, scaled, t, groups, offsets);
        for (let c = 0; c < block; c += 8) {
          timesEight(work, groups, c);
          const out = dx + (<usize>(t * cols + b * block + c) << 2);
          storeEight(work, out, <usize>cols << 2, min(4, tokens - t), first == 0);
        }
      }
    }
  }
}

/**
 * `count` values of each row of dy, `rows` values apart, as multiples of the 32767th part of the largest
 * of each group of 32, which goes to largest [tile][groups][4]: out [tile of 4 tokens][row / 4][4 tokens][4].
 */
function scaleRows(
  dy: usize,
  out: usize,
  largest: usize,
  tokens: i32,
  rows: i32,
  count: i32,
  groups: i32,
): void {
  const padded = (tokens + 3) & ~3;
  for (let t = 0; t < padded; t++) {
    let at = dy + (<usize>(t * rows) << 2);
    let to = out + (<usize>((t & ~3) * groups * GROUP + ((t & 3) << 2)) << 2);
    let most = largest + (<usize>((t & ~3) * groups + (t & 3)) << 2);
    for (let g = 0; g < groups; g++) {
      const left = t < tokens ? count - g * GROUP : 0;
      let top = f32x4.splat(0);
      for (let i = 0; i < GROUP; i += 4) {
        const v = fourOf(at + (<usize>i << 2), left - i);
        v128.store(to + (<usize>i << 4), v);
        top = f32x4.max(top, f32x4.abs(v));
      }
      const whole = max4(top);
      const factor = f32x4.splat(whole != 0 ? 32767 / whole : 0);
      for (let i = 0; i < GROUP; i += 4) {
        const place = to + (<usize>i << 4);
        v128.store(place, f32x4.mul(v128.load(place), factor));
      }
      store<f32>(most, whole);
      at += 4 * GROUP;
      to += 16 * GROUP;
      most += 16;
    }
  }
}

/** Four values of which `left` are there; zeros for the others. */
// @ts-ignore: decorator
@inline
function fourOf(at: usize, left: i32): v128 {
  if (left >= 4) return v128.load(at);
  let v = f32x4.splat(0);
  if (left > 0) v = f32x4.replace_lane(v, 0, load<f32>(at));
  if (left > 1) v = f32x4.replace_lane(v, 1, load<f32>(at, 4));
  if (left > 2) v = f32x4.replace_lane(v, 2, load<f32>(at, 8));
  return v;
}

// @ts-ignore: decorator
@inline
function max4(v: v128): f32 {
  return max(
    max(f32x4.extract_lane(v, 0), f32x4.extract_lane(v, 1)),
    max(f32x4.extract_lane(v, 2), f32x4.extract_lane(v, 3)),
  );
}

/**
 * One block of columns of a run: COLUMNS [8 columns][row / 2][column][2 rows] as bytes, D and M [row].
 * Rows that are not there have d = m = 0.
 */
function spreadColumns(
  at: usize,
  stride: usize,
  work: usize,
  count: i32,
  groups: i32,
  block: i32,
  nibbles: bool,
  offsets: bool,
): void {
  const panels = (count + 7) >> 3;
  const eight = <usize>(groups * GROUP) << 3;
  const end = <usize>block << 3;
  memory.fill(work + D, 0, M - D + 4 * RUN);
  for (let p = 0; p < panels; p++) {
    let bytes = at;
    if (nibbles) {
      bytes = work + BLOCK;
      spread(at, bytes);
    }
    const scales = <usize>p << 5;
    for (let i: usize = 0; i < 32; i += 16) {
      v128.store(work + D + scales + i, v128.load(bytes + end + i));
      if (offsets) v128.store(work + M + scales + i, v128.load(bytes + end + 32 + i));
    }
    let to = work + COLUMNS + ((<usize>p) << 6);
    for (let c = 0; c < block; c += 8) {
      turn(bytes + (<usize>c << 3), to);
      to += eight;
    }
    at += stride;
  }
}

/** Four vectors of two columns of eight rows -> four of two rows of eight columns. */
// @ts-ignore: decorator
@inline
function turn(from: usize, to: usize): void {
  const a = swapped(v128.load(from));
  const b = swapped(v128.load(from, 16));
  const c = swapped(v128.load(from, 32));
  const d = swapped(v128.load(from, 48));
  const ab = v128.shuffle<i32>(a, b, 0, 4, 1, 5);
  const cd = v128.shuffle<i32>(c, d, 0, 4, 1, 5);
  const ab2 = v128.shuffle<i32>(a, b, 2, 6, 3, 7);
  const cd2 = v128.shuffle<i32>(c, d, 2, 6, 3, 7);
  v128.store(to, v128.shuffle<i64>(ab, cd, 0, 2));
  v128.store(to, v128.shuffle<i64>(ab, cd, 1, 3), 16);
  v128.store(to, v128.shuffle<i64>(ab2, cd2, 0, 2), 32);
  v128.store(to, v128.shuffle<i64>(ab2, cd2, 1, 3), 48);
}

/** Two rows of two columns, four times: by columns instead of by rows. */
// @ts-ignore: decorator
@inline
function swapped(v: v128): v128 {
  return v128.shuffle<i8>(v, v, 0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15);
}

/** D as parts of the largest of each group, which goes to LARGEST_D. */
function scaleFactors(work: usize, groups: i32): void {
  for (let g = 0; g < groups; g++) {
    const at = work + D + ((<usize>(g * GROUP)) << 2);
    let top = f32x4.splat(0);
    for (let i: usize = 0; i < 4 * GROUP; i += 16) {
      top = f32x4.max(top, f32x4.abs(v128.load(at + i)));
    }
    const whole = max4(top);
    const factor = f32x4.splat(whole != 0 ? 1 / whole : 0);
    for (let i: usize = 0; i < 4 * GROUP; i += 16) {
      v128.store(at + i, f32x4.mul(v128.load(at + i), factor));
    }
    store<f32>(work + LARGEST_D + (<usize>g << 2), whole);
  }
}

/**
 * dy · d of four tokens as 16-bit integers, Q [row / 2][token][2], with their scales S [group][token];
 * SUMS [token] = Σ_r dy m.
 */
function roundRows(work: usize, scaled: usize, t: i32, groups: i32, offsets: bool): void {
  // Added to a number of at most 2^21, its low bits are that number as an integer.
  const magic = f32x4.splat(12582912);
  let at = scaled + (<usize>(t * groups * GROUP) << 2);
  let largest = work + LARGEST + (<usize>(t * groups) << 2);
  let d = work + D;
  let q = work + Q;
  let s0 = f32x4.splat(0);
  let s1 = f32x4.splat(0);
  let s2 = f32x4.splat(0);
  let s3 = f32x4.splat(0);
  for (let g = 0; g < groups; g++) {
    const scale = f32x4.div(v128.load(largest), f32x4.splat(32767));
    const most = v128.load32_splat(work + LARGEST_D + (<usize>g << 2));
    v128.store(work + S + (<usize>g << 4), f32x4.mul(scale, most));
    let m0 = f32x4.splat(0);
    let m1 = f32x4.splat(0);
    let m2 = f32x4.splat(0);
    let m3 = f32x4.splat(0);
    for (let i = 0; i < GROUP; i += 4) {
      const factor = v128.load(d);
      const v0 = v128.load(at);
      const v1 = v128.load(at, 16);
      const v2 = v128.load(at, 32);
      const v3 = v128.load(at, 48);
      const one = lowHalves(
        f32x4.add(f32x4.mul(v0, factor), magic),
        f32x4.add(f32x4.mul(v1, factor), magic),
      );
      const two = lowHalves(
        f32x4.add(f32x4.mul(v2, factor), magic),
        f32x4.add(f32x4.mul(v3, factor), magic),
      );
      v128.store(q, v128.shuffle<i32>(one, two, 0, 2, 4, 6));
      v128.store(q, v128.shuffle<i32>(one, two, 1, 3, 5, 7), 16);
      if (offsets) {
        const m = v128.load(d, M - D);
        m0 = f32x4.add(m0, f32x4.mul(v0, m));
        m1 = f32x4.add(m1, f32x4.mul(v1, m));
        m2 = f32x4.add(m2, f32x4.mul(v2, m));
        m3 = f32x4.add(m3, f32x4.mul(v3, m));
      }
      at += 64;
      d += 16;
      q += 32;
    }
    s0 = f32x4.add(s0, f32x4.mul(m0, v128.shuffle<i32>(scale, scale, 0, 0, 0, 0)));
    s1 = f32x4.add(s1, f32x4.mul(m1, v128.shuffle<i32>(scale, scale, 1, 1, 1, 1)));
    s2 = f32x4.add(s2, f32x4.mul(m2, v128.shuffle<i32>(scale, scale, 2, 2, 2, 2)));
    s3 = f32x4.add(s3, f32x4.mul(m3, v128.shuffle<i32>(scale, scale, 3, 3, 3, 3)));
    largest += 16;
  }
  store<f32>(work + SUMS, sum4(s0));
  store<f32>(work + SUMS, sum4(s1), 4);
  store<f32>(work + SUMS, sum4(s2), 8);
  store<f32>(work + SUMS, sum4(s3), 12);
}

// @ts-ignore: decorator
@inline
function lowHalves(a: v128, b: v128): v128 {
  return v128.shuffle<i16>(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
}

/** ACC [token][8] = Σ over the run for columns c … c + 7 of the block. */
function timesEight(work: usize, groups: i32, c: i32): void {
  const acc = work + ACC;
  let wp = work + COLUMNS + <usize>(c * groups * GROUP);
  let xp = work + Q;
  let sp = work + S;
  for (let i: usize = 0; i < 128; i += 16) v128.store(acc + i, f32x4.splat(0));
  for (let g = 0; g < groups; g++) {
    dotBlock(acc, wp, wp + 8 * GROUP, xp, sp, 0, false, false);
    wp += 8 * GROUP;
    xp += 8 * GROUP;
    sp += 16;
  }
}

/** ACC and each token's SUMS to eight columns of `tokens` rows, `row` bytes apart. */
// @ts-ignore: decorator
@inline
function storeEight(work: usize, out: usize, row: usize, tokens: i32, fresh: bool): void {
  let acc = work + ACC;
  for (let t = 0; t < tokens; t++) {
    const m = v128.load32_splat(work + SUMS + (<usize>t << 2));
    let a = f32x4.add(v128.load(acc), m);
    let b = f32x4.add(v128.load(acc, 16), m);
    if (!fresh) {
      a = f32x4.add(v128.load(out), a);
      b = f32x4.add(v128.load(out, 16), b);
    }
    v128.store(out, a);
    v128.store(out, b, 16);
    acc += 32;
    out += row;
  }
}
