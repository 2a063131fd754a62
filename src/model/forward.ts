/**
 * From ids to logits, over a key-value cache, in chunks. Knows nothing of sampling or training.
 * On wasm and cpu a position's numbers do not depend on the chunk it comes in, bit for bit.
 */

import * as tf from '@tensorflow/tfjs-core';
import { LabError, throwIfAborted } from '../errors.ts';
import { cacheFor, type KvCache } from './cache.ts';
import { type Draw, decoderFits, decoderOf } from './decode/decoder.ts';
import { SPARE_BYTES, trimPool } from './gpu-pool.ts';
import { type Attend, adapterOf, layerForward } from './layer.ts';
import type { LlamaModel } from './llama.ts';
import type { Adapter } from './lora.ts';
import { nextMacrotask } from './macrotask.ts';
import { attention, gatherRows, kvAppend, linear, rmsNorm } from './ops/index.ts';
import type { SampledToken } from './sampler.ts';
import { SimdPass } from './simd/pass.ts';

/**
 * Positions computed together: enough to keep a matrix product busy, few enough that a stop is
 * heard within a second.
 */
export const PREFILL_CHUNK = 64;

/** From this many positions on a layer takes long enough to listen for a stop between layers. */
const LISTEN_FROM = 8;

export interface ForwardOptions {
  /** Which positions' logits to return. */
  readonly logits: 'last' | 'all' | 'none';
  readonly signal?: AbortSignal;
  /** Called after each chunk with the positions done so far. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Positions a chunk; tests vary it. */
  readonly chunk?: number;
}

/**
 * Appends `ids` to the cache and returns the logits asked for: [1, V] for 'last', [ids, V] for
 * 'all' (the caller sees to it that this is small enough), null for 'none'. Returns owned. Rejects
 * with `limit` when the context is too short, `bad_input` for an id outside the vocabulary,
 * `aborted` on the signal; then the cache holds whole chunks and stays usable.
 */
export async function forward(
  model: LlamaModel,
  adapter: Adapter | null,
  cache: KvCache,
  ids: readonly number[],
  options: ForwardOptions,
): Promise<tf.Tensor2D | null> {
  checkIds(ids, model.config.vocabulary);
  cache.useAdapter(adapter);
  cache.reserve(cache.length + ids.length);
  trimPool(SPARE_BYTES);
  const size = options.chunk ?? PREFILL_CHUNK;
  const rows: tf.Tensor2D[] = [];
  try {
    for (let from = 0; from < ids.length; from += size) {
      if (from > 0) await nextMacrotask();
      throwIfAborted(options.signal);
      const chunk = ids.slice(from, from + size);
      const last = from + size >= ids.length;
      const wanted = options.logits === 'last' && !last ? 'none' : options.logits;
      const logits = await forwardChunk(model, adapter, cache, chunk, wanted, options.signal);
      if (logits !== null) rows.push(logits);
      cache.commit(chunk);
      options.onProgress?.(Math.min(from + size, ids.length), ids.length);
    }
    const [only] = rows;
    if (only === undefined) return null;
    if (rows.length === 1) return rows.pop() ?? null;
    return tf.concat(rows, 0);
  } finally {
    tf.dispose(rows);
  }
}

/**
 * One id more in the cache, and the token drawn after it where the GPU can do both at once: without
 * reading the logits. null where it cannot; nothing is done then.
 */
export async function forwardSampled(
  model: LlamaModel,
  adapter: Adapter | null,
  cache: KvCache,
  id: number,
  draw: () => Draw,
): Promise<SampledToken | null> {
  if (!decoderFits(model, adapter)) return null;
  checkIds([id], model.config.vocabulary);
  cache.useAdapter(adapter);
  cache.reserve(cache.length + 1);
  const sampled = await decoderOf(model).sample(adapter, cache, id, cache.length, draw());
  cache.commit([id]);
  return sampled;
}

async function forwardChunk(
  model: LlamaModel,
  adapter: Adapter | null,
  cache: KvCache,
  ids: readonly number[],
  wanted: ForwardOptions['logits'],
  signal: AbortSignal | undefined,
): Promise<tf.Tensor2D | null> {
  const start = cache.length;
  const length = start + ids.length;
  const [only] = ids;
  if (only !== undefined && ids.length === 1 && decoderFits(model, adapter)) {
    const logits = await decoderOf(model).step(adapter, cache, only, start);
    if (wanted !== 'none') return logits;
    logits.dispose();
    return null;
  }
  if (cache.form.kind === 'tiles') return passChunk(model, adapter, cache, ids, wanted, signal);
  let x = embed(model, ids);
  try {
    for (const [index, layer] of model.layers.entries()) {
      if (index > 0 && ids.length >= LISTEN_FROM) await listen(signal);
      const rows = cache.layer(index);
      const attend: Attend = (q, k, v) => {
        kvAppend(rows.k, rows.v, k, v, start);
        return attention(q, rows.k, rows.v, { ...layer.heads, start, length });
      };
      const next = tf.tidy(() =>
        layerForward(model, layer, adapterOf(adapter, index), x, start, attend),
      );
      x.dispose();
      x = next;
    }
    if (wanted === 'none') return null;
    return tf.tidy(() => {
      const asked = wanted === 'all' ? x : tf.slice(x, [ids.length - 1, 0]);
      return logitsOf(model, asked);
    });
  } finally {
    x.dispose();
  }
}

/** Between two layers of a long chunk: lets messages in, and throws when one of them said stop. */
async function listen(signal: AbortSignal | undefined): Promise<void> {
  await nextMacrotask();
  throwIfAborted(signal);
}

/** As {@link forwardChunk}, by kernels alone. */
async function passChunk(
  model: LlamaModel,
  adapter: Adapter | null,
  cache: KvCache,
  ids: readonly number[],
  wanted: ForwardOptions['logits'],
  signal: AbortSignal | undefined,
): Promise<tf.Tensor2D | null> {
  const asked = { none: 0, last: 1, all: ids.length }[wanted];
  using pass = new SimdPass(model, adapter, cache, ids, asked);
  for (const index of model.layers.keys()) {
    if (index > 0 && ids.length >= LISTEN_FROM) await listen(signal);
    pass.layer(index);
  }
  return asked === 0 ? null : pass.logits();
}

/**
 * Logits [1, V] after `ids`. The longest prefix that the cache holds under this adapter is not computed
 * again; the last id always is. Returns owned; rejects as {@link forward}.
 */
export async function logitsAfter(
  model: LlamaModel,
  adapter: Adapter | null,
  cache: KvCache,
  ids: readonly number[],
  options: Omit<ForwardOptions, 'logits'> = {},
): Promise<tf.Tensor2D> {
  cache.useAdapter(adapter);
  cache.keepPrefixOf(ids.slice(0, -1));
  const fresh = ids.slice(cache.length);
  const logits = await forward(model, adapter, cache, fresh, { ...options, logits: 'last' });
  if (logits !== null) return logits;
  throw new LabError('internal', 'The last position gave no logits.');
}

/**
 * A short pass whose result is thrown away: shaders compile and are chosen now, not at the first token, and
 * what does not fit fails while another model can still be kept.
 */
export async function warmUp(model: LlamaModel, signal?: AbortSignal): Promise<void> {
  using cache = cacheFor(model);
  const ids = new Array<number>(Math.min(LISTEN_FROM, model.config.contextLength)).fill(0);
  const options = { logits: 'last', ...(signal && { signal }) } as const;
  // Many at once, then one alone: the two ways that a model is run.
  for (const part of [ids.slice(1), ids.slice(0, 1)].filter(({ length }) => length > 0)) {
    const logits = await forward(model, null, cache, part, options);
    try {
      await logits?.data();
    } finally {
      logits?.dispose();
    }
  }
}

/** Residual rows [N, width] -> logits [N, V]. Call within tf.tidy; borrows. */
export function logitsOf(model: LlamaModel, x: tf.Tensor2D): tf.Tensor2D {
  return linear(rmsNorm(x, model.outputNorm, model.config.rmsEpsilon), model.head);
}

/** Ids -> the residual stream before the first layer, [T, width]. Returns owned. */
export function embed(model: LlamaModel, ids: readonly number[]): tf.Tensor2D {
  const rows = gatherRows(model.embedding, Int32Array.from(ids));
  const { embeddingScale } = model.config;
  if (embeddingScale === 1) return rows;
  const scaled = tf.mul<tf.Tensor2D>(rows, embeddingScale);
  rows.dispose();
  return scaled;
}

/** Throws `bad_input` naming the first id that is not in the vocabulary. */
export function checkIds(ids: readonly number[], vocabulary: number): void {
  if (ids.length === 0) {
    throw new LabError('bad_input', 'An empty list of ids was given; expected at least one token.');
  }
  for (const [position, id] of ids.entries()) {
    if (Number.isInteger(id) && id >= 0 && id < vocabulary) continue;
    throw new LabError(
      'bad_input',
      `Token id ${id} at position ${position} is not in the vocabulary; expected 0 to ${vocabulary - 1}.`,
      { id, position, vocabulary },
    );
  }
}
