/**
 * Where a text is cut before byte-pair merging, by the file's `tokenizer.ggml.pre`. Rules as in
 * llama.cpp's src/llama-vocab.cpp and the tokenizer.json files that they stand for.
 */

/** A rule: expressions applied one after another, each cutting the pieces of the one before. */
export interface PreTokenizer {
  readonly expressions: readonly RegExp[];
  /** A piece that is a token as it stands is taken whole, whatever the merges say. */
  readonly ignoreMerges: boolean;
  /** False when the file names no rule, or one that this program does not know. */
  readonly known: boolean;
}

const GPT2 = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`;
const CONTRACTIONS = `'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]`;
const SPACES = String.raw`\s*[\r\n]+|\s+(?!\S)|\s+`;
const LLAMA3 = String.raw`${CONTRACTIONS}|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|${SPACES}`;
const QWEN2 = String.raw`${CONTRACTIONS}|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|${SPACES}`;
const QWEN35 = String.raw`${CONTRACTIONS}|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|${SPACES}`;

/** What llama.cpp does for files of before the key existed. */
const DEFAULT = [String.raw`[\p{P}\$\+<=>\^~\|]+`, GPT2, String.raw`\p{N}+`, '[0-9][0-9][0-9]'];

const RULES: Readonly<Record<string, readonly string[]>> = {
  default: DEFAULT,
  'gpt-2': [GPT2],
  'phi-2': [GPT2],
  mpt: [GPT2],
  olmo: [GPT2],
  jais: [GPT2],
  'roberta-bpe': [GPT2],
  smollm: [String.raw`\p{N}`, GPT2],
  starcoder: [String.raw`\p{N}`, GPT2],
  refact: [String.raw`\p{N}`, GPT2],
  'command-r': [String.raw`\p{N}`, GPT2],
  codeshell: [String.raw`\p{N}`, GPT2],
  exaone: [String.raw`\p{N}`, GPT2],
  'minerva-7b': [String.raw`\p{N}`, GPT2],
  'llama-bpe': [LLAMA3],
  llama3: [LLAMA3],
  'llama-v3': [LLAMA3],
  falcon3: [LLAMA3],
  pixtral: [LLAMA3],
  dbrx: [LLAMA3],
  'smaug-bpe': [LLAMA3],
  qwen2: [QWEN2],
  stablelm2: [QWEN2],
  'deepseek-r1-qwen': [QWEN2],
  megrez: [QWEN2],
  hunyuan: [QWEN2],
  qwen35: [QWEN35],
};

const IGNORE_MERGES = new Set(['llama-bpe', 'llama3', 'llama-v3', 'falcon3', 'pixtral']);

/** The rule of a `tokenizer.ggml.pre` value; the default rule, marked unknown, for any other. */
export function preTokenizer(pre: string): PreTokenizer {
  const known = Object.hasOwn(RULES, pre);
  const sources = (known ? RULES[pre] : undefined) ?? DEFAULT;
  return { expressions: sources.map(compile), ignoreMerges: IGNORE_MERGES.has(pre), known };
}

/** The names that {@link preTokenizer} knows, for messages. */
export const PRE_TOKENIZER_NAMES: readonly string[] = Object.keys(RULES);

/** Cuts `text` into pieces that, joined, give it back. */
export function splitWords(text: string, rule: PreTokenizer): string[] {
  return rule.expressions.reduce(
    (pieces, expression) => pieces.flatMap((piece) => cut(piece, expression)),
    text === '' ? [] : [text],
  );
}

/** The matches and what lies between them. */
function cut(text: string, expression: RegExp): string[] {
  const pieces: string[] = [];
  let end = 0;
  for (const match of text.matchAll(expression)) {
    if (match.index > end) pieces.push(text.slice(end, match.index));
    pieces.push(match[0]);
    end = match.index + match[0].length;
  }
  if (end < text.length) pieces.push(text.slice(end));
  return pieces;
}

/**
 * JavaScript's `\s` is not Unicode's White_Space, which the rules mean: it has U+FEFF and lacks
 * U+0085.
 */
function compile(source: string): RegExp {
  const unicode = source
    .replaceAll('\\s', '\\p{White_Space}')
    .replaceAll('\\S', '\\P{White_Space}');
  return new RegExp(unicode, 'gu');
}
