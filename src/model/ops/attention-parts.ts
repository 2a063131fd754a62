/**
 * WGSL of attention of few queries over many rows, as in decoding: the rows are divided into parts
 * that are summed side by side, then merged. Knows when that pays; the contract is in attention.ts.
 * On SwiftShader one query with 9 heads of 64 over 512 rows took 40 ms, against 106 undivided; an
 * NVIDIA H200 took 0.17, 0.87 and 3.2 ms undivided over 64, 512 and 2,048 rows: it waits for single rows.
 */

import type * as tf from '@tensorflow/tfjs-core';
import type { AttentionSpan } from './attention.ts';
import {
  mergeParts,
  pieces,
  queryAt,
  slotOf,
  softmaxPass,
  storePart,
  UNIFORMS,
} from './attention-wgsl.ts';
import { type Kernel, run2D } from './program.ts';

/** Rows that one invocation sums: fewer cost more to merge than they save. */
const PART_ROWS = 32;

/** More parts than this would make the merge the slower half. */
const MOST_PARTS = 64;

/** From this many queries times heads on there is enough to do side by side without parts. */
const FEW = 128;

/** How many parts the visible rows divide into; 1: none. */
export function partsFor(rows: number, { heads, start, window }: AttentionSpan): number {
  if (rows * heads > FEW) return 1;
  const seen = Math.min(start + rows, window ?? Number.POSITIVE_INFINITY);
  return seen < 2 * PART_ROWS ? 1 : Math.min(MOST_PARTS, Math.ceil(seen / PART_ROWS));
}

/** As attentionGpu, which gives the uniforms. Returns owned. */
export function attentionInParts(
  inputs: readonly [q: tf.Tensor2D, cacheK: tf.Tensor2D, cacheV: tf.Tensor2D],
  uniforms: Readonly<Record<string, number>>,
  { heads, headDim }: AttentionSpan,
  parts: number,
): tf.Tensor2D {
  const rows = inputs[0].shape[0];
  const { count, size } = pieces(headDim);
  const divided = { ...uniforms, parts };
  const sums = run2D(
    partKernel(headDim),
    { inputs, uniforms: divided, threads: { x: rows * heads * parts } },
    rows * heads * parts,
    slotOf(headDim) * count,
  );
  const out = run2D(
    mergeKernel(headDim),
    { inputs: [sums], uniforms: divided, threads: { x: rows * heads * size } },
    rows,
    heads * headDim,
  );
  sums.dispose();
  return out;
}

/** gx = (query · heads + head) · parts + part. A part beyond the visible rows leaves zeros. */
function partKernel(headDim: number): Kernel {
  const { count, size } = pieces(headDim);
  const slot = slotOf(headDim);
  return {
    key: `attention_part_${headDim}`,
    inputs: { q: count, k: count, v: count },
    output: count,
    uniforms: { ...UNIFORMS, parts: 'u32' },
    workgroup: 16,
    body: () => `
      let item = gx / uniforms.parts;
      let part = gx - item * uniforms.parts;
      ${queryAt('item')}
      let own = item * ${size}u;
      let step = (position + 1u - firstRow + uniforms.parts - 1u) / uniforms.parts;
      firstRow += part * step;
      let endRow = min(firstRow + step, position + 1u);
      ${softmaxPass(headDim)}
      let slot = gx * ${slot}u;
      ${storePart(headDim, 'result')}`,
  };
}

/** gx = (query · heads + head) · pieces + piece: each part counts by exp(its maximum - the largest). */
function mergeKernel(headDim: number): Kernel {
  const { count, size } = pieces(headDim);
  const slot = slotOf(headDim);
  const at = (offset: string) => `sums[(item * uniforms.parts + part) * ${slot}u + ${offset}]`;
  return {
    key: `attention_merge_${headDim}`,
    inputs: { sums: count },
    output: count,
    uniforms: { ...UNIFORMS, parts: 'u32' },
    workgroup: 64,
    body: () => `
      let item = gx / ${size}u;
      let piece = gx - item * ${size}u;
      if (item >= uniforms.rows * uniforms.heads) { return; }
      ${mergeParts(headDim, 'uniforms.parts', at)}
      result[gx] = sum / total;`,
  };
}
