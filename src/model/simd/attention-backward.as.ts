/**
 * The gradients of causal attention over a whole sequence, for one key-value head and up to a block of
 * positions at a time: first query by query the probabilities, their gradients and dq, then key by key dk
 * and dv, each summed over the block's queries in one order.
 */

import { lowest, placeOf } from './attention.as';
import { addMixed, TILE, TILE_BYTES, turnTile } from './attention-tile.as';
import { exp4 } from './vec.as';

/**
 * Queries `from` … `to` - 1 of head `kv`, counted from position `block` on, n = row · group + head within the
 * group. q, dOut, dq [T, heads * headDim]; k, v [T, kvHeads * headDim]. p and ds [query][width]: the
 * probabilities and scale · p (dp - Σ p dp), with zeros for keys that a query does not see; `width` is a
 * multiple of 4 and at least the position after the block's last. `turned`: scratch, attentionQueriesBytes of team.ts.
 */
export function attentionQueries(
  q: usize,
  k: usize,
  v: usize,
  dOut: usize,
  dq: usize,
  p: usize,
  ds: usize,
  turned: usize,
  width: i32,
  heads: i32,
  kvHeads: i32,
  headDim: i32,
  window: i32,
  scale: f32,
  kv: i32,
  block: i32,
  from: i32,
  to: i32,
): void {
  const headBytes = (<usize>headDim) << 2;
  const stride = headBytes * kvHeads;
  const group = heads / kvHeads;
  const row = <usize>width << 2;
  const head = headBytes * kv;
  const first = lowest(from, group, block, window) & ~(TILE - 1);
  const seen = block + (to - 1) / group + 1;
  for (let j = first; j < seen; j += TILE) {
    const here = stride * j + head;
    const reached = min(TILE, seen - j);
    const at = row * from + (<usize>j << 2);
    turnTile(k + here, stride, headBytes, reached, turned);
    products(q, turned, p + at, row, heads, headDim, kv, group, block, from, to, j);
    turnTile(v + here, stride, headBytes, reached, turned);
    products(dOut, turned, ds + at, row, heads, headDim, kv, group, block, from, to, j);
  }
  for (let n = from; n < to; n++) {
    const low = lowest(n, group, block, window);
    const end = block + n / group + 1;
    const begin = low & ~3;
    const before = <usize>begin << 2;
    const after = (<usize>((end + 3) & ~3)) << 2;
    const weights = p + row * n;
    const slopes = ds + row * n;
    memory.fill(weights, 0, before);
    memory.fill(weights + after, 0, row - after);
    memory.fill(slopes, 0, before);
    memory.fill(slopes + after, 0, row - after);
    softmax(weights + before, weights + after, low - begin, end - begin, scale);
    slopesOf(weights + before, slopes + before, after - before, scale);
  }
  for (let n = from; n < to; n += 2) {
    const m = min(n + 1, to - 1);
    const low = lowest(n, group, block, window);
    const count = block + m / group + 1 - low;
    const at = ds + row * n + (<usize>low << 2);
    const keys = k + head + stride * low;
    const a = dq + headBytes * placeOf(n + group * block, group, heads, kv);
    const b = dq + headBytes * placeOf(m + group * block, group, heads, kv);
    addMixed(at, 4, row, keys, stride, headDim, count, a, b, m > n, true);
  }
}

/** out [query][row] = x · the tile's rows from key `j` on, for those that either of two queries sees. */
function products(
  x: usize,
  turned: usize,
  out: usize,
  row: usize,
  heads: i32,
  headDim: i32,
  kv: i32,
  group: i32,
  block: i32,
  from: i32,
  to: i32,
  j: i32,
): void {
  const headBytes = (<usize>headDim) << 2;
  for (let n = from; n < to; n += 2) {
    const m = min(n + 1, to - 1);
    const columns = (min(TILE, block + m / group + 1 - j) + 3) & ~3;
    const a = x + headBytes * placeOf(n + group * block, group, heads, kv);
    const toB = x + headBytes * placeOf(m + group * block, group, heads, kv) - a;
    const to1 = out + row * (n - from);
    addMixed(a, 4, toB, turned, TILE_BYTES, columns, headDim, to1, to1 + row, m > n, true);
  }
}

/** p … last = softmax of scale · p over the values [first, end) only: zeros outside. */
// @ts-ignore: decorator
@inline
function softmax(p: usize, last: usize, first: i32, end: i32, scale: f32): void {
  for (let j = 0; j < first; j++) store<f32>(p + (<usize>j << 2), -Infinity);
  for (let at = p + (<usize>end << 2); at < last; at += 4) store<f32>(at, -Infinity);
  const scale4 = f32x4.splat(scale);
  let max4 = f32x4.splat(-Infinity);
  for (let at = p; at < last; at += 16) max4 = f32x4.max(max4, v128.load(at));
  max4 = f32x4.max(max4, v128.shuffle<i32>(max4, max4, 2, 3, 0, 1));
  max4 = f32x4.max(max4, v128.shuffle<i32>(max4, max4, 1, 0, 3, 2));
  max4 = f32x4.mul(max4, scale4);
  let total: f64 = 0;
  for (let at = p; at < last; at += 16) {
    const below = f32x4.sub(f32x4.mul(v128.load(at), scale4), max4);
    let e = exp4(f32x4.max(below, f32x4.splat(-87)));
    // What lies outside, and what underflows, has no weight at all; NaN stays.
    e = v128.andnot(e, f32x4.le(below, f32x4.splat(-87)));
    v128.store(at, e);
    total +=
      <f64>f32x4.extract_lane(e, 0) +
      <f64>f32x4.extract_lane(e, 1) +
      (<f64>f32x4.extract_lane(e, 2) + <f64>f32x4.extract_lane(e, 3));
  }
  const inverse = f32x4.splat(<f32>(1 / total));
  for (let at = p; at < last; at += 16) v128.store(at, f32x4.mul(v128.load(at), inverse));
}

/** dp -> scale · p (dp - Σ p dp), the sum in double; 0 where p is. */
// @ts-ignore: decorator
@inline
function slopesOf(p: usize, dp: usize, bytes: usize, scale: f32): void {
  let a = f64x2.splat(0);
  let b = f64x2.splat(0);
  for (let i: usize = 0; i < bytes; i += 16) {
    const weight = v128.load(p + i);
    // Beyond its own keys a query's slope may be anything.
    const slope = v128.andnot(v128.load(dp + i), f32x4.eq(weight, f32x4.splat(0)));
    v128.store(dp + i, slope);
    a = f64x2.add(a, f64x2.mul(f64x2.promote_low_f32x4(weight), f64x2.promote_low_f32x4(slope)));
    b = f64x2.add(b, f64x2.mul(high2(weight), high2(slope)));
  }
  a = f64x2.add(a, b);
  const mean = f32x4.splat(<f32>(f64x2.extract_lane(a, 0) + f64x2.extract_lane(a, 1)));
  const scale4 = f32x4.splat(scale);
  for (let i: usize = 0; i < bytes; i += 16) {
    const weight = f32x4.mul(v128.load(p + i), scale4);
    v128.store(dp + i, f32x4.mul(weight, f32x4.sub(v128.load(dp + i), mean)));
  }
}

/** The two upper values. */
// @ts-ignore: decorator
@inline
function high2(v: v128): v128 {
  return f64x2.promote_low_f32x4(v128.shuffle<i64>(v, v, 1, 1));
}

/**
 * dk_j += Σ ds_ij q_i and dv_j += Σ p_ij dOut_i for keys j = `from` … `to` - 1 of head `kv`, over the `positions`
 * positions of the block, as {@link attentionQueries} has left p and ds.
 */
export function attentionKeys(
  q: usize,
  dOut: usize,
  dk: usize,
  dv: usize,
  p: usize,
  ds: usize,
  width: i32,
  heads: i32,
  kvHeads: i32,
  headDim: i32,
  kv: i32,
  block: i32,
  positions: i32,
  from: i32,
  to: i32,
): void {
  const headBytes = (<usize>headDim) << 2;
  const group = heads / kvHeads;
  const row = <usize>width << 2;
  const stride = headBytes * heads;
  for (let j = from; j < to; j += 2) {
    const second = j + 1 < to;
    const key = headBytes * (j * kvHeads + kv);
    const next = second ? headBytes * kvHeads : 0;
    // Earlier positions do not see the key.
    const skipped = max(j - block, 0);
    for (let head = 0; head < group; head++) {
      const at = row * (skipped * group + head) + (<usize>j << 2);
      const from = headBytes * placeOf((block + skipped) * group + head, group, heads, kv);
      const count = positions - skipped;
      const step = row * group;
      const toK = dk + key;
      const toV = dv + key;
      addMixed(ds + at, step, 4, q + from, stride, headDim, count, toK, toK + next, second, false);
      addMixed(p + at, step, 4, dOut + from, stride, headDim, count, toV, toV + next, second, false);
    }
  }
}
