/** The acting face of the engine: one conversation of one model under one adapter, behind the Policy port. */

import type { Settings } from '../config.ts';
import type { Rng } from '../math/rng.ts';
import type { FollowingIds, Policy } from '../ports.ts';
import type { ChatMessage, Generation } from '../records.ts';
import { finish } from '../sequences.ts';
import { continueChat, encodeChat } from '../text/chat.ts';
import type { Tokenizer } from '../text/tokenizer.ts';
import { cacheFor, type KvCache } from './cache.ts';
import { generate } from './generate.ts';
import type { LlamaModel } from './llama.ts';
import type { Adapter } from './lora.ts';

/** Owns the conversation's cache, also one that it is given; borrows model, tokenizer and adapter. */
export class LlamaPolicy implements Policy {
  readonly contextLength: number;
  readonly #model: LlamaModel;
  readonly #tokenizer: Tokenizer;
  readonly #template: string;
  readonly #adapter: Adapter | null;
  readonly #cache: KvCache;
  #opening: readonly ChatMessage[] = [];

  constructor(
    model: LlamaModel,
    tokenizer: Tokenizer,
    template: string,
    adapter: Adapter | null,
    cache: KvCache = cacheFor(model),
  ) {
    this.#model = model;
    this.#tokenizer = tokenizer;
    this.#template = template;
    this.#adapter = adapter;
    this.#cache = cache;
    this.contextLength = model.config.contextLength;
  }

  begin(messages: readonly ChatMessage[]): readonly number[] {
    this.#opening = messages;
    const options = { addGenerationPrompt: true };
    return encodeChat(this.#tokenizer, this.#template, messages, options).ids;
  }

  follow(generation: Generation, message: ChatMessage): FollowingIds {
    // The opening stands for the whole conversation: what follows a turn does not depend on it.
    const { ids, span } = continueChat(
      this.#tokenizer,
      this.#template,
      this.#opening,
      generation.ids,
      message,
    );
    return { ids, content: span ? [span.start, span.end] : [0, 0] };
  }

  async generate(
    promptIds: readonly number[],
    settings: Settings,
    maxTokens: number,
    rng: Rng,
    signal: AbortSignal,
    onToken: (id: number, piece: string) => void,
  ): Promise<Generation> {
    const tokens = generate(
      this.#model,
      this.#tokenizer,
      this.#adapter,
      this.#cache,
      promptIds,
      rng,
      {
        sampling: {
          temperature: settings.temperature,
          topK: settings.top_k,
          topP: settings.top_p,
          repetitionPenalty: settings.repetition_penalty,
        },
        maxTokens,
        signal,
      },
    );
    return finish(tokens, ({ id, text }) => onToken(id, text));
  }

  dispose(): void {
    this.#cache.dispose();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}
