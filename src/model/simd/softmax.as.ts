/** Sums of e^z over rows of logits, and the gradient of a cross entropy, with 128-bit vectors. */

import { exp4 } from './vec.as';

/** e^(z - max) of four values, at most 1; what is below e^-87 counts as that. */
// @ts-ignore: decorator
@inline
function below(z: v128, max: v128): v128 {
  return exp4(f32x4.max(f32x4.sub(z, max), f32x4.splat(-87)));
}

/** out [rows][2] f64: of rows `from` … `to` - 1 the largest value, and Σ e^(z - largest), summed in double. */
export function expSums(z: usize, out: usize, cols: i32, from: i32, to: i32): void {
  const bytes = <usize>cols << 2;
  const whole = bytes & ~15;
  z += bytes * from;
  out += <usize>from << 4;
  for (let n = from; n < to; n++) {
    let most = f32x4.splat(-Infinity);
    for (let i: usize = 0; i < whole; i += 16) most = f32x4.max(most, v128.load(z + i));
    for (let i = whole; i < bytes; i += 4) most = f32x4.max(most, v128.load32_splat(z + i));
    const max = max4(most);
    const max4s = f32x4.splat(max);
    let a = f64x2.splat(0);
    let b = f64x2.splat(0);
    for (let i: usize = 0; i < whole; i += 16) {
      const e = below(v128.load(z + i), max4s);
      a = f64x2.add(a, f64x2.promote_low_f32x4(e));
      b = f64x2.add(b, f64x2.promote_low_f32x4(v128.shuffle<i64>(e, e, 1, 1)));
    }
    a = f64x2.add(a, b);
    let sum = f64x2.extract_lane(a, 0) + f64x2.extract_lane(a, 1);
    for (let i = whole; i < bytes; i += 4) {
      sum += <f64>f32x4.extract_lane(below(v128.load32_splat(z + i), max4s), 0);
    }
    store<f64>(out, <f64>max);
    store<f64>(out, sum, 8);
    out += 16;
    z += bytes;
  }
}

// @ts-ignore: decorator
@inline
function max4(v: v128): f32 {
  return Mathf.max(
    Mathf.max(f32x4.extract_lane(v, 0), f32x4.extract_lane(v, 1)),
    Mathf.max(f32x4.extract_lane(v, 2), f32x4.extract_lane(v, 3)),
  );
}

/** dz = scale · e^(z - max) for one row of `cols` values. */
export function scaledExp(z: usize, dz: usize, cols: i32, max: f32, scale: f32): void {
  const bytes = <usize>cols << 2;
  const max4s = f32x4.splat(max);
  const scale4 = f32x4.splat(scale);
  let i: usize = 0;
  for (; i + 16 <= bytes; i += 16) {
    v128.store(dz + i, f32x4.mul(scale4, below(v128.load(z + i), max4s)));
  }
  for (; i < bytes; i += 4) {
    v128.store32_lane(dz + i, f32x4.mul(scale4, below(v128.load32_splat(z + i), max4s)), 0);
  }
}
