/** Text to token ids and back, from a GGUF's own vocabulary; knows nothing of chat templates. */

import { BPE } from '@huggingface/tokenizers';
import { LabError } from '../errors.ts';
import type { GgufMetadata } from '../formats/gguf.ts';
import { CHAR_TO_BYTE, fromByteText, toByteText } from './byte-alphabet.ts';
import { PRE_TOKENIZER_NAMES, preTokenizer, splitWords } from './pretokenize.ts';

export interface EncodeOptions {
  /** True: control text such as `<|im_end|>` is the control token. False: it is plain text. */
  readonly special: boolean;
  /** Begin with the start token where the file asks for one (`add_bos_token`). Default false. */
  readonly bos?: boolean;
}

export interface Tokenizer {
  /** Number of ids; 0 when the file has no vocabulary. */
  readonly size: number;
  readonly bosId: number | null;
  /** Every id that ends a generation: end of sequence, of turn and of message. */
  readonly eosIds: ReadonlySet<number>;
  /** Whether raw (untemplated) text begins with the start token. */
  readonly addBos: boolean;
  /** What a person should know about this tokenizer before trusting its ids; whole sentences. */
  readonly warnings: readonly string[];
  /** Throws `unsupported` when the file's vocabulary cannot encode this text. */
  encode(text: string, options: EncodeOptions): number[];
  /** Control tokens included; bytes that are no UTF-8 become U+FFFD. */
  decode(ids: readonly number[]): string;
  /** One token's own text, which may be a part of a character (then U+FFFD). */
  piece(id: number): string;
  /** One token's own bytes. */
  bytes(id: number): Uint8Array;
  isControl(id: number): boolean;
  /** The id whose text is exactly `token`, as the vocabulary spells it; null when there is none. */
  idOf(token: string): number | null;
  /** Cuts `text` at every control token in it; `id` is null for what lies between. */
  splitControl(text: string): readonly Section[];
  /** True when `text` ends with the beginning of a control token. */
  endsInControl(text: string): boolean;
}

export interface Section {
  readonly text: string;
  readonly id: number | null;
}

/** Turns ids into text as they come, holding back the bytes of an unfinished character. */
export interface TextStream {
  /** The complete characters that this id finishes. */
  push(id: number): string;
  /** What was held back, as U+FFFD; the stream starts anew. */
  end(): string;
}

/** Token types of GGUF's `tokenizer.ggml.token_type`. */
const CONTROL = 3;
const USER_DEFINED = 4;
const BYTE = 6;

/** Tokens that end a turn in the families that this program runs, whatever the file's keys say. */
const END_TOKENS = [
  '<|im_end|>',
  '<|eot_id|>',
  '<|eom_id|>',
  '<|end|>',
  '<|end_of_text|>',
  '<|endoftext|>',
  '<end_of_turn>',
  '<EOT>',
  '</s>',
];

/**
 * The tokenizer of a GGUF file. Never throws: a file whose vocabulary is missing or of an unknown
 * kind still gives end tokens, and says what is wrong when text is first encoded or decoded.
 */
export function createTokenizer(metadata: GgufMetadata): Tokenizer {
  const tokens = strings(metadata['tokenizer.ggml.tokens']);
  const types = numbers(metadata['tokenizer.ggml.token_type']);
  const ids = new Map(tokens.map((token, id) => [token, id]));
  const model = metadata['tokenizer.ggml.model'] ?? null;
  const pre = text(metadata['tokenizer.ggml.pre']) ?? 'default';
  const rule = preTokenizer(pre);
  const fault = faultOf(model, tokens);
  const warnings = fault === null ? warningsOf(metadata, pre, rule.known) : [fault];
  const bosId = idAt(metadata, 'bos_token_id', tokens.length);
  const isControl = (id: number) => types[id] === CONTROL;
  const asked = metadata['tokenizer.ggml.add_bos_token'];
  // Absent, it means yes for Llama 3's vocabularies only (llama.cpp).
  const addBos = bosId !== null && (typeof asked === 'boolean' ? asked : rule.ignoreMerges);

  const encodePlain = lazy(() => bytePairEncoder(metadata, tokens, rule));
  const userDefined = lazy(() => tokenExpression(tokens, types, [USER_DEFINED]));
  const whole = lazy(() => tokenExpression(tokens, types, [USER_DEFINED, CONTROL]));
  const control = lazy(() => tokenExpression(tokens, types, [CONTROL]));
  const beginnings = lazy(() => properPrefixes(tokens.filter((_, id) => isControl(id))));
  const check = () => {
    if (fault !== null) throw new LabError('unsupported', fault);
  };
  const pieces: (Uint8Array | undefined)[] = [];
  const bytes = (id: number): Uint8Array => {
    check();
    const known = pieces[id];
    if (known !== undefined) return known;
    const token = tokens[id];
    if (token === undefined) {
      throw new LabError(
        'bad_input',
        `There is no token ${id}; ids go from 0 to ${tokens.length - 1}.`,
        {
          id,
          size: tokens.length,
        },
      );
    }
    const made = tokenBytes(token, types[id]);
    pieces[id] = made;
    return made;
  };
  const decode = (list: readonly number[]): string => {
    const decoder = utf8Decoder();
    return (
      list.map((id) => decoder.decode(bytes(id), { stream: true })).join('') + decoder.decode()
    );
  };

  return {
    size: tokens.length,
    bosId,
    eosIds: endIds(metadata, tokens.length, ids, isControl),
    addBos,
    warnings,
    encode(input, { special, bos = false }) {
      check();
      const out = bos && addBos && bosId !== null ? [bosId] : [];
      for (const section of cutSections(input, special ? whole() : userDefined(), ids)) {
        if (section.id !== null) out.push(section.id);
        else for (const id of encodePlain()(section.text)) out.push(id);
      }
      return out;
    },
    decode,
    piece: (id) => decode([id]),
    bytes,
    isControl,
    idOf: (token) => ids.get(token) ?? null,
    splitControl: (input) => cutSections(input, control(), ids),
    endsInControl: (input) => [...beginnings()].some((beginning) => input.endsWith(beginning)),
  };
}

/** A fresh stream over `tokenizer`'s ids. */
export function createTextStream(tokenizer: Tokenizer): TextStream {
  const decoder = utf8Decoder();
  return {
    push: (id) => decoder.decode(tokenizer.bytes(id), { stream: true }),
    end: () => decoder.decode(),
  };
}

/** ignoreBOM: a U+FEFF in the text is a character of the text. */
function utf8Decoder(): TextDecoder {
  return new TextDecoder('utf-8', { ignoreBOM: true });
}

// ---------------------------------------------------------------- what the file says

function faultOf(model: unknown, tokens: readonly string[]): string | null {
  if (tokens.length === 0) {
    return 'The model file holds no vocabulary (tokenizer.ggml.tokens), so text cannot be encoded. Use token ids, or a file with a tokenizer.';
  }
  if (model === 'gpt2') return null;
  return `The model file's tokenizer is of the kind ${JSON.stringify(model)}; supported is "gpt2" (byte-level BPE). Use token ids, or a model with that tokenizer.`;
}

function warningsOf(metadata: GgufMetadata, pre: string, known: boolean): string[] {
  if ('tokenizer.ggml.pre' in metadata && known) return [];
  const found =
    'tokenizer.ggml.pre' in metadata
      ? `The model file splits text by the rule "${pre}", which is unknown here`
      : 'The model file does not say by which rule its tokenizer splits text (tokenizer.ggml.pre)';
  return [
    `${found}; the default rule is used, and token ids may differ from those it was trained with. ` +
      `Known are ${PRE_TOKENIZER_NAMES.join(', ')}.`,
  ];
}

function endIds(
  metadata: GgufMetadata,
  size: number,
  ids: ReadonlyMap<string, number>,
  isControl: (id: number) => boolean,
): ReadonlySet<number> {
  const named = ['eos_token_id', 'eot_token_id', 'eom_token_id'].map((key) =>
    idAt(metadata, key, size),
  );
  const spelled = END_TOKENS.map((token) => ids.get(token) ?? null).filter(
    (id) => id !== null && isControl(id),
  );
  return new Set([...named, ...spelled].filter((id) => id !== null));
}

/** A token id of the metadata, when it is one; files without a vocabulary keep theirs. */
function idAt(metadata: GgufMetadata, key: string, size: number): number | null {
  const id = metadata[`tokenizer.ggml.${key}`];
  const valid = typeof id === 'number' && Number.isInteger(id) && id >= 0;
  return valid && (size === 0 || id < size) ? id : null;
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : [];
}

function numbers(value: unknown): readonly number[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'number') ? value : [];
}

// ---------------------------------------------------------------- tokens that are cut out whole

/** Matches any token of the given types, the longest first; null when there is none. */
function tokenExpression(
  tokens: readonly string[],
  types: readonly number[],
  wanted: readonly number[],
): RegExp | null {
  const chosen = tokens.filter((token, id) => token !== '' && wanted.includes(types[id] ?? 0));
  if (chosen.length === 0) return null;
  const sorted = chosen.toSorted((a, b) => b.length - a.length);
  return new RegExp(sorted.map((t) => t.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'), 'gu');
}

function cutSections(
  input: string,
  expression: RegExp | null,
  ids: ReadonlyMap<string, number>,
): Section[] {
  const sections: Section[] = [];
  let end = 0;
  for (const match of expression === null ? [] : input.matchAll(expression)) {
    if (match.index > end) sections.push({ text: input.slice(end, match.index), id: null });
    sections.push({ text: match[0], id: ids.get(match[0]) ?? null });
    end = match.index + match[0].length;
  }
  if (end < input.length) sections.push({ text: input.slice(end), id: null });
  return sections;
}

/** `<|a|>` gives `<`, `<|`, `<|a` and `<|a|`. */
function properPrefixes(tokens: readonly string[]): ReadonlySet<string> {
  return new Set(
    tokens
      .flatMap((token) => Array.from({ length: token.length }, (_, i) => token.slice(0, i)))
      .filter((prefix) => prefix !== ''),
  );
}

function tokenBytes(token: string, type: number | undefined): Uint8Array {
  if (type === CONTROL || type === USER_DEFINED) return new TextEncoder().encode(token);
  const byte = type === BYTE ? /^<0x([0-9A-Fa-f]{2})>$/.exec(token) : null;
  return byte === null ? fromByteText(token) : Uint8Array.of(Number.parseInt(byte[1] ?? '', 16));
}

// ---------------------------------------------------------------- byte-level BPE

/** Stands in the merged words for a byte that the vocabulary lacks; in no vocabulary itself. */
const MISSING = '\u{10FFFF}missing';

/** Encodes text without control tokens. */
function bytePairEncoder(
  metadata: GgufMetadata,
  tokens: readonly string[],
  rule: ReturnType<typeof preTokenizer>,
): (input: string) => number[] {
  const bpe = new BPE({
    type: 'BPE',
    vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
    merges: strings(metadata['tokenizer.ggml.merges']).flatMap(mergePair),
    unk_token: MISSING,
    ignore_merges: rule.ignoreMerges,
  });
  return (input) => {
    const words = splitWords(input, rule).map(toByteText);
    const out: number[] = [];
    for (const token of bpe.encode(words)) {
      const id = bpe.tokens_to_ids.get(token);
      if (id !== undefined) out.push(id);
      else checkMissing(words, bpe.tokens_to_ids);
    }
    return out;
  };
}

function mergePair(merge: string): [string, string][] {
  const space = merge.indexOf(' ');
  return space === -1 ? [] : [[merge.slice(0, space), merge.slice(space + 1)]];
}

/**
 * Some real vocabularies lack bytes that no training text had (SmolLM2: U+0004, U+0013, the lead
 * bytes F1 and F2, …). Like Hugging Face's and llama.cpp's tokenizers we leave those out; a missing
 * printable character means that the vocabulary is not one for text.
 */
function checkMissing(words: readonly string[], ids: ReadonlyMap<string, number>): void {
  for (const char of words.join('')) {
    const byte = CHAR_TO_BYTE.get(char) ?? 0;
    const printable = byte === 9 || byte === 10 || byte === 13 || (byte >= 0x20 && byte <= 0x7e);
    if (!printable || ids.has(char)) continue;
    throw new LabError(
      'unsupported',
      `The model's vocabulary has no token for the character ${JSON.stringify(String.fromCharCode(byte))}, ` +
        'so this text cannot be encoded. Use token ids, or a model with a full vocabulary.',
      { byte },
    );
  }
}

/** `make` is called at the first use. */
function lazy<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
