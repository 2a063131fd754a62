/**
 * WGSL of one decoded token between its products: LoRA's thin term, RoPE with the new cache rows, and
 * attention over the cache. Knows no buffers.
 */

import type { AttentionHeads } from '../ops/attention.ts';
import { mergeParts, pieces, slotOf, softmaxPass, storePart } from '../ops/attention-wgsl.ts';
import type { RopeStyle } from '../ops/rope.ts';
import { type Access, type Shader, TOKEN } from './wgsl.ts';

const GROUP = 64;

/** An adapted part of the joint q, k, v vector: its place there, and its module's shape. */
export interface ThinTerm {
  readonly first: number;
  readonly outputs: number;
  readonly rank: number;
  readonly scale: number;
}

const accessOf = (names: readonly string[], changed: readonly string[]): Access[] =>
  names.map((name) => (changed.includes(name) ? 'read_write' : 'read'));

function storage(names: readonly string[], changed: readonly string[], type = 'f32'): string {
  return [
    TOKEN,
    ...names.map(
      (name, i) =>
        `@group(0) @binding(${i + 1}) var<storage, ${changed.includes(name) ? 'read_write' : 'read'}> ${name} : array<${type}>;`,
    ),
  ].join('\n');
}

/** Where each term's hidden values begin. */
function offsets(terms: readonly ThinTerm[]): number[] {
  return terms.map((_, n) => terms.slice(0, n).reduce((sum, { rank }) => sum + rank, 0));
}

/**
 * hidden[k] = r Σ_i x_i Aᵀ[i, k], module after module, one workgroup a value; x as products read it
 * after a norm, `length` values in all. Buffers: token, x, each module's Aᵀ, hidden.
 */
export function hiddenShader(
  terms: readonly ThinTerm[],
  { width, length, eps }: { readonly width: number; readonly length: number; readonly eps: number },
): Shader {
  const names = ['x', ...terms.map((_, n) => `a${n}`), 'hidden'];
  const at = offsets(terms);
  const total = terms.reduce((sum, { rank }) => sum + rank, 0);
  const reads = terms.map(
    ({ rank }, n) =>
      `if (k >= ${at[n]}u && k < ${(at[n] ?? 0) + rank}u) { sum += x[i] * a${n}[i * ${rank}u + k - ${at[n]}u]; }`,
  );
  return {
    code: `${storage(names, ['hidden'])}
var<workgroup> sums : array<vec2<f32>, ${GROUP}>;
@compute @workgroup_size(${GROUP})
fn main(@builtin(local_invocation_index) lane : u32, @builtin(workgroup_id) group : vec3<u32>) {
  let k = group.x;
  var sum = 0.0;
  var squares = 0.0;
  for (var i = lane; i < ${width}u; i += ${GROUP}u) {
    ${reads.join('\n')}
  }
  for (var i = ${width}u + lane; i < ${length}u; i += ${GROUP}u) { squares += x[i]; }
  sums[lane] = vec2<f32>(sum, squares);
  workgroupBarrier();
  if (lane == 0u) {
    var all = vec2<f32>(0.0);
    for (var i = 0u; i < ${GROUP}u; i++) { all += sums[i]; }
    hidden[k] = all.x * inverseSqrt(all.y / ${width}.0 + ${eps});
  }
}`,
    access: accessOf(names, ['hidden']),
    workgroups: total,
  };
}

/**
 * Adds the thin terms to qkv, turns q in place, and writes turned k and v as the position's rows of the
 * cache. Buffers: token, qkv, cos, sin, cacheK, cacheV[, hidden, each module's Bᵀ].
 */
export function turnShader(
  heads: AttentionHeads,
  style: RopeStyle,
  terms: readonly ThinTerm[],
): Shader {
  const { headDim } = heads;
  const half = headDim / 2;
  const pairs = (heads.heads + 2 * heads.kvHeads) * half;
  const endQ = heads.heads * headDim;
  const endK = endQ + heads.kvHeads * headDim;
  const kvWidth = heads.kvHeads * headDim;
  const names = ['qkv', 'cos_table', 'sin_table', 'cacheK', 'cacheV'];
  if (terms.length > 0) names.push('hidden', ...terms.map((_, n) => `b${n}`));
  const at = offsets(terms);
  const added = terms.map(
    ({ first, outputs, rank, scale }, n) => `
  if (o >= ${first}u && o < ${first + outputs}u) {
    var sum = 0.0;
    for (var k = 0u; k < ${rank}u; k++) { sum += hidden[${at[n]}u + k] * b${n}[k * ${outputs}u + o - ${first}u]; }
    y += ${scale} * sum;
  }`,
  );
  const [second, stride] = style === 'interleaved' ? [1, 2] : [half, 1];
  return {
    code: `${storage(names, ['qkv', 'cacheK', 'cacheV'])}
fn value(o : u32) -> f32 {
  var y = qkv[o];
  ${added.join('')}
  return y;
}
@compute @workgroup_size(${GROUP})
fn main(@builtin(global_invocation_id) id : vec3<u32>) {
  if (id.x >= ${pairs}u) { return; }
  let i = id.x % ${half}u;
  let o = id.x / ${half}u * ${headDim}u + i * ${stride}u;
  let a = value(o);
  let b = value(o + ${second}u);
  let row = token.position * ${kvWidth}u;
  if (o >= ${endK}u) {
    cacheV[row + o - ${endK}u] = a;
    cacheV[row + o - ${endK}u + ${second}u] = b;
    return;
  }
  let c = cos_table[token.position * ${half}u + i];
  let s = sin_table[token.position * ${half}u + i];
  if (o >= ${endQ}u) {
    cacheK[row + o - ${endQ}u] = a * c - b * s;
    cacheK[row + o - ${endQ}u + ${second}u] = a * s + b * c;
    return;
  }
  qkv[o] = a * c - b * s;
  qkv[o + ${second}u] = a * s + b * c;
}`,
    access: accessOf(names, ['qkv', 'cacheK', 'cacheV']),
    workgroups: Math.ceil(pairs / GROUP),
  };
}

/** Parts into which a head's rows are divided where nothing is shared. */
const PARTS = 32;

/** Values that the parts of all heads leave: their sums, then their largest scores and totals. */
export function partsLength({ heads, headDim }: AttentionHeads): number {
  return heads * PARTS * (headDim + 4);
}

/** Sizes under the names that the ops' kernels use. */
const sizes = ({ kvHeads, scale }: AttentionHeads) =>
  `struct Sizes { kvHeads : u32, scale : f32 }
const uniforms = Sizes(${kvHeads}u, ${scale});`;

/**
 * Softmax attention of the token over the rows of one part, one invocation a head and part, in registers
 * alone. Buffers: token, qkv, cacheK, cacheV, parts.
 */
export function partsShader(span: AttentionHeads): Shader {
  const { heads, kvHeads, headDim, window } = span;
  const { type, size } = pieces(headDim);
  const first = window === undefined ? '0u' : `u32(max(0, i32(token.position) - ${window - 1}))`;
  const slot = slotOf(headDim);
  const names = ['q', 'k', 'v', 'parts'];
  return {
    code: `${storage(names, ['parts'], type)}
${sizes(span)}
@compute @workgroup_size(${GROUP})
fn main(@builtin(global_invocation_id) id : vec3<u32>) {
  let head = id.x / ${PARTS}u;
  if (head >= ${heads}u) { return; }
  let part = id.x % ${PARTS}u;
  let kvHead = head * ${kvHeads}u / ${heads}u;
  let own = head * ${size}u;
  let firstSeen = ${first};
  let step = (token.position + ${PARTS}u - firstSeen) / ${PARTS}u;
  let firstRow = firstSeen + part * step;
  let endRow = min(firstRow + step, token.position + 1u);
  ${softmaxPass(headDim)}
  let slot = id.x * ${slot}u;
  ${storePart(headDim, 'parts')}
}`,
    access: accessOf(names, ['parts']),
    workgroups: Math.ceil((heads * PARTS) / GROUP),
  };
}

/** Puts the parts together, one invocation a piece of a head. Buffers: token, parts, mixed. */
export function mergeShader({ heads, headDim }: AttentionHeads): Shader {
  const { type, size } = pieces(headDim);
  const slot = slotOf(headDim);
  const at = (offset: string) => `parts[(head * ${PARTS}u + part) * ${slot}u + ${offset}]`;
  const names = ['parts', 'mixed'];
  return {
    code: `${storage(names, ['mixed'], type)}
@compute @workgroup_size(${GROUP})
fn main(@builtin(global_invocation_id) id : vec3<u32>) {
  let head = id.x / ${size}u;
  if (head >= ${heads}u) { return; }
  let piece = id.x % ${size}u;
  ${mergeParts(headDim, `${PARTS}u`, at)}
  mixed[id.x] = sum / total;
}`,
    access: accessOf(names, ['mixed']),
    workgroups: Math.ceil((heads * size) / GROUP),
  };
}

/**
 * Softmax attention of the token over rows 0 … position, one workgroup a head, 64 rows at a time with a
 * running maximum (Milakov and Gimelshein 2018). Buffers: token, qkv, cacheK, cacheV, mixed.
 */
export function attendShader({ heads, kvHeads, headDim, scale, window }: AttentionHeads): Shader {
  const kvWidth = kvHeads * headDim;
  const own = Math.ceil(headDim / GROUP); // columns of the head that an invocation sums
  const first = window === undefined ? '0u' : `u32(max(0, i32(token.position) - ${window - 1}))`;
  const names = ['qkv', 'cacheK', 'cacheV', 'mixed'];
  return {
    code: `${storage(names, ['mixed'])}
var<workgroup> query : array<f32, ${headDim}>;
var<workgroup> scores : array<f32, ${GROUP}>;
@compute @workgroup_size(${GROUP})
fn main(@builtin(local_invocation_index) lane : u32, @builtin(workgroup_id) group : vec3<u32>) {
  let head = group.x;
  let kv = head * ${kvHeads}u / ${heads}u * ${headDim}u;
  for (var d = lane; d < ${headDim}u; d += ${GROUP}u) { query[d] = qkv[head * ${headDim}u + d]; }
  var sum : array<f32, ${own}>;
  var most = -3.0e38;
  var total = 0.0;
  let end = token.position + 1u;
  for (var base = ${first}; base < end; base += ${GROUP}u) {
    workgroupBarrier();
    let row = base + lane;
    var score = -3.0e38;
    if (row < end) {
      score = 0.0;
      for (var d = 0u; d < ${headDim}u; d++) { score += query[d] * cacheK[row * ${kvWidth}u + kv + d]; }
      score *= ${scale};
    }
    scores[lane] = score;
    workgroupBarrier();
    let count = min(${GROUP}u, end - base);
    var top = most;
    for (var i = 0u; i < count; i++) { top = max(top, scores[i]); }
    let shrink = exp(most - top);
    most = top;
    total *= shrink;
    for (var c = 0u; c < ${own}u; c++) { sum[c] *= shrink; }
    for (var i = 0u; i < count; i++) {
      let weight = exp(scores[i] - top);
      total += weight;
      for (var c = 0u; c < ${own}u; c++) {
        let d = min(lane + c * ${GROUP}u, ${headDim - 1}u);
        sum[c] += weight * cacheV[(base + i) * ${kvWidth}u + kv + d];
      }
    }
  }
  for (var c = 0u; c < ${own}u; c++) {
    let d = lane + c * ${GROUP}u;
    if (d < ${headDim}u) { mixed[head * ${headDim}u + d] = sum[c] / total; }
  }
}`,
    access: accessOf(names, ['mixed']),
    workgroups: heads,
  };
}
