/**
 * Keys and values of the positions already seen, and whose they are. Knows how much is valid, not
 * how it is computed.
 */

import type * as tf from '@tensorflow/tfjs-core';
import { LabError } from '../errors.ts';
import { type CacheRows, cacheRows } from './cache-rows.ts';
import type { LlamaConfig } from './llama-config.ts';
import type { Adapter } from './lora.ts';

export interface LayerCache {
  readonly k: tf.Tensor2D; // [capacity, kvWidth]
  readonly v: tf.Tensor2D; // [capacity, kvWidth]
}

interface LayerRows {
  readonly k: CacheRows;
  readonly v: CacheRows;
}

/** The first allocation; a cache doubles from there, so a short episode does not pay for a long context. */
const FIRST_CAPACITY = 256;

/** An empty cache for conversations as long as the model's context. */
export function cacheFor({ layers, kvHeads, headDim, contextLength }: LlamaConfig): KvCache {
  return new KvCache(layers, kvHeads * headDim, contextLength);
}

/** Owns one conversation's keys and values, layer by layer. */
export class KvCache {
  readonly limit: number;
  readonly #width: number;
  #layers: LayerRows[];
  #ids: number[] = [];
  #adapter: Adapter | null = null;
  #version = 0;

  /** `width` = KV heads times head width; `limit` = the model's context length in tokens. */
  constructor(layers: number, width: number, limit: number) {
    this.limit = limit;
    this.#width = width;
    const capacity = Math.min(FIRST_CAPACITY, limit);
    this.#layers = Array.from({ length: layers }, () => ({
      k: cacheRows(capacity, width),
      v: cacheRows(capacity, width),
    }));
  }

  /** The ids whose keys and values are valid, in order. */
  get ids(): readonly number[] {
    return this.#ids;
  }

  get length(): number {
    return this.#ids.length;
  }

  get capacity(): number {
    return this.#layers[0]?.k.tensor.shape[0] ?? 0;
  }

  get bytes(): number {
    return this.#layers.length * 2 * this.capacity * this.#width * 4;
  }

  /** The tensors of one layer; borrowed, and replaced by {@link reserve}. */
  layer(index: number): LayerCache {
    const layer = this.#layers[index];
    if (layer !== undefined) return { k: layer.k.tensor, v: layer.v.tensor };
    throw new LabError('internal', `The cache has ${this.#layers.length} layers; not ${index}.`);
  }

  /** Declares who computes from now on; rows of another adapter, or of its earlier self, are dropped. */
  useAdapter(adapter: Adapter | null): void {
    const version = adapter?.version ?? 0;
    if (adapter !== this.#adapter || version !== this.#version) this.truncate(0);
    this.#adapter = adapter;
    this.#version = version;
  }

  /** Keeps the longest prefix that is also a prefix of `ids`; returns its length. */
  keepPrefixOf(ids: readonly number[]): number {
    let n = 0;
    while (n < this.#ids.length && n < ids.length && this.#ids[n] === ids[n]) n++;
    this.truncate(n);
    return n;
  }

  /** Forgets all positions from `length` on. */
  truncate(length: number): void {
    if (length < this.#ids.length) this.#ids.length = Math.max(0, length);
  }

  /** Makes room for positions up to `length`; throws `limit` beyond the context length. */
  reserve(length: number): void {
    if (length > this.limit) {
      throw new LabError(
        'limit',
        `The conversation needs ${length} tokens, but the context holds ${this.limit}. Shorten it, or load the model with a longer context.`,
        { length, limit: this.limit },
      );
    }
    const old = this.capacity;
    if (length <= old) return;
    const capacity = Math.min(this.limit, Math.max(length, 2 * old));
    this.#layers = this.#layers.map(({ k, v }) => ({ k: k.grown(capacity), v: v.grown(capacity) }));
  }

  /** Records that the keys and values after the present ones are those of `ids`. */
  commit(ids: readonly number[]): void {
    for (const id of ids) this.#ids.push(id);
  }

  dispose(): void {
    for (const { k, v } of this.#layers) {
      k.dispose();
      v.dispose();
    }
    this.#layers = [];
    this.#ids = [];
    this.#adapter = null;
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}
