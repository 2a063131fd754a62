/** One block of signed bytes times 16-bit integers: eight rows of the matrix, or eight columns, with four tokens. */

/**
 * acc [4 tokens][8] += s[token] · Σ q x over the pairs from `wp` to `end`: 16 bytes of a pair of eight, and x
 * [pair][4 tokens][2] at `xp`. With `factors`, each of the eight has its own besides, d[8] at `end`; with `offsets`
 * too, m[8] behind them times sum[token].
 */
// @ts-ignore: decorator
@inline
export function dotBlock(
  acc: usize,
  wp: usize,
  end: usize,
  xp: usize,
  s: usize,
  sum: usize,
  factors: bool,
  offsets: bool,
): void {
  let a0 = i32x4.splat(0);
  let a1 = i32x4.splat(0);
  let a2 = i32x4.splat(0);
  let a3 = i32x4.splat(0);
  let b0 = i32x4.splat(0);
  let b1 = i32x4.splat(0);
  let b2 = i32x4.splat(0);
  let b3 = i32x4.splat(0);
  for (; wp < end; wp += 16) {
    const v = v128.load(wp);
    const w0 = i16x8.extend_low_i8x16_s(v);
    const w1 = i16x8.extend_high_i8x16_s(v);
    let x = v128.load32_splat(xp);
    a0 = i32x4.add(a0, i32x4.dot_i16x8_s(w0, x));
    b0 = i32x4.add(b0, i32x4.dot_i16x8_s(w1, x));
    x = v128.load32_splat(xp, 4);
    a1 = i32x4.add(a1, i32x4.dot_i16x8_s(w0, x));
    b1 = i32x4.add(b1, i32x4.dot_i16x8_s(w1, x));
    x = v128.load32_splat(xp, 8);
    a2 = i32x4.add(a2, i32x4.dot_i16x8_s(w0, x));
    b2 = i32x4.add(b2, i32x4.dot_i16x8_s(w1, x));
    x = v128.load32_splat(xp, 12);
    a3 = i32x4.add(a3, i32x4.dot_i16x8_s(w0, x));
    b3 = i32x4.add(b3, i32x4.dot_i16x8_s(w1, x));
    xp += 16;
  }
  addScaled(acc, a0, b0, end, s, sum, factors, offsets);
  addScaled(acc + 32, a1, b1, end, s + 4, sum + 4, factors, offsets);
  addScaled(acc + 64, a2, b2, end, s + 8, sum + 8, factors, offsets);
  addScaled(acc + 96, a3, b3, end, s + 12, sum + 12, factors, offsets);
}

/** The sums of one token, a and b of four each, as {@link dotBlock} adds them to acc [8]. */
// @ts-ignore: decorator
@inline
export function addScaled(
  acc: usize,
  a: v128,
  b: v128,
  scales: usize,
  s: usize,
  sum: usize,
  factors: bool,
  offsets: bool,
): void {
  const s4 = v128.load32_splat(s);
  const d0 = factors ? f32x4.mul(v128.load(scales), s4) : s4;
  const d1 = factors ? f32x4.mul(v128.load(scales, 16), s4) : s4;
  let y0 = f32x4.add(v128.load(acc), f32x4.mul(f32x4.convert_i32x4_s(a), d0));
  let y1 = f32x4.add(v128.load(acc, 16), f32x4.mul(f32x4.convert_i32x4_s(b), d1));
  if (offsets) {
    const x = v128.load32_splat(sum);
    y0 = f32x4.add(y0, f32x4.mul(v128.load(scales, 32), x));
    y1 = f32x4.add(y1, f32x4.mul(v128.load(scales, 48), x));
  }
  v128.store(acc, y0);
  v128.store(acc, y1, 16);
}
