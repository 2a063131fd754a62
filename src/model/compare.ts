/**
 * One prompt under several adapters, side by side: what each writes, and how likely every side finds
 * every text, token by token. Knows no files and no page.
 */

import { LabError, throwIfAborted } from '../errors.ts';
import { deriveRng } from '../math/rng.ts';
import type { AdapterData, Generation } from '../records.ts';
import { finish } from '../sequences.ts';
import type { Tokenizer } from '../text/tokenizer.ts';
import { cacheFor, type KvCache } from './cache.ts';
import { forward } from './forward.ts';
import { generate } from './generate.ts';
import type { LlamaModel } from './llama.ts';
import { Adapter } from './lora.ts';
import { GREEDY, logSoftmaxAt } from './sampler.ts';

/** A model with at most one adapter on it. */
export interface Side {
  readonly label: string;
  /** Null: the base alone. */
  readonly adapter: AdapterData | null;
}

export interface CompareOptions {
  readonly maxTokens: number;
  /** 0 takes the most likely token. */
  readonly temperature: number;
  /** All sides draw the same random numbers. */
  readonly seed: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
}

/** One token of a side's text under all sides. */
export interface ComparedToken {
  readonly id: number;
  readonly piece: string;
  /** Natural log-probability of this token under each side, in their order. */
  readonly logprobs: readonly number[];
}

/** What one side wrote. */
export interface ComparedText {
  readonly label: string;
  readonly text: string;
  readonly stop: Generation['stop'];
  readonly tokens: readonly ComparedToken[];
  /** Log-probability of the whole text under each side, in their order. */
  readonly total: readonly number[];
}

/**
 * Each side writes its own continuation, and each is then read by all. Every side is loaded for its
 * turn alone and freed before the next, so none can leak into another. Rejects with `limit` when the
 * prompt leaves no room, `aborted` on the signal.
 */
export async function compareSides(
  model: LlamaModel,
  tokenizer: Tokenizer,
  promptIds: readonly number[],
  sides: readonly Side[],
  options: CompareOptions,
): Promise<readonly ComparedText[]> {
  const steps = 2 * sides.length;
  const written: Generation[] = [];
  for (const [i, side] of sides.entries()) {
    options.onProgress?.(i, steps);
    using turn = openTurn(model, side);
    written.push(await write(model, tokenizer, turn, promptIds, options));
  }
  const readings: number[][][] = []; // [side that reads][side that wrote][token]
  for (const [i, side] of sides.entries()) {
    options.onProgress?.(sides.length + i, steps);
    using turn = openTurn(model, side);
    const reading: number[][] = [];
    for (const { ids } of written) {
      reading.push(await read(model, turn, promptIds, ids, options.signal));
    }
    readings.push(reading);
  }
  options.onProgress?.(steps, steps);
  return written.map(({ ids, text, stop }, writer) => {
    const columns = readings.map((reading) => reading[writer] ?? []);
    return {
      label: sides[writer]?.label ?? '',
      text,
      stop,
      tokens: ids.map((id, t) => ({
        id,
        piece: tokenizer.size > 0 ? tokenizer.piece(id) : '',
        logprobs: columns.map((column) => column[t] ?? 0),
      })),
      total: columns.map((column) => column.reduce((sum, value) => sum + value, 0)),
    };
  });
}

/** A side on the device with a cache of its own. */
interface Turn extends Disposable {
  readonly adapter: Adapter | null;
  readonly cache: KvCache;
}

function openTurn(model: LlamaModel, side: Side): Turn {
  const adapter = side.adapter && new Adapter(side.adapter);
  const cache = cacheFor(model);
  return {
    adapter,
    cache,
    [Symbol.dispose]() {
      adapter?.dispose();
      cache.dispose();
    },
  };
}

async function write(
  model: LlamaModel,
  tokenizer: Tokenizer,
  { adapter, cache }: Turn,
  promptIds: readonly number[],
  { maxTokens, temperature, seed, signal }: CompareOptions,
): Promise<Generation> {
  const tokens = generate(model, tokenizer, adapter, cache, promptIds, deriveRng(seed, 'compare'), {
    sampling: { ...GREEDY, temperature },
    maxTokens,
    ...(signal && { signal }),
  });
  const generation = await finish(tokens);
  throwIfAborted(signal);
  return generation;
}

/** log p of each of `ids` after the prompt and the ids before it. */
async function read(
  model: LlamaModel,
  { adapter, cache }: Turn,
  promptIds: readonly number[],
  ids: readonly number[],
  signal: AbortSignal | undefined,
): Promise<number[]> {
  cache.useAdapter(adapter);
  cache.keepPrefixOf(promptIds.slice(0, -1));
  const fed = [...promptIds.slice(cache.length), ...ids.slice(0, -1)];
  const before = fed.length - ids.length; // positions whose logits nobody asks for
  if (before > 0) {
    await forward(model, adapter, cache, fed.slice(0, before), {
      logits: 'none',
      ...(signal && { signal }),
    });
  }
  const logits = await forward(model, adapter, cache, fed.slice(before), {
    logits: 'all',
    ...(signal && { signal }),
  });
  if (logits === null) throw new LabError('internal', 'A text without tokens was compared.');
  const [, width] = logits.shape;
  const values = await logits.data<'float32'>();
  logits.dispose();
  return ids.map((id, t) => logSoftmaxAt(values.subarray(t * width, (t + 1) * width), id));
}
