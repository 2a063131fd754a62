/** What the vector kernels share: sums over lanes, e^x, float16. */

// @ts-ignore: decorator
@inline
export function sum4(x: v128): f32 {
  return (
    f32x4.extract_lane(x, 0) +
    f32x4.extract_lane(x, 1) +
    (f32x4.extract_lane(x, 2) + f32x4.extract_lane(x, 3))
  );
}

/** e^x for -87 <= x <= 87, four at a time: 2^n · p(r), Cephes' expf polynomial, relative error below 2e-7. */
// @ts-ignore: decorator
@inline
export function exp4(x: v128): v128 {
  const n = f32x4.floor(
    f32x4.add(f32x4.mul(x, f32x4.splat(1.44269504088896341)), f32x4.splat(0.5)),
  );
  let r = f32x4.sub(x, f32x4.mul(n, f32x4.splat(0.693359375)));
  r = f32x4.sub(r, f32x4.mul(n, f32x4.splat(-2.12194440e-4)));
  let y = f32x4.splat(1.9875691500e-4);
  y = f32x4.add(f32x4.mul(y, r), f32x4.splat(1.3981999507e-3));
  y = f32x4.add(f32x4.mul(y, r), f32x4.splat(8.3334519073e-3));
  y = f32x4.add(f32x4.mul(y, r), f32x4.splat(4.1665795894e-2));
  y = f32x4.add(f32x4.mul(y, r), f32x4.splat(1.6666665459e-1));
  y = f32x4.add(f32x4.mul(y, r), f32x4.splat(5.0000001201e-1));
  y = f32x4.add(f32x4.add(f32x4.mul(f32x4.mul(y, r), r), r), f32x4.splat(1));
  const power = i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(n), i32x4.splat(127)), 23);
  return f32x4.mul(y, power);
}

/** Four float16 (finite, subnormal ones too) at `at` as float32, exactly: exponent moved, then 2^112. */
// @ts-ignore: decorator
@inline
export function halves4(at: usize): v128 {
  const bits = v128.and(i32x4.shl(v128.load16x4_s(at), 13), i32x4.splat(0x8fffffff));
  return f32x4.mul(bits, f32x4.splat(5.192296858534828e33));
}

/** Four bfloat16 at `at` as float32. */
// @ts-ignore: decorator
@inline
export function brains4(at: usize): v128 {
  return i32x4.shl(v128.load16x4_u(at), 16);
}
