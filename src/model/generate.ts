/** From a prompt to sampled tokens, one at a time, over a cache that is kept. Knows no episode and no chat. */

import { isAbort, LabError } from '../errors.ts';
import type { Rng } from '../math/rng.ts';
import type { Generation, GenerationStop } from '../records.ts';
import { createTextStream, type Tokenizer } from '../text/tokenizer.ts';
import type { KvCache } from './cache.ts';
import { forward, forwardSampled } from './forward.ts';
import type { LlamaModel } from './llama.ts';
import type { Adapter } from './lora.ts';
import { nextMacrotask } from './macrotask.ts';
import {
  isPlain,
  plainDraw,
  type SampledToken,
  type SamplingOptions,
  sampleToken,
} from './sampler.ts';

export interface GenerateOptions {
  readonly sampling: SamplingOptions;
  /** The most tokens to sample; cut to what the context leaves. */
  readonly maxTokens: number;
  /** A generation ends before the first of these texts; none of it is in the result's text. */
  readonly stopTexts?: readonly string[];
  readonly signal?: AbortSignal;
  /** Called as the prompt is read, with the positions done and all that are new. */
  readonly onPrefill?: (done: number, total: number) => void;
}

/** One sampled token; an end token included. */
export interface TokenStep {
  readonly id: number;
  readonly logprob: number;
  /**
   * Text that is certain now: whole characters, and nothing that may turn out to begin a stop text.
   * All of them joined are the result's text.
   */
  readonly text: string;
}

/**
 * Samples until an end token, a stop text, the limit or an abort; yields each token as it comes. The
 * longest prefix of `promptIds` that the cache holds under this adapter is not computed again. An
 * abort ends it within one token, with stop `abort` and what was sampled so far; every other failure
 * throws, and the cache stays usable. A full context ends it with stop `length`; rejects with `limit`
 * when the prompt leaves no room for one token.
 */
export async function* generate(
  model: LlamaModel,
  tokenizer: Tokenizer,
  adapter: Adapter | null,
  cache: KvCache,
  promptIds: readonly number[],
  rng: Rng,
  options: GenerateOptions,
): AsyncGenerator<TokenStep, Generation, void> {
  const { sampling, signal } = options;
  const stopTexts = (options.stopTexts ?? []).filter((stop) => stop !== '');
  const maxTokens = Math.min(options.maxTokens, roomAfter(promptIds, cache));
  const ids: number[] = [];
  const logprobs: number[] = [];
  let entropies = 0;
  const stream = createTextStream(tokenizer);
  let text = ''; // all of it, and how much of it has been yielded
  let shown = 0;
  const result = (stop: GenerationStop): Generation => ({
    promptTokens: promptIds.length,
    ids,
    logprobs,
    ...(ids.length > 0 && { meanEntropy: entropies / ids.length }),
    text,
    stop,
  });
  cache.useAdapter(adapter);
  // The last prompt id is always computed: its logits are wanted.
  cache.keepPrefixOf(promptIds.slice(0, -1));
  let pending = promptIds.slice(cache.length);
  const history = new Set(promptIds);
  while (ids.length < maxTokens) {
    let sampled: SampledToken;
    try {
      const [only] = pending;
      const drawn =
        only !== undefined && pending.length === 1 && isPlain(sampling)
          ? await forwardSampled(model, adapter, cache, only, () => plainDraw(sampling, rng))
          : null;
      if (drawn !== null) sampled = drawn;
      else {
        const heard = ids.length === 0 ? options : { signal };
        const row = await nextLogits(model, adapter, cache, pending, heard);
        sampled = sampleToken(row, history, sampling, rng);
      }
    } catch (thrown) {
      if (isAbort(thrown)) return result('abort');
      throw thrown;
    }
    const { id, logprob, entropy } = sampled;
    ids.push(id);
    logprobs.push(logprob);
    entropies += entropy;
    history.add(id);
    const ended = tokenizer.eosIds.has(id);
    const last = ended || ids.length === maxTokens;
    if (tokenizer.size > 0) text += (ended ? '' : stream.push(id)) + (last ? stream.end() : '');
    const cut = firstStop(text, stopTexts);
    if (cut !== null) text = text.slice(0, cut);
    const certain = cut !== null || last ? text.length : text.length - heldBack(text, stopTexts);
    const fresh = text.slice(shown, certain);
    shown = Math.max(shown, certain);
    yield { id, logprob, text: fresh };
    if (cut !== null) return result('stop');
    if (ended) return result('eos');
    pending = [id];
    await nextMacrotask();
    if (signal?.aborted) return result('abort');
  }
  return result('length');
}

function roomAfter(promptIds: readonly number[], cache: KvCache): number {
  const room = cache.limit - promptIds.length;
  if (room > 0) return room;
  throw new LabError(
    'limit',
    `The prompt has ${promptIds.length} tokens and the context holds ${cache.limit}; there is no room for an answer. Shorten the conversation, or load the model with a longer context.`,
    { length: promptIds.length, limit: cache.limit },
  );
}

async function nextLogits(
  model: LlamaModel,
  adapter: Adapter | null,
  cache: KvCache,
  ids: readonly number[],
  { signal, onPrefill }: Pick<GenerateOptions, 'onPrefill'> & { signal?: AbortSignal | undefined },
): Promise<Float32Array> {
  const logits = await forward(model, adapter, cache, ids, {
    logits: 'last',
    ...(signal && { signal }),
    ...(onPrefill && { onProgress: onPrefill }),
  });
  if (logits === null) throw new LabError('internal', 'The last position gave no logits.');
  try {
    return await logits.data<'float32'>();
  } finally {
    logits.dispose();
  }
}

/** How many last characters may be the beginning of a stop text. */
function heldBack(text: string, stopTexts: readonly string[]): number {
  const longest = Math.max(0, ...stopTexts.map((stop) => stop.length - 1));
  for (let n = Math.min(longest, text.length); n > 0; n--) {
    if (stopTexts.some((stop) => stop.startsWith(text.slice(-n)))) return n;
  }
  return 0;
}

/** Where the earliest stop text begins; null when there is none. */
function firstStop(text: string, stopTexts: readonly string[]): number | null {
  const found = stopTexts.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
  return found.length === 0 ? null : Math.min(...found);
}
