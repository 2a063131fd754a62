/** Text to token ids and back, from a GGUF's own vocabulary; knows nothing of chat templates. */

import { LabError } from '../errors.ts';
import type { GgufMetadata } from '../formats/gguf.ts';
import { bytePairs } from './byte-pairs.ts';
import { sentencePiece } from './sentencepiece.ts';
import {
  idAt,
  lazy,
  type VocabularyKeys,
  type VocabularyKind,
  vocabularyKeys,
} from './vocabulary.ts';

export interface EncodeOptions {
  /** True: control text such as `<|im_end|>` is the control token. False: it is plain text. */
  readonly special: boolean;
  /** Begin with the start token where the file asks for one (`add_bos_token`). Default false. */
  readonly bos?: boolean;
  /** The text follows other plain text: no space is put before it. Default false. */
  readonly continues?: boolean;
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
  /**
   * Control tokens included; bytes that are no UTF-8 become U+FFFD. The space that some vocabularies
   * put before a text is taken off again.
   */
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

/** By GGUF's `tokenizer.ggml.model`. */
const KINDS: Readonly<Record<string, (keys: VocabularyKeys) => VocabularyKind>> = {
  gpt2: bytePairs,
  llama: sentencePiece,
};

/**
 * The tokenizer of a GGUF file. Never throws: a file whose vocabulary is missing or of an unknown
 * kind still gives end tokens, and says what is wrong when text is first encoded or decoded.
 */
export function createTokenizer(metadata: GgufMetadata): Tokenizer {
  const keys = vocabularyKeys(metadata);
  const { tokens, types } = keys;
  const ids = new Map(tokens.map((token, id) => [token, id]));
  const fault = faultOf(keys);
  const kind = fault === null ? KINDS[keys.model ?? '']?.(keys) : undefined;
  const bosId = idAt(metadata, 'bos_token_id', tokens.length);
  const isControl = (id: number) => types[id] === CONTROL;
  const asked = metadata['tokenizer.ggml.add_bos_token'];
  const starts = typeof asked === 'boolean' ? asked : (kind?.startsByDefault ?? false);
  const addBos = bosId !== null && starts;

  const userDefined = lazy(() => tokenExpression(tokens, types, [USER_DEFINED]));
  const whole = lazy(() => tokenExpression(tokens, types, [USER_DEFINED, CONTROL]));
  const control = lazy(() => tokenExpression(tokens, types, [CONTROL]));
  const beginnings = lazy(() => properPrefixes(tokens.filter((_, id) => isControl(id))));
  const usable = (): VocabularyKind => {
    if (kind !== undefined) return kind;
    throw new LabError('unsupported', fault ?? 'The vocabulary cannot be read.');
  };
  const pieces: (Uint8Array | undefined)[] = [];
  const bytes = (id: number): Uint8Array => {
    const { bytes: ordinary } = usable();
    const known = pieces[id];
    if (known !== undefined) return known;
    const token = tokens[id];
    if (token === undefined) {
      throw new LabError(
        'bad_input',
        `There is no token ${id}; ids go from 0 to ${tokens.length - 1}.`,
        { id, size: tokens.length },
      );
    }
    const made = tokenBytes(token, types[id], ordinary);
    pieces[id] = made;
    return made;
  };
  const join = (list: readonly number[]): string => {
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
    warnings: kind?.warnings ?? [fault ?? ''],
    encode(input, { special, bos = false, continues = false }) {
      const { encode } = usable();
      const out = bos && addBos && bosId !== null ? [bosId] : [];
      let follows = continues;
      for (const section of cutSections(input, special ? whole() : userDefined(), ids)) {
        if (section.id !== null) out.push(section.id);
        else for (const id of encode(section.text, follows)) out.push(id);
        follows = section.id === null;
      }
      return out;
    },
    decode(list) {
      const all = join(list);
      const [first = -1] = list;
      const prefixed = usable().spacePrefix && types[first] !== CONTROL && all.startsWith(' ');
      return prefixed ? all.slice(1) : all;
    },
    piece: (id) => join([id]),
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

function faultOf({ model, tokens }: VocabularyKeys): string | null {
  if (tokens.length === 0) {
    return 'The model file holds no vocabulary (tokenizer.ggml.tokens), so text cannot be encoded. Use token ids, or a file with a tokenizer.';
  }
  if (Object.hasOwn(KINDS, model ?? '')) return null;
  return `The model file's tokenizer is of the kind ${JSON.stringify(model)}; supported are "gpt2" (byte-level BPE) and "llama" (SentencePiece). Use token ids, or a model with such a tokenizer.`;
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

function tokenBytes(
  token: string,
  type: number | undefined,
  ordinary: VocabularyKind['bytes'],
): Uint8Array {
  if (type === CONTROL || type === USER_DEFINED) return new TextEncoder().encode(token);
  const byte = type === BYTE ? /^<0x([0-9A-Fa-f]{2})>$/.exec(token) : null;
  return byte === null ? ordinary(token) : Uint8Array.of(Number.parseInt(byte[1] ?? '', 16));
}
