/** What a GGUF's tokenizer keys say, and what a kind of vocabulary can do. Knows no kind. */

import type { GgufMetadata } from '../formats/gguf.ts';

export interface VocabularyKeys {
  /** GGUF's name of the kind, such as `gpt2`; null when the file gives none. */
  readonly model: string | null;
  readonly tokens: readonly string[];
  /** Token types, by id: see tokenizer.ts. */
  readonly types: readonly number[];
  readonly scores: readonly number[];
  readonly merges: readonly string[];
  /** The rule by which text is split first; null when the file gives none. */
  readonly pre: string | null;
  readonly unknownId: number | null;
  /** Null where the file does not say. */
  readonly addSpacePrefix: boolean | null;
}

/** One kind of vocabulary over one file's keys. */
export interface VocabularyKind {
  /** Whole sentences. */
  readonly warnings: readonly string[];
  /** Whether raw text begins with the start token where the file does not say. */
  readonly startsByDefault: boolean;
  /** A space goes before a text that begins, or that follows a whole token. */
  readonly spacePrefix: boolean;
  /** The UTF-8 of an ordinary token. */
  bytes(token: string): Uint8Array;
  /** Text without tokens that are cut out whole. `continues`: it follows other plain text. */
  encode(text: string, continues: boolean): number[];
}

export function vocabularyKeys(metadata: GgufMetadata): VocabularyKeys {
  const value = (key: string) => metadata[`tokenizer.ggml.${key}`];
  const tokens = strings(value('tokens'));
  return {
    model: text(value('model')),
    tokens,
    types: numbers(value('token_type')),
    scores: numbers(value('scores')),
    merges: strings(value('merges')),
    pre: text(value('pre')),
    unknownId: idAt(metadata, 'unknown_token_id', tokens.length),
    addSpacePrefix: flag(value('add_space_prefix')),
  };
}

/** A token id of the metadata, when it is one; files without a vocabulary keep theirs. */
export function idAt(metadata: GgufMetadata, key: string, size: number): number | null {
  const id = metadata[`tokenizer.ggml.${key}`];
  const valid = typeof id === 'number' && Number.isInteger(id) && id >= 0;
  return valid && (size === 0 || id < size) ? id : null;
}

/** `make` is called at the first use. */
export function lazy<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function flag(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null;
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : [];
}

function numbers(value: unknown): readonly number[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'number') ? value : [];
}
