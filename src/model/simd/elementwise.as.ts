/** RMSNorm, SwiGLU and the LoRA term of decoded tokens with 128-bit vectors. */

import { exp4 } from './vec.as';

/** 1 / sqrt(mean(x²) + eps) over `cols` values at `x`; the sum runs in double. */
// @ts-ignore: decorator
@inline
function inverseRms(x: usize, cols: i32, eps: f64): f64 {
  let a = f64x2.splat(0);
  let b = f64x2.splat(0);
  let i = 0;
  for (; i + 4 <= cols; i += 4) {
    const v = v128.load(x + (<usize>i << 2));
    const low = f64x2.promote_low_f32x4(v);
    const high = f64x2.promote_low_f32x4(v128.shuffle<i64>(v, v, 1, 1));
    a = f64x2.add(a, f64x2.mul(low, low));
    b = f64x2.add(b, f64x2.mul(high, high));
  }
  a = f64x2.add(a, b);
  let sum = f64x2.extract_lane(a, 0) + f64x2.extract_lane(a, 1);
  for (; i < cols; i++) {
    const v = <f64>load<f32>(x + (<usize>i << 2));
    sum += v * v;
  }
  return 1 / Math.sqrt(sum / <f64>cols + eps);
}

/** y[t, d] = x[t, d] · r_t · gain[d]. */
export function rmsNorm(x: usize, gain: usize, y: usize, rows: i32, cols: i32, eps: f64): void {
  const bytes = <usize>cols << 2;
  for (let t = 0; t < rows; t++) {
    const r = <f32>inverseRms(x, cols, eps);
    const r4 = f32x4.splat(r);
    let i: usize = 0;
    for (; i + 16 <= bytes; i += 16) {
      v128.store(y + i, f32x4.mul(f32x4.mul(v128.load(x + i), r4), v128.load(gain + i)));
    }
    for (; i < bytes; i += 4) store<f32>(y + i, load<f32>(x + i) * r * load<f32>(gain + i));
    x += bytes;
    y += bytes;
  }
}

/** 1 / (1 + e^-g). */
// @ts-ignore: decorator
@inline
function sigmoid4(g: v128): v128 {
  const bounded = f32x4.min(f32x4.max(f32x4.neg(g), f32x4.splat(-87)), f32x4.splat(87));
  const one = f32x4.splat(1);
  return f32x4.div(one, f32x4.add(one, exp4(bounded)));
}

// @ts-ignore: decorator
@inline
function silu4(g: v128, up: v128): v128 {
  return f32x4.mul(f32x4.mul(g, sigmoid4(g)), up);
}

/** y = silu(gate) · up, for `length` values. */
export function swiglu(gate: usize, up: usize, y: usize, length: i32): void {
  let i: usize = 0;
  const bytes = <usize>length << 2;
  for (; i + 16 <= bytes; i += 16) {
    v128.store(y + i, silu4(v128.load(gate + i), v128.load(up + i)));
  }
  for (; i < bytes; i += 4) {
    v128.store32_lane(y + i, silu4(v128.load32_zero(gate + i), v128.load32_zero(up + i)), 0);
  }
}

/** dGate = dy · up · σ(g)(1 + g(1 - σ(g))), dUp = dy · silu(g). */
export function swigluBackward(
  gate: usize,
  up: usize,
  dy: usize,
  dGate: usize,
  dUp: usize,
  length: i32,
): void {
  const bytes = <usize>length << 2;
  for (let i: usize = 0; i < bytes; i += 16) {
    const whole = i + 16 <= bytes;
    const last = whole ? i + 4 : bytes;
    for (let at = i; at < last; at += 4) {
      const g = whole ? v128.load(gate + at) : v128.load32_zero(gate + at);
      const u = whole ? v128.load(up + at) : v128.load32_zero(up + at);
      const d = whole ? v128.load(dy + at) : v128.load32_zero(dy + at);
      const one = f32x4.splat(1);
      const sigmoid = sigmoid4(g);
      const slope = f32x4.add(one, f32x4.mul(g, f32x4.sub(one, sigmoid)));
      const gradient = f32x4.mul(f32x4.mul(f32x4.mul(d, u), sigmoid), slope);
      const through = f32x4.mul(f32x4.mul(d, g), sigmoid);
      if (whole) {
        v128.store(dGate + at, gradient);
        v128.store(dUp + at, through);
      } else {
        v128.store32_lane(dGate + at, gradient, 0);
        v128.store32_lane(dUp + at, through, 0);
      }
    }
  }
}

/**
 * y[t, o] += scale · Σ_k h_k bT[k, o], h_k = Σ_i x[t, i] aT[i, k]. `rank` and `outputs` are multiples of
 * 4; `hidden` is scratch of `rank` values.
 */
export function loraAdd(
  y: usize,
  x: usize,
  aT: usize,
  bT: usize,
  hidden: usize,
  rows: i32,
  inputs: i32,
  rank: i32,
  outputs: i32,
  scale: f32,
): void {
  const r = <usize>rank << 2;
  const row = <usize>outputs << 2;
  for (let t = 0; t < rows; t++) {
    for (let k: usize = 0; k < r; k += 16) {
      let s0 = f32x4.splat(0);
      let s1 = f32x4.splat(0);
      let a = aT + k;
      let xp = x;
      const end = x + (<usize>(inputs & ~1) << 2);
      for (; xp < end; xp += 8) {
        s0 = f32x4.add(s0, f32x4.mul(v128.load32_splat(xp), v128.load(a)));
        s1 = f32x4.add(s1, f32x4.mul(v128.load32_splat(xp, 4), v128.load(a + r)));
        a += 2 * r;
      }
      if (inputs & 1) s0 = f32x4.add(s0, f32x4.mul(v128.load32_splat(xp), v128.load(a)));
      v128.store(hidden + k, f32x4.mul(f32x4.add(s0, s1), f32x4.splat(scale)));
    }
    for (let o: usize = 0; o < row; o += 16) {
      let sum = f32x4.splat(0);
      let b = bT + o;
      for (let k: usize = 0; k < r; k += 4) {
        sum = f32x4.add(sum, f32x4.mul(v128.load32_splat(hidden + k), v128.load(b)));
        b += row;
      }
      v128.store(y + o, f32x4.add(v128.load(y + o), sum));
    }
    x += <usize>inputs << 2;
    y += row;
  }
}
