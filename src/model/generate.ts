/** From a prompt to sampled tokens, one at a time, over a cache that is kept. Knows no episode and no chat. */

import { isAbort } from '../errors.ts';
import type { Rng } from '../math/rng.ts';
import type { Generation, GenerationStop } from '../records.ts';
import { createTextStream, type Tokenizer } from '../text/tokenizer.ts';
import type { KvCache } from './cache.ts';
import { forward } from './forward.ts';
import type { LlamaModel } from './llama.ts';
import type { Adapter } from './lora.ts';
import { nextMacrotask } from './macrotask.ts';
import { type SamplingOptions, sampleToken } from './sampler.ts';

export interface GenerateOptions {
  readonly sampling: SamplingOptions;
  /** The most tokens to sample. */
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
  /** The complete characters that this token finishes. */
  readonly text: string;
}

/**
 * Samples until an end token, a stop text, the limit or an abort; yields each token as it comes. The
 * longest prefix of `promptIds` that the cache holds under this adapter is not computed again. An
 * abort ends it within one token, with stop `abort` and what was sampled so far; every other failure
 * throws, and the cache stays usable. Rejects with `limit` when prompt and tokens exceed the context.
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
  const { sampling, maxTokens, stopTexts = [], signal } = options;
  const ids: number[] = [];
  const logprobs: number[] = [];
  const stream = createTextStream(tokenizer);
  let text = '';
  const result = (stop: GenerationStop): Generation => ({
    promptTokens: promptIds.length,
    ids,
    logprobs,
    text,
    stop,
  });
  cache.useAdapter(adapter);
  // The last prompt id is always computed: its logits are wanted.
  cache.keepPrefixOf(promptIds.slice(0, -1));
  let pending = promptIds.slice(cache.length);
  const history = new Set(promptIds);
  while (ids.length < maxTokens) {
    let row: Float32Array;
    try {
      row = await nextLogits(
        model,
        adapter,
        cache,
        pending,
        ids.length === 0 ? options : { signal },
      );
    } catch (thrown) {
      if (isAbort(thrown)) return result('abort');
      throw thrown;
    }
    const { id, logprob } = sampleToken(row, history, sampling, rng);
    ids.push(id);
    logprobs.push(logprob);
    history.add(id);
    const ended = tokenizer.eosIds.has(id);
    const fresh = ended || tokenizer.size === 0 ? '' : stream.push(id);
    text += fresh;
    yield { id, logprob, text: fresh };
    if (ended) return result('eos');
    const cut = firstStop(text, stopTexts);
    if (cut !== null) {
      text = text.slice(0, cut);
      return result('stop');
    }
    pending = [id];
    await nextMacrotask();
    if (signal?.aborted) return result('abort');
  }
  text += stream.end();
  return result('length');
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
  if (logits === null)
    throw new RangeError('The prompt is empty; a generation needs one id or more.');
  try {
    return await logits.data<'float32'>();
  } finally {
    logits.dispose();
  }
}

/** Where the earliest stop text begins; null when there is none. */
function firstStop(text: string, stopTexts: readonly string[]): number | null {
  const found = stopTexts.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
  return found.length === 0 ? null : Math.min(...found);
}
