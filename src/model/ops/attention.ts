/**
 * Causal attention with grouped key-value heads over the cache, and its gradient over a whole
 * sequence. Query i stands at position start + i and sees rows j <= start + i (and, with a window w,
 * j > start + i - w). o_i = Σ_j p_ij v_j, p_i = softmax_j(scale · q_i · k_j). Each query's result is
 * independent of how many queries come together. Example: two equal keys give p = [½, ½].
 */

import * as tf from '@tensorflow/tfjs-core';
import { LabError } from '../../errors.ts';
import type { SimdKernels } from '../simd/exports.ts';
import { pointerOf, scratch, simdKernels } from '../simd/kernels.ts';
import { tilesBytes } from '../simd/kv-tiles.ts';
import { attentionBytes, attentionQueriesBytes } from '../simd/team.ts';
import { attentionBackwardGpu, attentionGpu } from './attention-kernels.ts';
import { sameShape } from './check.ts';
import { allocate2D, onGpu, view } from './host.ts';

/** How heads share keys and values: query head h reads key-value head floor(h · kvHeads / heads). */
export interface AttentionHeads {
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** Usually 1 / sqrt(headDim). */
  readonly scale: number;
  /** Sliding window: how many positions a query sees, its own included; absent: all. */
  readonly window?: number;
}

export interface AttentionSpan extends AttentionHeads {
  /** Position of the first query. */
  readonly start: number;
  /** Filled rows of the cache: at least start + T. */
  readonly length: number;
}

/**
 * q [T, H * hd], caches [capacity, KV * hd] -> [T, H * hd]. Cache rows from `length` on are not read.
 * Borrows its inputs, returns owned.
 */
export function attention(
  q: tf.Tensor2D,
  cacheK: tf.Tensor2D,
  cacheV: tf.Tensor2D,
  span: AttentionSpan,
): tf.Tensor2D {
  checkAttention(q, cacheK, cacheV, span);
  if (onGpu()) return attentionGpu(q, cacheK, cacheV, span);
  const rows = q.shape[0];
  const { headDim, kvHeads, scale, start } = span;
  const width = span.heads * headDim;
  const kvWidth = kvHeads * headDim;
  const out = allocate2D(rows, width);
  const simd = headDim % 4 === 0 ? simdKernels() : null;
  if (simd) {
    const [k, v] = [pointerOf(cacheK), pointerOf(cacheV)];
    const p = scratch(attentionBytes(headDim) + tilesBytes(start + rows, kvHeads, headDim, 32));
    const tiles = p + attentionBytes(headDim);
    simd.keepRows(k, v, tiles, start + rows, kvHeads, headDim, 0, 1);
    simd.attention(
      pointerOf(q),
      tiles,
      pointerOf(out),
      p,
      rows,
      span.heads,
      kvHeads,
      headDim,
      start,
      span.window ?? 0,
      scale,
      1,
      0,
      rows * span.heads,
    );
    return out;
  }
  const qs = view(q);
  const ks = view(cacheK);
  const vs = view(cacheV);
  const outs = view(out);
  const p = new Float64Array(start + rows);
  for (let head = 0; head < span.heads; head++) {
    const kv = kvHeadOf(head, span) * headDim;
    for (let i = 0; i < rows; i++) {
      const at = i * width + head * headDim;
      const first = firstVisible(start + i, span.window);
      const end = start + i + 1;
      softmaxRow(qs, at, ks, kv, kvWidth, headDim, scale, first, end, p);
      mixValues(p, vs, kv, kvWidth, headDim, first, end, outs, at);
    }
  }
  return out;
}

/**
 * The gradients of {@link attention} over a whole sequence from position 0: q [T, H * hd],
 * k, v [T, KV * hd], dOut [T, H * hd]. Recomputes the probabilities. Borrows, returns owned.
 */
export function attentionBackward(
  q: tf.Tensor2D,
  k: tf.Tensor2D,
  v: tf.Tensor2D,
  dOut: tf.Tensor2D,
  heads: AttentionHeads,
): { readonly dq: tf.Tensor2D; readonly dk: tf.Tensor2D; readonly dv: tf.Tensor2D } {
  const rows = q.shape[0];
  checkAttention(q, k, v, { ...heads, start: 0, length: rows });
  sameShape('attentionBackward k', k.shape, [rows, heads.kvHeads * heads.headDim]);
  sameShape('attentionBackward dOut', dOut.shape, q.shape);
  if (onGpu()) return attentionBackwardGpu(q, k, v, dOut, heads);
  const { headDim, scale } = heads;
  const width = heads.heads * headDim;
  const kvWidth = heads.kvHeads * headDim;
  const dq = allocate2D(rows, width);
  const dk = allocate2D(rows, kvWidth);
  const dv = allocate2D(rows, kvWidth);
  const simd = headDim % 4 === 0 ? simdKernels() : null;
  if (simd) {
    gradientsByBlocks(simd, { q, k, v, dOut, dq, dk, dv }, heads);
    return { dq, dk, dv };
  }
  const qs = view(q);
  const ks = view(k);
  const vs = view(v);
  const dOuts = view(dOut);
  const dqs = view(dq);
  const dkSum = new Float64Array(rows * kvWidth);
  const dvSum = new Float64Array(rows * kvWidth);
  const dqSum = new Float64Array(headDim);
  const p = new Float64Array(rows);
  const dp = new Float64Array(rows);
  for (let head = 0; head < heads.heads; head++) {
    const kv = kvHeadOf(head, heads) * headDim;
    for (let i = 0; i < rows; i++) {
      const at = i * width + head * headDim;
      const first = firstVisible(i, heads.window);
      softmaxRow(qs, at, ks, kv, kvWidth, headDim, scale, first, i + 1, p);
      let mean = 0;
      for (let j = first; j <= i; j++) {
        const slope = dot(dOuts, at, vs, j * kvWidth + kv, headDim);
        dp[j] = slope;
        mean += (p[j] as number) * slope; // first <= j <= i < rows in all three loops
      }
      dqSum.fill(0);
      for (let j = first; j <= i; j++) {
        const weight = p[j] as number;
        const ds = weight * ((dp[j] as number) - mean) * scale;
        const row = j * kvWidth + kv;
        for (let d = 0; d < headDim; d++) {
          dqSum[d] = (dqSum[d] as number) + ds * (ks[row + d] as number);
          dkSum[row + d] = (dkSum[row + d] as number) + ds * (qs[at + d] as number);
          dvSum[row + d] = (dvSum[row + d] as number) + weight * (dOuts[at + d] as number);
        }
      }
      for (let d = 0; d < headDim; d++) dqs[at + d] = dqSum[d] as number;
    }
  }
  view(dk).set(dkSum);
  view(dv).set(dvSum);
  return { dq, dk, dv };
}

/** Positions whose probabilities and their gradients are kept at once: for one head they fit a cache. */
const BLOCK_POSITIONS = 32;

/** {@link attentionBackward} by the vector kernels, one key-value head and some positions at a time. */
function gradientsByBlocks(
  kernels: SimdKernels,
  tensors: Readonly<Record<'q' | 'k' | 'v' | 'dOut' | 'dq' | 'dk' | 'dv', tf.Tensor2D>>,
  { heads, kvHeads, headDim, scale, window = 0 }: AttentionHeads,
): void {
  view(tensors.dk).fill(0);
  view(tensors.dv).fill(0);
  const rows = tensors.q.shape[0];
  const group = heads / kvHeads;
  const width = (rows + 3) & ~3;
  const half = 4 * BLOCK_POSITIONS * group * width;
  const p = scratch(2 * half + attentionQueriesBytes(headDim));
  const ds = p + half;
  const turned = ds + half;
  const [q, k, v] = [pointerOf(tensors.q), pointerOf(tensors.k), pointerOf(tensors.v)];
  const [dOut, dq] = [pointerOf(tensors.dOut), pointerOf(tensors.dq)];
  const [dk, dv] = [pointerOf(tensors.dk), pointerOf(tensors.dv)];
  for (let kv = 0; kv < kvHeads; kv++) {
    for (let block = 0; block < rows; block += BLOCK_POSITIONS) {
      const positions = Math.min(BLOCK_POSITIONS, rows - block);
      kernels.attentionQueries(
        q,
        k,
        v,
        dOut,
        dq,
        p,
        ds,
        turned,
        width,
        heads,
        kvHeads,
        headDim,
        window,
        scale,
        kv,
        block,
        0,
        positions * group,
      );
      kernels.attentionKeys(
        q,
        dOut,
        dk,
        dv,
        p,
        ds,
        width,
        heads,
        kvHeads,
        headDim,
        kv,
        block,
        positions,
        0,
        block + positions,
      );
    }
  }
}

/** {@link attention} in tfjs core ops; its autograd is the reference gradient. */
export function attentionReference(
  q: tf.Tensor2D,
  cacheK: tf.Tensor2D,
  cacheV: tf.Tensor2D,
  span: AttentionSpan,
): tf.Tensor2D {
  return tf.tidy(() => {
    const rows = q.shape[0];
    const { headDim, kvHeads, start } = span;
    const seen = start + rows;
    const group = span.heads / kvHeads;
    const visible = maskOf(rows, seen, start, span.window);
    const k = tf.reshape(tf.slice(cacheK, [0, 0], [seen, -1]), [seen, kvHeads, headDim]);
    const v = tf.reshape(tf.slice(cacheV, [0, 0], [seen, -1]), [seen, kvHeads, headDim]);
    const outs: tf.Tensor2D[] = [];
    for (let head = 0; head < span.heads; head++) {
      const kv = Math.floor(head / group);
      const qh = tf.slice(q, [0, head * headDim], [rows, headDim]);
      const kh = tf.reshape(tf.slice(k, [0, kv, 0], [seen, 1, headDim]), [seen, headDim]);
      const vh = tf.reshape(tf.slice(v, [0, kv, 0], [seen, 1, headDim]), [seen, headDim]);
      const scores = tf.mul(tf.matMul(qh, kh, false, true), span.scale);
      const p = tf.softmax(tf.add(scores, visible), -1);
      outs.push(tf.matMul(p, vh) as tf.Tensor2D); // [rows, seen] x [seen, headDim]
    }
    return tf.concat(outs, 1);
  });
}

/** The first row that a query at `position` sees. */
function firstVisible(position: number, window: number | undefined): number {
  return window === undefined ? 0 : Math.max(0, position - window + 1);
}

function maskOf(rows: number, seen: number, start: number, window?: number): tf.Tensor2D {
  const mask = new Float32Array(rows * seen);
  for (let i = 0; i < rows; i++) {
    const position = start + i;
    const first = firstVisible(position, window);
    for (let j = 0; j < seen; j++) {
      if (j > position || j < first) mask[i * seen + j] = -1e30;
    }
  }
  return tf.tensor2d(mask, [rows, seen]);
}

function kvHeadOf(head: number, { heads, kvHeads }: AttentionHeads): number {
  return Math.floor((head * kvHeads) / heads);
}

/**
 * out[at + d] = Σ_j p_j v_jd, in double, j ascending for each d. Four columns at a time stay in
 * registers: with one running sum per column in an array, a 1,500-token episode spent 26 of its 34 s
 * here (household-2m, Node 20), and 2 s so.
 */
function mixValues(
  p: Float64Array,
  vs: Float32Array,
  kv: number,
  kvWidth: number,
  headDim: number,
  first: number,
  end: number,
  out: Float32Array,
  at: number,
): void {
  let d = 0;
  for (; d + 4 <= headDim; d += 4) {
    let a = 0;
    let b = 0;
    let c = 0;
    let e = 0;
    for (let j = first, row = first * kvWidth + kv + d; j < end; j++, row += kvWidth) {
      const weight = p[j] as number; // first <= j < end <= p.length; a row has headDim values
      a += weight * (vs[row] as number);
      b += weight * (vs[row + 1] as number);
      c += weight * (vs[row + 2] as number);
      e += weight * (vs[row + 3] as number);
    }
    out[at + d] = a;
    out[at + d + 1] = b;
    out[at + d + 2] = c;
    out[at + d + 3] = e;
  }
  for (; d < headDim; d++) {
    let sum = 0;
    for (let j = first; j < end; j++) {
      sum += (p[j] as number) * (vs[j * kvWidth + kv + d] as number);
    }
    out[at + d] = sum;
  }
}

/** p[first … end) = softmax of scale · q · k_j, in double. */
function softmaxRow(
  qs: Float32Array,
  at: number,
  ks: Float32Array,
  kv: number,
  kvWidth: number,
  headDim: number,
  scale: number,
  first: number,
  end: number,
  p: Float64Array,
): void {
  let max = Number.NEGATIVE_INFINITY;
  for (let j = first; j < end; j++) {
    const score = dot(qs, at, ks, j * kvWidth + kv, headDim) * scale;
    p[j] = score;
    if (score > max) max = score;
  }
  let total = 0;
  for (let j = first; j < end; j++) {
    const weight = Math.exp((p[j] as number) - max); // end <= p.length in all three loops
    p[j] = weight;
    total += weight;
  }
  for (let j = first; j < end; j++) p[j] = (p[j] as number) / total;
}

/** Four sums side by side: one would wait for each addition, at about half the speed. */
function dot(a: Float32Array, atA: number, b: Float32Array, atB: number, length: number): number {
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  let d = 0;
  // The callers' rows hold `length` values from the offsets on, so no read is undefined.
  for (; d + 3 < length; d += 4) {
    s0 += (a[atA + d] as number) * (b[atB + d] as number);
    s1 += (a[atA + d + 1] as number) * (b[atB + d + 1] as number);
    s2 += (a[atA + d + 2] as number) * (b[atB + d + 2] as number);
    s3 += (a[atA + d + 3] as number) * (b[atB + d + 3] as number);
  }
  for (; d < length; d++) s0 += (a[atA + d] as number) * (b[atB + d] as number);
  return s0 + s1 + (s2 + s3);
}

function checkAttention(
  q: tf.Tensor2D,
  cacheK: tf.Tensor2D,
  cacheV: tf.Tensor2D,
  span: AttentionSpan,
): void {
  const { heads, kvHeads, headDim, start, length } = span;
  if (heads % kvHeads !== 0) {
    throw new LabError(
      'unsupported',
      `${heads} heads do not divide over ${kvHeads} key-value heads.`,
    );
  }
  sameShape('attention q', q.shape, [q.shape[0], heads * headDim]);
  sameShape('attention cacheK', cacheK.shape, [cacheK.shape[0], kvHeads * headDim]);
  sameShape('attention cacheV', cacheV.shape, cacheK.shape);
  if (start < 0 || start + q.shape[0] > length || length > cacheK.shape[0]) {
    throw new LabError(
      'internal',
      `attention: queries ${start} to ${start + q.shape[0] - 1}, ${length} filled rows, capacity ${cacheK.shape[0]}; expected start + T <= filled <= capacity.`,
    );
  }
}
