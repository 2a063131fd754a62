/**
 * The gradients of causal attention over a whole sequence, for one key-value head and up to a block of
 * positions at a time: first query by query the probabilities, their gradients and dq, then key by key dk
 * and dv, each summed over the block's queries in one order.
 */

import { addMixed, lowest, placeOf, scores, softmax } from './attention.as';

/**
 * Queries `from` … `to` - 1 of head `kv`, counted from position `block` on, n = row · group + head within the
 * group. q, dOut, dq [T, heads * headDim]; k, v [T, kvHeads * headDim]. p and ds [query][width]: the
 * probabilities and scale · p (dp - Σ p dp), with zeros for keys that a query does not see; `width` is a
 * multiple of 4 and at least the position after the block's last.
 */
export function attentionQueries(
  q: usize,
  k: usize,
  v: usize,
  dOut: usize,
  dq: usize,
  p: usize,
  ds: usize,
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
  for (let n = from; n < to; n += 2) {
    const m = min(n + 1, to - 1);
    // Fours are counted from position 0 on, whichever a query sees.
    const first = lowest(n, group, block, window) & ~3;
    const count = block + m / group + 1 - first;
    const skip = headBytes * kv + stride * first;
    const before = <usize>first << 2;
    const seen = before + ((<usize>((count + 3) & ~3)) << 2);
    for (let i = n; i <= m; i++) {
      memory.fill(p + row * i, 0, before);
      memory.fill(p + row * i + seen, 0, row - seen);
      memory.fill(ds + row * i, 0, before);
      memory.fill(ds + row * i + seen, 0, row - seen);
      memory.fill(dq + headBytes * placeOf(i + group * block, group, heads, kv), 0, headBytes);
    }
    const a = headBytes * placeOf(n + group * block, group, heads, kv);
    const b = headBytes * placeOf(m + group * block, group, heads, kv);
    const weights = p + row * n + before;
    const slopes = ds + row * n + before;
    const next = row * (m - n);
    if (m > n) {
      scores(q + a, q + b, k + skip, stride, headBytes, scale, count, weights, weights + row, true);
      scores(dOut + a, dOut + b, v + skip, stride, headBytes, 1, count, slopes, slopes + row, true);
    } else {
      scores(q + a, q + a, k + skip, stride, headBytes, scale, count, weights, weights, false);
      scores(dOut + a, dOut + a, v + skip, stride, headBytes, 1, count, slopes, slopes, false);
    }
    for (let i = n; i <= m; i++) {
      const own = row * (i - n);
      const end = block + i / group + 1 - first;
      softmax(weights + own, lowest(i, group, block, window) - first, end, count);
      slopesOf(weights + own, slopes + own, seen - before, scale);
    }
    if (m > n) addMixed(slopes, 4, next, k + skip, stride, headDim, count, dq + a, dq + b, true);
    else addMixed(slopes, 4, 0, k + skip, stride, headDim, count, dq + a, dq + a, false);
  }
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
      if (second) {
        addMixed(ds + at, step, 4, q + from, stride, headDim, count, toK, toK + next, true);
        addMixed(p + at, step, 4, dOut + from, stride, headDim, count, toV, toV + next, true);
      } else {
        addMixed(ds + at, step, 0, q + from, stride, headDim, count, toK, toK, false);
        addMixed(p + at, step, 0, dOut + from, stride, headDim, count, toV, toV, false);
      }
    }
  }
}
