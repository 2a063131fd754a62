/**
 * WGSL of causal attention and its gradient, one invocation a head and position, whole head vectors
 * in registers; and which kernel is launched. The contract is in attention.ts.
 */

import * as tf from '@tensorflow/tfjs-core';
import { choiceOn, type VariantOf } from '../variants.ts';
import type { AttentionHeads, AttentionSpan } from './attention.ts';
import { attentionInParts, partsFor } from './attention-parts.ts';
import { WIDE, wideKernel, workgroupKernel } from './attention-shared.ts';
import { pieces, queryAt, softmaxPass, UNIFORMS, uniformsOf } from './attention-wgsl.ts';
import { gpuBackend, type Kernel, type Launch, run2D } from './program.ts';

export function attentionGpu(
  q: tf.Tensor2D,
  cacheK: tf.Tensor2D,
  cacheV: tf.Tensor2D,
  span: AttentionSpan,
): tf.Tensor2D {
  const rows = q.shape[0];
  const uniforms = uniformsOf(rows, span, span.start);
  const parts = partsFor(rows, span);
  if (parts > 1) return attentionInParts([q, cacheK, cacheV], uniforms, span, parts);
  const { kernel, threads } = prefill(rows, span, choiceOn(gpuBackend().device).prefill);
  const launch = { inputs: [q, cacheK, cacheV], uniforms, threads };
  return run2D(kernel, launch, rows, span.heads * span.headDim);
}

function prefill(
  rows: number,
  { heads, headDim }: AttentionSpan,
  variant: VariantOf<'prefill'>,
): { readonly kernel: Kernel; readonly threads: Launch['threads'] } {
  switch (variant) {
    case 'registers':
      return { kernel: forwardKernel(headDim), threads: { x: rows * heads } };
    case 'wide':
      return { kernel: wideKernel(headDim), threads: { x: Math.ceil(rows / WIDE) * heads } };
    case 'workgroup':
      return { kernel: workgroupKernel(headDim), threads: { x: rows, y: heads } };
    default:
      return variant satisfies never;
  }
}

export function attentionBackwardGpu(
  q: tf.Tensor2D,
  k: tf.Tensor2D,
  v: tf.Tensor2D,
  dOut: tf.Tensor2D,
  heads: AttentionHeads,
): { readonly dq: tf.Tensor2D; readonly dk: tf.Tensor2D; readonly dv: tf.Tensor2D } {
  const rows = q.shape[0];
  const { headDim, kvHeads } = heads;
  const uniforms = uniformsOf(rows, heads, 0);
  const threads = { x: rows * heads.heads };
  return tf.tidy(() => {
    const inputs = [q, k, v, dOut];
    const stats = run2D(statsKernel(headDim), { inputs, uniforms, threads }, rows, 2 * heads.heads);
    const all = [...inputs, stats];
    const dq = run2D(
      queryGradientKernel(headDim),
      { inputs: all, uniforms, threads },
      rows,
      heads.heads * headDim,
    );
    const both = run2D(
      keyValueGradientKernel(headDim),
      { inputs: all, uniforms, threads: { x: rows * kvHeads } },
      2 * rows,
      kvHeads * headDim,
    );
    const half = [rows, kvHeads * headDim] satisfies [number, number];
    return { dq, dk: tf.slice(both, [0, 0], half), dv: tf.slice(both, [rows, 0], half) };
  });
}

function forwardKernel(headDim: number): Kernel {
  const { count, size, each } = pieces(headDim);
  return {
    key: `attention_${headDim}`,
    inputs: { q: count, k: count, v: count },
    output: count,
    uniforms: UNIFORMS,
    workgroup: 16,
    body: () => `
      ${queryAt('gx')}
      let own = gx * ${size}u;
      let endRow = position + 1u;
      ${softmaxPass(headDim)}
      ${each((n) => `result[own + ${n}u] = sum${n} / total;`)}`,
  };
}

/** For each query and head: log Σ exp of the scores, and Σ_j p_j (dOut · v_j). */
function statsKernel(headDim: number): Kernel {
  const { count, size, each, dot } = pieces(headDim);
  return {
    key: `attention_stats_${headDim}`,
    inputs: { q: count, k: count, v: count, dOut: count },
    uniforms: UNIFORMS,
    workgroup: 16,
    body: () => `
      ${queryAt('gx')}
      let own = gx * ${size}u;
      ${each((n) => `let q${n} = q[own + ${n}u] * uniforms.scale; let o${n} = dOut[own + ${n}u];`)}
      var top = -1e30;
      var total = 0.0;
      var slopes = 0.0;
      for (var row = firstRow; row <= position; row++) {
        let at = (row * uniforms.kvHeads + kvHead) * ${size}u;
        let score = ${dot(
          (n) => `q${n}`,
          (n) => `k[at + ${n}u]`,
        )};
        let slope = ${dot(
          (n) => `o${n}`,
          (n) => `v[at + ${n}u]`,
        )};
        if (score > top) {
          let shrink = exp(top - score);
          total *= shrink;
          slopes *= shrink;
          top = score;
        }
        let weight = exp(score - top);
        total += weight;
        slopes += weight * slope;
      }
      result[2u * gx] = top + log(total);
      result[2u * gx + 1u] = slopes / total;`,
  };
}

/** dq_i = scale · Σ_j p_ij (dOut_i · v_j - mean_i) k_j. */
function queryGradientKernel(headDim: number): Kernel {
  const { count, type, size, each, dot } = pieces(headDim);
  return {
    key: `attention_dq_${headDim}`,
    inputs: { q: count, k: count, v: count, dOut: count, stats: 1 },
    output: count,
    uniforms: UNIFORMS,
    workgroup: 16,
    body: () => `
      ${queryAt('gx')}
      let own = gx * ${size}u;
      let total = stats[2u * gx];
      let mean = stats[2u * gx + 1u];
      ${each((n) => `let q${n} = q[own + ${n}u] * uniforms.scale; let o${n} = dOut[own + ${n}u]; var sum${n} = ${type}(0.0);`)}
      for (var row = firstRow; row <= position; row++) {
        let at = (row * uniforms.kvHeads + kvHead) * ${size}u;
        ${each((n) => `let k${n} = k[at + ${n}u];`)}
        let score = ${dot(
          (n) => `q${n}`,
          (n) => `k${n}`,
        )};
        let slope = ${dot(
          (n) => `o${n}`,
          (n) => `v[at + ${n}u]`,
        )};
        let ds = exp(score - total) * (slope - mean) * uniforms.scale;
        ${each((n) => `sum${n} += ds * k${n};`)}
      }
      ${each((n) => `result[own + ${n}u] = sum${n};`)}`,
  };
}

/** One invocation a key-value head and row: dk in the first half of the rows, dv in the second. */
function keyValueGradientKernel(headDim: number): Kernel {
  const { count, type, size, each, dot } = pieces(headDim);
  return {
    key: `attention_dkv_${headDim}`,
    inputs: { q: count, k: count, v: count, dOut: count, stats: 1 },
    output: count,
    uniforms: UNIFORMS,
    workgroup: 16,
    body: () => `
      let row = gx / uniforms.kvHeads;
      if (row >= uniforms.rows) { return; }
      let kvHead = gx - row * uniforms.kvHeads;
      let group = uniforms.heads / uniforms.kvHeads;
      let own = gx * ${size}u;
      var end = uniforms.rows;
      if (uniforms.window > 0u) { end = min(end, row + uniforms.window); }
      ${each((n) => `let k${n} = k[own + ${n}u] * uniforms.scale; let v${n} = v[own + ${n}u]; var dk${n} = ${type}(0.0); var dv${n} = ${type}(0.0);`)}
      for (var member = 0u; member < group; member++) {
        for (var query = row; query < end; query++) {
          let index = query * uniforms.heads + kvHead * group + member;
          let at = index * ${size}u;
          ${each((n) => `let q${n} = q[at + ${n}u]; let o${n} = dOut[at + ${n}u];`)}
          let weight = exp(${dot(
            (n) => `q${n}`,
            (n) => `k${n}`,
          )} - stats[2u * index]);
          let slope = ${dot(
            (n) => `o${n}`,
            (n) => `v${n}`,
          )};
          let ds = weight * (slope - stats[2u * index + 1u]) * uniforms.scale;
          ${each((n) => `dk${n} += ds * q${n}; dv${n} += weight * o${n};`)}
        }
      }
      let values = uniforms.rows * uniforms.kvHeads * ${size}u;
      ${each((n) => `result[own + ${n}u] = dk${n}; result[values + own + ${n}u] = dv${n};`)}`,
  };
}
