/**
 * The logits that tokens are sampled from: after several tokens by one pass where the text so far says what may come
 * and a position's numbers do not depend on its company (not on a GPU). A right guess saves its own pass, a wrong one is
 * forgotten, so that what is sampled stays the same, bit for bit.
 */

import { LabError } from '../errors.ts';
import type { KvCache } from './cache.ts';
import { type ForwardOptions, forward } from './forward.ts';
import type { LlamaModel } from './llama.ts';
import { guessNext } from './lookup.ts';
import type { Adapter } from './lora.ts';
import { onGpu } from './ops/host.ts';

/**
 * Tokens guessed at most: with the known one they fill a tile of a product, which costs the bundled policy a quarter more
 * than one token; a second tile costs as much as the first.
 */
const MOST_GUESSED = 3;

/** One conversation as it grows; borrows everything, and leaves no guess in the cache. */
export class ReadAhead {
  readonly #model: LlamaModel;
  readonly #adapter: Adapter | null;
  readonly #cache: KvCache;
  readonly #ids: number[];
  /** The last ids of the cache, there only because they may come; the next first. */
  #guessed: readonly number[] = [];
  /** Logits after what is known, then after each guess. */
  #rows: Float32Array[] = [];

  /** `ids`: all that is known, of which the cache holds a shorter prefix. */
  constructor(model: LlamaModel, adapter: Adapter | null, cache: KvCache, ids: readonly number[]) {
    this.#model = model;
    this.#adapter = adapter;
    this.#cache = cache;
    this.#ids = [...ids];
  }

  /** The only id that is not in the cache yet; null where there are more, or its logits are here. */
  get onlyPending(): number | null {
    const { length } = this.#cache;
    return length === this.#ids.length - 1 ? (this.#ids[length] ?? null) : null;
  }

  /** Logits [V] after all that is known, with at most `most` guesses tried. Rejects as {@link forward}. */
  async row(
    most: number,
    endIds: ReadonlySet<number>,
    options: Omit<ForwardOptions, 'logits'>,
  ): Promise<Float32Array> {
    if (this.#rows.length === 0) await this.#read(this.#guess(most, endIds), options);
    const row = this.#rows.shift();
    if (row !== undefined) return row;
    throw new LabError('internal', 'The last position gave no logits.');
  }

  /** `id` is what came. */
  push(id: number): void {
    this.#ids.push(id);
    if (this.#guessed[0] === id) this.#guessed = this.#guessed.slice(1);
    else this.#forget();
  }

  [Symbol.dispose](): void {
    this.#forget();
  }

  #forget(): void {
    this.#cache.truncate(this.#cache.length - this.#guessed.length);
    this.#guessed = [];
    this.#rows = [];
  }

  #guess(most: number, endIds: ReadonlySet<number>): readonly number[] {
    if (onGpu()) return [];
    const room = this.#cache.limit - this.#ids.length;
    const guessed = guessNext(this.#ids, Math.min(MOST_GUESSED, most, room));
    const end = guessed.findIndex((id) => endIds.has(id)); // nothing is wanted after it
    return end < 0 ? guessed : guessed.slice(0, end);
  }

  async #read(
    guessed: readonly number[],
    { onProgress, ...options }: Omit<ForwardOptions, 'logits'>,
  ): Promise<void> {
    const known = this.#ids.slice(this.#cache.length);
    const count = guessed.length + 1;
    const logits = await forward(this.#model, this.#adapter, this.#cache, [...known, ...guessed], {
      ...options,
      ...(onProgress && {
        onProgress: (done: number) => onProgress(Math.min(done, known.length), known.length),
      }),
      logits: count,
    });
    if (logits === null) return;
    this.#guessed = guessed;
    try {
      const values = await logits.data<'float32'>();
      const width = values.length / count;
      const rowAt = (_: unknown, i: number) => values.subarray(i * width, (i + 1) * width);
      this.#rows = Array.from({ length: count }, rowAt);
    } finally {
      logits.dispose();
    }
  }
}
