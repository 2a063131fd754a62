/**
 * Keys and values of the positions already seen, and whose they are. Knows how much is valid, not
 * how it is computed.
 */

import type * as tf from '@tensorflow/tfjs-core';
import { LabError } from '../errors.ts';
import { type CacheRows, cacheRows } from './cache-rows.ts';
import type { LlamaModel } from './llama.ts';
import type { Adapter } from './lora.ts';
import { type CacheBits, TILE, tileBytes } from './simd/kv-tiles.ts';
import { cacheBitsOf, passFits } from './simd/pass.ts';

export interface LayerCache {
  readonly k: tf.Tensor2D; // [capacity, kvWidth]
  readonly v: tf.Tensor2D; // [capacity, kvWidth]
}

/** How keys and values lie: as rows of float32 for ops, or in tiles for the vector kernels' pass. */
export type CacheForm =
  | { readonly kind: 'rows'; readonly width: number }
  | {
      readonly kind: 'tiles';
      readonly kvHeads: number;
      readonly headDim: number;
      readonly bits: CacheBits;
    };

/** The first allocation; a cache doubles from there, so a short episode does not pay for a long context. */
const FIRST_CAPACITY = 256;

/** An empty cache for conversations as long as the model's context, in the form that its passes read. */
export function cacheFor(model: LlamaModel): KvCache {
  const { layers, kvHeads, headDim, contextLength } = model.config;
  return new KvCache(
    layers,
    contextLength,
    passFits(model)
      ? { kind: 'tiles', kvHeads, headDim, bits: cacheBitsOf(model) }
      : { kind: 'rows', width: kvHeads * headDim },
  );
}

/** Owns one conversation's keys and values, layer by layer. */
export class KvCache {
  readonly limit: number;
  readonly form: CacheForm;
  /** Of each layer keys and values, or its tiles. */
  #layers: CacheRows[][];
  #ids: number[] = [];
  #adapter: Adapter | null = null;
  #version = 0;

  /** `limit` = the model's context length in tokens. */
  constructor(layers: number, limit: number, form: CacheForm) {
    this.limit = limit;
    this.form = form;
    const { parts, rows, width } = arraysOf(form, Math.min(FIRST_CAPACITY, limit));
    this.#layers = Array.from({ length: layers }, () =>
      Array.from({ length: parts }, () => cacheRows(rows, width)),
    );
  }

  /** The ids whose keys and values are valid, in order. */
  get ids(): readonly number[] {
    return this.#ids;
  }

  get length(): number {
    return this.#ids.length;
  }

  get capacity(): number {
    const rows = this.#layers[0]?.[0]?.tensor.shape[0] ?? 0;
    return this.form.kind === 'tiles' ? TILE * rows : rows;
  }

  get bytes(): number {
    return this.#layers.flat().reduce((sum, { tensor }) => sum + 4 * tensor.size, 0);
  }

  /** The tensors of one layer where they are rows; borrowed, and replaced by {@link reserve}. */
  layer(index: number): LayerCache {
    const [k, v] = this.#layers[index] ?? [];
    if (k && v) return { k: k.tensor, v: v.tensor };
    throw new LabError('internal', `The cache has no rows of layer ${index}.`);
  }

  /** As {@link layer}, where they are tiles: [tiles, kvHeads · floats of a tile]. */
  tiles(index: number): tf.Tensor2D {
    const [tiles, more] = this.#layers[index] ?? [];
    if (tiles && !more) return tiles.tensor;
    throw new LabError('internal', `The cache has no tiles of layer ${index}.`);
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
    const { rows } = arraysOf(this.form, capacity);
    this.#layers = this.#layers.map((parts) => parts.map((part) => part.grown(rows)));
  }

  /** Records that the keys and values after the present ones are those of `ids`. */
  commit(ids: readonly number[]): void {
    for (const id of ids) this.#ids.push(id);
  }

  dispose(): void {
    for (const part of this.#layers.flat()) part.dispose();
    this.#layers = [];
    this.#ids = [];
    this.#adapter = null;
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

/** How many arrays of which shape hold one layer's keys and values of so many positions. */
function arraysOf(
  form: CacheForm,
  capacity: number,
): { readonly parts: number; readonly rows: number; readonly width: number } {
  switch (form.kind) {
    case 'rows':
      return { parts: 2, rows: capacity, width: form.width };
    case 'tiles': {
      const { kvHeads, headDim, bits } = form;
      const width = (kvHeads * tileBytes(headDim, bits)) / 4;
      return { parts: 1, rows: Math.ceil(capacity / TILE), width };
    }
    default:
      return form satisfies never;
  }
}
