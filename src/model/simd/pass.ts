/**
 * Some new positions through the whole model on WASM, by calls of the vector kernels on addresses: no
 * tensor is made but the logits. Over a cache of float32 its numbers are those of the ops of layer.ts, bit for
 * bit; they are its reference, and what runs elsewhere. Over one of 16 bits only attention's differ.
 */

import * as tf from '@tensorflow/tfjs-core';
import type { LoraTarget } from '../../config.ts';
import { LabError } from '../../errors.ts';
import type { KvCache } from '../cache.ts';
import type { LlamaLayer, LlamaModel } from '../llama.ts';
import type { Adapter } from '../lora.ts';
import { allocate2D } from '../ops/host.ts';
import { decodeRows, GATHER_BYTES, multiply, productBytes } from '../ops/linear-simd.ts';
import { pairing } from '../ops/rope.ts';
import type { WeightMatrix } from '../weights.ts';
import type { SimdWeight } from '../weights-simd.ts';
import type { SimdKernels } from './exports.ts';
import { Block, heapFloats, kernelsFor, pointerOf, simdKernels } from './kernels.ts';
import type { CacheBits } from './kv-tiles.ts';
import { attentionBytes } from './team.ts';

/** True where the pass computes what the ops would; else the ops must. */
export function passFits({ config, matrices }: LlamaModel): boolean {
  return (
    tf.getBackend() === 'wasm' &&
    simdKernels() !== null &&
    config.headDim % 4 === 0 &&
    matrices.every(({ storage }) => storage.kind === 'simd')
  );
}

/** Keys and values are rounded to 16 bits where products round activations to as many: exact models stay exact. */
export function cacheBitsOf({ matrices }: LlamaModel): CacheBits {
  return matrices.every((matrix) => simdOf(matrix).form.kind === 'floats') ? 32 : 16;
}

/**
 * Owns the activations of one chunk. The cache has room for it and must not grow meanwhile. Of the last layer only keys
 * and values are computed for all positions, the rest for the `asked` last ones: nobody reads what it gives for others.
 */
export class SimdPass {
  readonly #model: LlamaModel;
  readonly #adapter: Adapter | null;
  readonly #cache: KvCache;
  readonly #tokens: number;
  readonly #asked: number;
  readonly #start: number;
  /** The cache's tiles are float32: a flag for the kernels. */
  readonly #wide: number;
  readonly #kernels: SimdKernels;
  readonly #memory: Block;
  readonly #at: Readonly<Record<Part, number>>;

  /** Embeds `ids`, which come after what the cache holds. Call where {@link passFits}. */
  constructor(
    model: LlamaModel,
    adapter: Adapter | null,
    cache: KvCache,
    ids: readonly number[],
    asked: number,
  ) {
    const kernels = kernelsFor(ids.length * model.parameters);
    if (kernels === null) throw new LabError('internal', 'There are no vector kernels here.');
    this.#model = model;
    this.#adapter = adapter;
    this.#cache = cache;
    this.#tokens = ids.length;
    this.#asked = asked;
    this.#start = cache.length;
    this.#wide = Number(cache.form.kind === 'tiles' && cache.form.bits === 32);
    this.#kernels = kernels;
    const sizes = partBytes(model, adapter, ids.length);
    this.#memory = new Block(Object.values(sizes).reduce((sum, bytes) => sum + bytes, 0));
    this.#at = placed(sizes, this.#memory.pointer);
    this.#embed(ids);
  }

  /** Takes the residual stream through one layer; layers come in order. */
  layer(index: number): void {
    const { x, normed, q, k, v, mixed, out, gate, up, work } = this.#at;
    const { config, layers } = this.#model;
    const layer = layers[index];
    if (layer === undefined) throw new LabError('internal', `There is no layer ${index}.`);
    const tokens = this.#tokens;
    const kernels = this.#kernels;
    const { heads, kvHeads, headDim, scale, window } = layer.heads;
    const tiles = pointerOf(this.#cache.tiles(index));
    const project = (input: number, target: LoraTarget, to: number, count: number) =>
      this.#project(layer, index, input, target, to, count);

    this.#norm(x, layer.attentionNorm, normed, tokens);
    project(normed, 'k_proj', k, tokens);
    this.#turn(layer, k, kvHeads, layer.keyNorm, 0);
    project(normed, 'v_proj', v, tokens);
    kernels.keepRows(k, v, tiles, tokens, kvHeads, headDim, this.#start, this.#wide);
    const kept = index === layers.length - 1 ? this.#asked : tokens;
    if (kept === 0) return;
    const first = tokens - kept;
    const before = 4 * first * config.width;
    project(normed + before, 'q_proj', q, kept);
    this.#turn(layer, q, heads, layer.queryNorm, first);
    kernels.attention(
      q,
      tiles,
      mixed,
      work,
      kept,
      heads,
      kvHeads,
      headDim,
      this.#start + first,
      window ?? 0,
      scale,
      this.#wide,
      0,
      kept * heads,
    );
    project(mixed, 'o_proj', out, kept);
    this.#join(out, layer.attentionPostNorm, x + before, kept);

    this.#norm(x + before, layer.mlpNorm, normed, kept);
    project(normed, 'gate_proj', gate, kept);
    project(normed, 'up_proj', up, kept);
    const gated = config.activation === 'silu' ? kernels.swiglu : kernels.geglu;
    gated(gate, up, gate, 0, kept * config.inner);
    project(gate, 'down_proj', out, kept);
    this.#join(out, layer.mlpPostNorm, x + before, kept);
  }

  /** Logits of the positions asked for, [asked, V]. Returns owned. */
  logits(): tf.Tensor2D {
    const { outputNorm, head, config } = this.#model;
    const { x, normed, work } = this.#at;
    const count = this.#asked;
    const y = allocate2D(count, config.vocabulary);
    const from = x + 4 * config.width * (this.#tokens - count);
    this.#norm(from, outputNorm, normed, count);
    multiply(head, simdOf(head), normed, pointerOf(y), count, work, this.#kernels);
    return y;
  }

  [Symbol.dispose](): void {
    this.#memory[Symbol.dispose]();
  }

  #embed(ids: readonly number[]): void {
    const { embedding, config } = this.#model;
    const { x, work } = this.#at;
    decodeRows(embedding, simdOf(embedding), ids, x, work);
    if (config.embeddingScale === 1) return;
    const scale = Math.fround(config.embeddingScale);
    const values = heapFloats(x, ids.length * config.width);
    for (let i = 0; i < values.length; i++) values[i] = (values[i] as number) * scale; // i < length
  }

  /** y = x W^T, plus the bias and the adapter's term where there are any. */
  #project(
    layer: LlamaLayer,
    index: number,
    x: number,
    target: LoraTarget,
    y: number,
    tokens: number,
  ): void {
    const w = layer.projections[target];
    const { work } = this.#at;
    multiply(w, simdOf(w), x, y, tokens, work, this.#kernels);
    const bias = layer.biases[target];
    if (bias !== undefined) this.#kernels.addRows(y, pointerOf(bias), tokens, w.rows, 0);
    const module = this.#adapter?.module(index, target);
    if (module === undefined) return;
    const [a, b] = [pointerOf(module.aT), pointerOf(module.bT)];
    const rank = module.aT.shape[1];
    this.#kernels.loraAdd(y, x, a, b, work, w.cols, rank, w.rows, module.scale, 0, tokens);
  }

  #norm(x: number, gain: tf.Tensor1D, y: number, rows: number): void {
    const { rmsEpsilon } = this.#model.config;
    this.#kernels.rmsNorm(x, pointerOf(gain), y, gain.size, rmsEpsilon, 0, rows);
  }

  /** Norm (where there is one) and RoPE of each head's vector, in place, from the chunk's position `first` on. */
  #turn(
    { rope, heads }: LlamaLayer,
    x: number,
    count: number,
    gain: tf.Tensor1D | null,
    first: number,
  ): void {
    const { headDim } = heads;
    const tokens = this.#tokens - first;
    if (gain !== null) this.#norm(x, gain, x, tokens * count);
    const { second, stride } = pairing(rope);
    const [cos, sin] = [pointerOf(rope.cos), pointerOf(rope.sin)];
    const cols = count * headDim;
    const half = headDim / 2;
    const start = this.#start + first;
    this.#kernels.rope(x, x, cos, sin, tokens, cols, half, start, second, stride, 1);
  }

  /** Adds a branch's output to so many rows of the residual stream. */
  #join(out: number, postNorm: tf.Tensor1D | null, x: number, tokens: number): void {
    const { width } = this.#model.config;
    if (postNorm !== null) this.#norm(out, postNorm, out, tokens);
    this.#kernels.addRows(x, out, tokens, width, 4 * width);
  }
}

type Part = 'x' | 'normed' | 'q' | 'k' | 'v' | 'mixed' | 'out' | 'gate' | 'up' | 'work';

/** Bytes of each part; `work` is what the largest of the kernels needs. */
function partBytes(
  { config, matrices }: LlamaModel,
  adapter: Adapter | null,
  tokens: number,
): Record<Part, number> {
  const { width, heads, kvHeads, headDim, inner } = config;
  const products = matrices.map((w) => productBytes(w, simdOf(w), tokens));
  const ranks = (adapter?.modules ?? []).map(({ aT }) => 4 * aT.shape[1]);
  return {
    x: 4 * tokens * width,
    normed: 4 * tokens * width,
    q: 4 * tokens * heads * headDim,
    k: 4 * tokens * kvHeads * headDim,
    v: 4 * tokens * kvHeads * headDim,
    mixed: 4 * tokens * heads * headDim,
    out: 4 * tokens * width,
    gate: 4 * tokens * inner,
    up: 4 * tokens * inner,
    work: Math.max(GATHER_BYTES, attentionBytes(headDim), ...products, ...ranks),
  };
}

function placed(sizes: Readonly<Record<Part, number>>, from: number): Record<Part, number> {
  let next = from;
  const take = (bytes: number) => {
    const at = next;
    next += bytes;
    return at;
  };
  return {
    x: take(sizes.x),
    normed: take(sizes.normed),
    q: take(sizes.q),
    k: take(sizes.k),
    v: take(sizes.v),
    mixed: take(sizes.mixed),
    out: take(sizes.out),
    gate: take(sizes.gate),
    up: take(sizes.up),
    work: take(sizes.work),
  };
}

function simdOf({ name, storage }: WeightMatrix): SimdWeight {
  if (storage.kind === 'simd') return storage;
  throw new LabError('internal', `${name} is not in panels.`);
}
