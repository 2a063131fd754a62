/** Puts a chat completion together from its parts, and notices when one is missing. */

import { LabError } from '../errors.ts';
import type { Json } from '../records.ts';

/** One sampled token as the server names it. */
export interface ServedToken {
  readonly bytes: Uint8Array;
  /** ln p under the server's own reading; llama.cpp and vLLM give the raw logits' unless told otherwise. */
  readonly logprob: number;
}

export interface Completion {
  readonly text: string;
  /** Empty where the server gives no log-probabilities. */
  readonly tokens: readonly ServedToken[];
  readonly stop: 'eos' | 'length';
  /** null where the server does not count. */
  readonly promptTokens: number | null;
}

type Table = { readonly [key: string]: Json };

/** Takes the parts of one answer in order. */
export class CompletionReader {
  readonly #onText: (text: string) => void;
  readonly #tokens: ServedToken[] = [];
  #text = '';
  #chose = false;
  #finish: string | null = null;
  #promptTokens: number | null = null;

  constructor(onText: (text: string) => void) {
    this.#onText = onText;
  }

  /** One event's data, or a whole answer. Throws `network` for what is no JSON, or the server's error. */
  take(data: string): void {
    const part = tableOf(parse(data));
    const error = part.error;
    if (error !== undefined && error !== null) {
      const message = tableOf(error).message ?? error;
      throw new LabError(
        'network',
        `The server broke off: ${JSON.stringify(message).slice(0, 300)}.`,
      );
    }
    const counted = tableOf(part.usage).prompt_tokens;
    if (typeof counted === 'number') this.#promptTokens = counted;
    // A part without choices carries counts only.
    const choice = Array.isArray(part.choices) ? part.choices[0] : undefined;
    if (choice === undefined) return;
    this.#chose = true;
    const { delta, message, logprobs, finish_reason: finish } = tableOf(choice);
    const { content } = tableOf(delta ?? message);
    if (typeof content === 'string' && content !== '') {
      this.#text += content;
      this.#onText(content);
    }
    const list = tableOf(logprobs).content;
    for (const entry of Array.isArray(list) ? list : []) this.#tokens.push(tokenOf(entry));
    if (typeof finish === 'string') this.#finish = finish;
  }

  /** Throws `network` when the answer is not whole. */
  finish(): Completion {
    if (!this.#chose) {
      throw new LabError(
        'network',
        'The server answered without any choice. Check that the model supports chat completions.',
      );
    }
    if (this.#finish === null) throw this.cut('no finish_reason came');
    if (this.#finish !== 'stop' && this.#finish !== 'length') {
      throw new LabError(
        'network',
        `The server ended the answer with "${this.#finish}"; expected "stop" or "length". Turn off tools and filters.`,
      );
    }
    return {
      text: this.#text,
      tokens: this.#tokens,
      stop: this.#finish === 'length' ? 'length' : 'eos',
      promptTokens: this.#promptTokens,
    };
  }

  /** The error of an answer that ended too early. */
  cut(why: string): LabError {
    return new LabError(
      'network',
      `The answer was cut after ${this.#text.length} characters (${why}). Nothing of it was used; run again.`,
      { characters: this.#text.length },
    );
  }
}

function parse(data: string): Json {
  try {
    return JSON.parse(data) as Json; // what JSON.parse gives is Json by definition
  } catch {
    throw new LabError(
      'network',
      `The server sent ${JSON.stringify(data.slice(0, 80))}, which is no JSON. Check that the address is an OpenAI-compatible server.`,
    );
  }
}

function tableOf(value: Json | undefined): Table {
  const table = typeof value === 'object' && value !== null && !Array.isArray(value);
  return table ? (value as Table) : {}; // the test above says so, arrays being the exception
}

function tokenOf(entry: Json): ServedToken {
  const { token, bytes, logprob } = tableOf(entry);
  const raw = Array.isArray(bytes) ? bytes.filter((byte) => typeof byte === 'number') : null;
  const text = typeof token === 'string' ? token : '';
  return {
    bytes: raw === null ? new TextEncoder().encode(text) : Uint8Array.from(raw),
    // A probability of 0 has no finite logarithm, and some servers write null.
    logprob: typeof logprob === 'number' ? logprob : -Number.MAX_VALUE,
  };
}
