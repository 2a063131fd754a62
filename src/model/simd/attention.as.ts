/**
 * Causal attention over a cache with 128-bit vectors, in AssemblyScript. Works in tfjs's own memory:
 * all pointers are byte addresses of f32 arrays there. It has no data of its own, so that nothing
 * is written to that memory but the results.
 */

import { exp4 } from './vec.as';

/** Lane n: the sum over the lanes of the n-th vector,, the first two and the last two first. */
// @ts-ignore: decorator
@inline
function sumsOf(a: v128, b: v128, c: v128, d: v128): v128 {
  const ab = v128.shuffle<i32>(a, b, 0, 4, 1, 5);
  const ab2 = v128.shuffle<i32>(a, b, 2, 6, 3, 7);
  const cd = v128.shuffle<i32>(c, d, 0, 4, 1, 5);
  const cd2 = v128.shuffle<i32>(c, d, 2, 6, 3, 7);
  const first = f32x4.add(v128.shuffle<i64>(ab, cd, 0, 2), v128.shuffle<i64>(ab, cd, 1, 3));
  const second = f32x4.add(v128.shuffle<i64>(ab2, cd2, 0, 2), v128.shuffle<i64>(ab2, cd2, 1, 3));
  return f32x4.add(first, second);
}

/**
 * p[0 … count) = scale · q · k_j and, for the `second` query's, p2 likewise; -Infinity where j is before
 * `first` or from its own count on. Keys come in fours, the last one standing in for what is missing;
 * each pair's product has the same bits alone and beside another query. Rows have room for count + 3.
 */
// @ts-ignore: decorator
@inline
export function scores(
  q: usize,
  q2: usize,
  k: usize,
  kStride: usize,
  bytes: usize,
  scale: f32,
  count: i32,
  p: usize,
  p2: usize,
  second: bool,
): void {
  const scale4 = f32x4.splat(scale);
  for (let j = 0; j < count; j += 4) {
    const k1 = j + 1 < count ? k + kStride : k;
    const k2 = j + 2 < count ? k1 + kStride : k1;
    const k3 = j + 3 < count ? k2 + kStride : k2;
    let a = f32x4.splat(0);
    let b = f32x4.splat(0);
    let c = f32x4.splat(0);
    let d = f32x4.splat(0);
    let e = f32x4.splat(0);
    let f = f32x4.splat(0);
    let g = f32x4.splat(0);
    let h = f32x4.splat(0);
    for (let i: usize = 0; i < bytes; i += 16) {
      const v = v128.load(q + i);
      const w = second ? v128.load(q2 + i) : v;
      let key = v128.load(k + i);
      a = f32x4.add(a, f32x4.mul(v, key));
      if (second) e = f32x4.add(e, f32x4.mul(w, key));
      key = v128.load(k1 + i);
      b = f32x4.add(b, f32x4.mul(v, key));
      if (second) f = f32x4.add(f, f32x4.mul(w, key));
      key = v128.load(k2 + i);
      c = f32x4.add(c, f32x4.mul(v, key));
      if (second) g = f32x4.add(g, f32x4.mul(w, key));
      key = v128.load(k3 + i);
      d = f32x4.add(d, f32x4.mul(v, key));
      if (second) h = f32x4.add(h, f32x4.mul(w, key));
    }
    v128.store(p + (<usize>j << 2), f32x4.mul(sumsOf(a, b, c, d), scale4));
    if (second) v128.store(p2 + (<usize>j << 2), f32x4.mul(sumsOf(e, f, g, h), scale4));
    k = k3 + kStride;
  }
}

/**
 * p[0 … count) = softmax of what is there, over [first, end) only: zeros outside. Sums run in fours from
 * 0 on, so that zeros before and after change no bit.
 */
// @ts-ignore: decorator
@inline
export function softmax(p: usize, first: i32, end: i32, count: i32): void {
  const tail = (count + 3) & ~3;
  const last = p + (<usize>tail << 2);
  for (let j = 0; j < first; j++) store<f32>(p + (<usize>j << 2), -Infinity);
  for (let j = end; j < tail; j++) store<f32>(p + (<usize>j << 2), -Infinity);
  let max4 = f32x4.splat(-Infinity);
  for (let at = p; at < last; at += 16) max4 = f32x4.max(max4, v128.load(at));
  const max = f32x4.splat(
    Mathf.max(
      Mathf.max(f32x4.extract_lane(max4, 0), f32x4.extract_lane(max4, 1)),
      Mathf.max(f32x4.extract_lane(max4, 2), f32x4.extract_lane(max4, 3)),
    ),
  );
  let total: f64 = 0;
  for (let at = p; at < last; at += 16) {
    const below = f32x4.sub(v128.load(at), max);
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

/**
 * out[0 … headDim) += Σ_j p_j v_j, j ascending for each column, the p_j lying `step` bytes apart; for a
 * second query's p2 likewise.
 */
// @ts-ignore: decorator
@inline
export function addMixed(
  p: usize,
  step: usize,
  toP2: usize,
  v: usize,
  vStride: usize,
  headDim: i32,
  count: i32,
  out: usize,
  out2: usize,
  second: bool,
): void {
  const end = p + step * count;
  let d = 0;
  for (; d + 16 <= headDim; d += 16) {
    const to = out + ((<usize>d) << 2);
    const to2 = out2 + ((<usize>d) << 2);
    let a = v128.load(to);
    let b = v128.load(to, 16);
    let c = v128.load(to, 32);
    let e = v128.load(to, 48);
    let a2 = v128.load(to2);
    let b2 = v128.load(to2, 16);
    let c2 = v128.load(to2, 32);
    let e2 = v128.load(to2, 48);
    let row = v + ((<usize>d) << 2);
    for (let at = p; at < end; at += step) {
      const weight = v128.load32_splat(at);
      const weight2 = second ? v128.load32_splat(at + toP2) : weight;
      let value = v128.load(row);
      a = f32x4.add(a, f32x4.mul(weight, value));
      if (second) a2 = f32x4.add(a2, f32x4.mul(weight2, value));
      value = v128.load(row, 16);
      b = f32x4.add(b, f32x4.mul(weight, value));
      if (second) b2 = f32x4.add(b2, f32x4.mul(weight2, value));
      value = v128.load(row, 32);
      c = f32x4.add(c, f32x4.mul(weight, value));
      if (second) c2 = f32x4.add(c2, f32x4.mul(weight2, value));
      value = v128.load(row, 48);
      e = f32x4.add(e, f32x4.mul(weight, value));
      if (second) e2 = f32x4.add(e2, f32x4.mul(weight2, value));
      row += vStride;
    }
    v128.store(to, a);
    v128.store(to, b, 16);
    v128.store(to, c, 32);
    v128.store(to, e, 48);
    if (second) {
      v128.store(to2, a2);
      v128.store(to2, b2, 16);
      v128.store(to2, c2, 32);
      v128.store(to2, e2, 48);
    }
  }
  for (; d < headDim; d += 4) {
    const to = out + ((<usize>d) << 2);
    const to2 = out2 + ((<usize>d) << 2);
    let a = v128.load(to);
    let a2 = v128.load(to2);
    let row = v + ((<usize>d) << 2);
    for (let at = p; at < end; at += step) {
      const value = v128.load(row);
      a = f32x4.add(a, f32x4.mul(v128.load32_splat(at), value));
      if (second) a2 = f32x4.add(a2, f32x4.mul(v128.load32_splat(at + toP2), value));
      row += vStride;
    }
    v128.store(to, a);
    if (second) v128.store(to2, a2);
  }
}

/** Queries whose scores are kept together, and keys that they read while these are in the nearest cache. */
const QUERIES = 16;
const KEYS = 64;

/**
 * q, out [rows, heads * headDim]; k, v [≥ start + rows, kvHeads * headDim]; p: scratch of
 * 16 (start + rows + 3) values. Query i sees rows j <= start + i, and the last `window` of them when
 * window > 0. headDim is a multiple of 4. The queries of one key-value head, neighbours in
 * n = row · (heads / kvHeads) + head within its group, go through the keys in blocks, two at a time.
 * Only queries `begin` … `end` - 1, counted through the key-value heads one after the other.
 */
export function attention(
  q: usize,
  k: usize,
  v: usize,
  out: usize,
  p: usize,
  rows: i32,
  heads: i32,
  kvHeads: i32,
  headDim: i32,
  start: i32,
  window: i32,
  scale: f32,
  begin: i32,
  end: i32,
): void {
  const headBytes = (<usize>headDim) << 2;
  const stride = headBytes * kvHeads;
  const group = heads / kvHeads;
  const queries = rows * group;
  const row = <usize>((start + rows + 3) & ~3) << 2;
  for (let kv = 0; kv < kvHeads; kv++) {
    const last = min(end - kv * queries, queries);
    for (let from = max(begin - kv * queries, 0); from < last; from += QUERIES) {
      const to = min(from + QUERIES, last);
      // Fours are counted from row 0 on, whichever rows a query sees.
      const first = lowest(from, group, start, window) & ~3;
      const count = start + (to - 1) / group + 1 - first;
      const skip = headBytes * kv + stride * first;
      for (let j = 0; j < count; j += KEYS) {
        const at = k + skip + stride * j;
        for (let n = from; n < to; n += 2) {
          const m = min(n + 1, to - 1);
          const keys = min(KEYS, start + m / group + 1 - first - j);
          if (keys <= 0) continue;
          const scored = p + row * (n - from) + (<usize>j << 2);
          const a = q + headBytes * placeOf(n, group, heads, kv);
          const b = q + headBytes * placeOf(m, group, heads, kv);
          if (m > n) {
            scores(a, b, at, stride, headBytes, scale, keys, scored, scored + row, true);
          } else scores(a, a, at, stride, headBytes, scale, keys, scored, scored, false);
        }
      }
      for (let n = from; n < to; n++) {
        const low = lowest(n, group, start, window) - first;
        softmax(p + row * (n - from), low, start + n / group + 1 - first, count);
        memory.fill(out + headBytes * placeOf(n, group, heads, kv), 0, headBytes);
      }
      for (let j = 0; j < count; j += KEYS) {
        const at = v + skip + stride * j;
        for (let n = from; n < to; n += 2) {
          const m = min(n + 1, to - 1);
          const keys = min(KEYS, start + m / group + 1 - first - j);
          if (keys <= 0) continue;
          const weights = p + row * (n - from) + (<usize>j << 2);
          const a = out + headBytes * placeOf(n, group, heads, kv);
          const b = out + headBytes * placeOf(m, group, heads, kv);
          if (m > n) addMixed(weights, 4, row, at, stride, headDim, keys, a, b, true);
          else addMixed(weights, 4, 0, at, stride, headDim, keys, a, a, false);
        }
      }
    }
  }
}

/** The first row that query n sees. */
// @ts-ignore: decorator
@inline
export function lowest(n: i32, group: i32, start: i32, window: i32): i32 {
  const end = start + n / group + 1;
  return window > 0 && end > window ? end - window : 0;
}

/** Where query n lies, counted in heads. */
// @ts-ignore: decorator
@inline
export function placeOf(n: i32, group: i32, heads: i32, kv: i32): i32 {
  return (n / group) * heads + kv * group + (n % group);
}
