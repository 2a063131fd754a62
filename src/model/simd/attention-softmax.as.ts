/**
 * Softmax as attention meets its keys, a tile after the other: of each query the largest score so far (m), the sum of
 * e^(score - m) and the sum of values with these weights; where a tile has a larger score, both sums are scaled down.
 * (Milakov and Gimelshein 2018, "Online normalizer calculation for softmax".)
 */

import { TILE, TILE_BYTES } from './attention-tile.as';

/** Bytes of a query's m and sum of weights. */
export const STATE_BYTES: usize = 8;

// @ts-ignore: decorator
@inline
export function beginState(state: usize): void {
  store<f32>(state, -Infinity);
  store<f32>(state, 0, 4);
}

/** Eight vectors that {@link meetTile} reads: as constants in code, each use would take three instructions. */
export function storeConstants(at: usize): void {
  v128.store(at, f32x4.splat(-125));
  v128.store(at, f32x4.splat(12582912), 16); // 1.5 · 2^23: what is added to it is rounded to a whole number
  v128.store(at, f32x4.splat(1), 32);
  // 2^r = 1 + c1 r + … + c5 r^5 for |r| <= 1/2, relative error below 2e-7 in float32; fitted by least squares.
  v128.store(at, f32x4.splat(0.6931470036506653), 48);
  v128.store(at, f32x4.splat(0.24022242426872253), 64);
  v128.store(at, f32x4.splat(0.05550733581185341), 80);
  v128.store(at, f32x4.splat(0.009671512991189957), 96);
  v128.store(at, f32x4.splat(0.001326472614891827), 112);
}

/**
 * A query meets a tile: its products p [TILE] become weights 2^(scale2 · p - m), scale2 being the score's scale in
 * powers of two, those outside [first, end) 0; what the query has so far (state, out) is brought to the new m. A weight
 * below 2^-125 counts as 0; NaN stays.
 */
// @ts-ignore: decorator
@inline
export function meetTile(
  p: usize,
  scale2: f32,
  first: i32,
  end: i32,
  constants: usize,
  state: usize,
  out: usize,
  headBytes: usize,
): void {
  for (let j = 0; j < min(first, TILE); j++) store<f32>(p + (<usize>j << 2), -Infinity);
  for (let j = max(end, 0); j < TILE; j++) store<f32>(p + (<usize>j << 2), -Infinity);
  const last = p + TILE_BYTES;
  const scale = f32x4.splat(scale2);
  const before = load<f32>(state);
  let a = v128.load(p);
  let b = v128.load(p, 16);
  for (let at = p + 32; at < last; at += 32) {
    a = f32x4.max(a, v128.load(at));
    b = f32x4.max(b, v128.load(at, 16));
  }
  a = f32x4.max(a, b);
  a = f32x4.max(a, v128.shuffle<i32>(a, a, 2, 3, 0, 1));
  a = f32x4.max(a, v128.shuffle<i32>(a, a, 1, 0, 3, 2));
  a = f32x4.max(f32x4.mul(a, scale), f32x4.splat(before));
  const most = f32x4.extract_lane(a, 0);
  // So far it has seen no key: all weights are 0, not 2^(∞ - ∞).
  if (most == -Infinity) a = f32x4.splat(0);

  const least = v128.load(constants);
  const magic = v128.load(constants, 16);
  const one = v128.load(constants, 32);
  const c1 = v128.load(constants, 48);
  const c2 = v128.load(constants, 64);
  const c3 = v128.load(constants, 80);
  const c4 = v128.load(constants, 96);
  const c5 = v128.load(constants, 112);
  let total = load<f32>(state, 4);
  if (most != before) {
    const down = f32x4.sub(f32x4.splat(before), a);
    const factor = power2(down, least, magic, one, c1, c2, c3, c4, c5);
    total *= f32x4.extract_lane(factor, 0);
    for (let i = out; i < out + headBytes; i += 16) {
      v128.store(i, f32x4.mul(v128.load(i), factor));
    }
    store<f32>(state, most);
  }
  let sum = f32x4.splat(0);
  for (let at = p; at < last; at += 16) {
    const below = f32x4.sub(f32x4.mul(v128.load(at), scale), a);
    const weight = power2(below, least, magic, one, c1, c2, c3, c4, c5);
    v128.store(at, weight);
    sum = f32x4.add(sum, weight);
  }
  sum = f32x4.add(sum, v128.shuffle<i32>(sum, sum, 2, 3, 0, 1));
  store<f32>(state, total + (f32x4.extract_lane(sum, 0) + f32x4.extract_lane(sum, 1)), 4);
}

/** Products with integers [TILE] times the scales of their positions. */
// @ts-ignore: decorator
@inline
export function scaleProducts(p: usize, scales: usize): void {
  for (let i: usize = 0; i < TILE_BYTES; i += 16) {
    v128.store(p + i, f32x4.mul(v128.load(p + i), v128.load(scales + i)));
  }
}

/** As {@link scaleProducts}, for weights: 0 stays 0 whatever lies at a position that is not seen. */
// @ts-ignore: decorator
@inline
export function scaleWeights(p: usize, scales: usize): void {
  for (let i: usize = 0; i < TILE_BYTES; i += 16) {
    const weight = v128.load(p + i);
    const scaled = f32x4.mul(weight, v128.load(scales + i));
    v128.store(p + i, v128.andnot(scaled, f32x4.eq(weight, f32x4.splat(0))));
  }
}

/** 2^x for x <= 0: 2^r of the rest r after rounding, its exponent moved by the whole part. */
// @ts-ignore: decorator
@inline
function power2(
  x: v128,
  least: v128,
  magic: v128,
  one: v128,
  c1: v128,
  c2: v128,
  c3: v128,
  c4: v128,
  c5: v128,
): v128 {
  const whole = f32x4.add(x, magic);
  const r = f32x4.sub(x, f32x4.sub(whole, magic));
  let y = f32x4.add(f32x4.mul(c5, r), c4);
  y = f32x4.add(f32x4.mul(y, r), c3);
  y = f32x4.add(f32x4.mul(y, r), c2);
  y = f32x4.add(f32x4.mul(y, r), c1);
  y = f32x4.add(f32x4.mul(y, r), one);
  y = i32x4.add(y, i32x4.shl(whole, 23));
  return v128.andnot(y, f32x4.lt(x, least));
}

/** out, a sum with weights, becomes their mean. */
// @ts-ignore: decorator
@inline
export function endState(state: usize, out: usize, headBytes: usize): void {
  const inverse = f32x4.splat(1 / load<f32>(state, 4));
  for (let i = out; i < out + headBytes; i += 16) v128.store(i, f32x4.mul(v128.load(i), inverse));
}
