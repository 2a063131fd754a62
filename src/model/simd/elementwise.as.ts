/** RMSNorm, gated activations and sums with 128-bit vectors. A result may lie where its first input does. */

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

/** y[t, d] = x[t, d] · r_t · gain[d] for rows `from` … `to` - 1. */
export function rmsNorm(
  x: usize,
  gain: usize,
  y: usize,
  cols: i32,
  eps: f64,
  from: i32,
  to: i32,
): void {
  const bytes = <usize>cols << 2;
  x += bytes * from;
  y += bytes * from;
  for (let t = from; t < to; t++) {
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

/** dx[t, d] = r_t (dy[t, d] gain[d] - x[t, d] r_t² Σ_e dy[t, e] gain[e] x[t, e] / cols), as rmsNorm's rows. */
export function rmsNormBackward(
  x: usize,
  gain: usize,
  dy: usize,
  dx: usize,
  cols: i32,
  eps: f64,
  from: i32,
  to: i32,
): void {
  const bytes = <usize>cols << 2;
  const whole = bytes & ~15;
  x += bytes * from;
  dy += bytes * from;
  dx += bytes * from;
  for (let t = from; t < to; t++) {
    const r = inverseRms(x, cols, eps);
    let a = f64x2.splat(0);
    let b = f64x2.splat(0);
    for (let i: usize = 0; i < whole; i += 16) {
      const slope = f32x4.mul(v128.load(dy + i), v128.load(gain + i));
      const v = v128.load(x + i);
      a = f64x2.add(a, f64x2.mul(f64x2.promote_low_f32x4(slope), f64x2.promote_low_f32x4(v)));
      b = f64x2.add(b, f64x2.mul(high2(slope), high2(v)));
    }
    a = f64x2.add(a, b);
    let dot = f64x2.extract_lane(a, 0) + f64x2.extract_lane(a, 1);
    for (let i = whole; i < bytes; i += 4) {
      dot += <f64>(load<f32>(dy + i) * load<f32>(gain + i)) * <f64>load<f32>(x + i);
    }
    const shrink = <f32>((dot * r * r) / <f64>cols);
    const r4 = f32x4.splat(<f32>r);
    const shrink4 = f32x4.splat(shrink);
    for (let i: usize = 0; i < whole; i += 16) {
      const slope = f32x4.mul(v128.load(dy + i), v128.load(gain + i));
      const pulled = f32x4.sub(slope, f32x4.mul(v128.load(x + i), shrink4));
      v128.store(dx + i, f32x4.mul(r4, pulled));
    }
    for (let i = whole; i < bytes; i += 4) {
      const slope = load<f32>(dy + i) * load<f32>(gain + i);
      store<f32>(dx + i, <f32>r * (slope - load<f32>(x + i) * shrink));
    }
    x += bytes;
    dy += bytes;
    dx += bytes;
  }
}

/** The two upper values. */
// @ts-ignore: decorator
@inline
function high2(v: v128): v128 {
  return f64x2.promote_low_f32x4(v128.shuffle<i64>(v, v, 1, 1));
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

/** y = silu(gate) · up for values `from` … `to` - 1. */
export function swiglu(gate: usize, up: usize, y: usize, from: i32, to: i32): void {
  let i = <usize>from << 2;
  const bytes = <usize>to << 2;
  for (; i + 16 <= bytes; i += 16) {
    v128.store(y + i, silu4(v128.load(gate + i), v128.load(up + i)));
  }
  for (; i < bytes; i += 4) {
    v128.store32_lane(y + i, silu4(v128.load32_zero(gate + i), v128.load32_zero(up + i)), 0);
  }
}

/** dGate = dy · up · σ(g)(1 + g(1 - σ(g))), dUp = dy · silu(g) for values `from` … `to` - 1. */
export function swigluBackward(
  gate: usize,
  up: usize,
  dy: usize,
  dGate: usize,
  dUp: usize,
  from: i32,
  to: i32,
): void {
  const bytes = <usize>to << 2;
  for (let i = <usize>from << 2; i < bytes; i += 16) {
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

/** gelu(g) · up with gelu(g) = g · σ(2 √(2/π) (g + 0.044715 g³)), which is its tanh form. */
// @ts-ignore: decorator
@inline
function gelu4(g: v128, up: v128): v128 {
  const cubed = f32x4.mul(f32x4.mul(g, g), g);
  const inner = f32x4.add(g, f32x4.mul(cubed, f32x4.splat(0.044715)));
  return f32x4.mul(
    f32x4.mul(g, sigmoid4(f32x4.mul(inner, f32x4.splat(1.5957691216057308)))),
    up,
  );
}

/** y = gelu(gate) · up for values `from` … `to` - 1. */
export function geglu(gate: usize, up: usize, y: usize, from: i32, to: i32): void {
  let i = <usize>from << 2;
  const bytes = <usize>to << 2;
  for (; i + 16 <= bytes; i += 16) {
    v128.store(y + i, gelu4(v128.load(gate + i), v128.load(up + i)));
  }
  for (; i < bytes; i += 4) {
    v128.store32_lane(y + i, gelu4(v128.load32_zero(gate + i), v128.load32_zero(up + i)), 0);
  }
}

/** y[t] += x[t] for rows of `cols` values, x's rows `stride` bytes apart (0: the same row for all). */
export function addRows(y: usize, x: usize, rows: i32, cols: i32, stride: usize): void {
  const bytes = <usize>cols << 2;
  for (let t = 0; t < rows; t++) {
    let i: usize = 0;
    for (; i + 16 <= bytes; i += 16) {
      v128.store(y + i, f32x4.add(v128.load(y + i), v128.load(x + i)));
    }
    for (; i < bytes; i += 4) store<f32>(y + i, load<f32>(y + i) + load<f32>(x + i));
    y += bytes;
    x += stride;
  }
}
