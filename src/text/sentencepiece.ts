/**
 * SentencePiece's BPE vocabularies, GGUF's kind `llama` (Llama 2, Gemma): spaces are written ▁,
 * neighbours merge where the joined text is a token, the highest score first and then the leftmost,
 * and a character that is no token falls back to its bytes (Kudo and Richardson 2018).
 */

import { BPE } from '@huggingface/tokenizers';
import { LabError } from '../errors.ts';
import { lazy, type VocabularyKeys, type VocabularyKind } from './vocabulary.ts';

const SPACE = '▁';
/** Stands for an unknown character where the vocabulary has no token for one; in no vocabulary itself. */
const NONE = '\u{10FFFF}none';

export function sentencePiece({
  tokens,
  scores,
  addSpacePrefix,
  unknownId,
}: VocabularyKeys): VocabularyKind {
  const model = lazy(() => {
    const bpe = new BPE({
      type: 'BPE',
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges: [],
      byte_fallback: true,
      ignore_merges: false,
      unk_token: tokens[unknownId ?? -1] ?? NONE,
    });
    bpe.bpe_ranks = new RanksByScore(tokens, scores);
    return bpe;
  });
  // llama.cpp's default for these vocabularies.
  const spacePrefix = addSpacePrefix ?? true;
  return {
    warnings:
      scores.length === tokens.length
        ? []
        : [
            `The model file has ${scores.length} scores for ${tokens.length} tokens (tokenizer.ggml.scores); token ids may differ from those it was trained with.`,
          ],
    startsByDefault: true,
    spacePrefix,
    bytes: (token) => new TextEncoder().encode(token.replaceAll(SPACE, ' ')),
    encode(text, continues) {
      const prefixed = spacePrefix && !continues ? ` ${text}` : text;
      const { tokens_to_ids } = model();
      return model()
        .encode([prefixed.replaceAll(' ', SPACE)])
        .map((token) => {
          const id = tokens_to_ids.get(token);
          if (id !== undefined) return id;
          throw new LabError(
            'unsupported',
            `The model's vocabulary has neither a token nor bytes for every character of ${JSON.stringify(text.slice(0, 40))}. Use token ids, or a model with a full vocabulary.`,
          );
        });
    },
  };
}

/**
 * What the BPE model asks for each pair of neighbours, answered from the scores: the file has no merge
 * list, and one of all pairs would have a million entries for Gemma.
 */
class RanksByScore extends Map<string, number> {
  readonly #ranks: ReadonlyMap<string, number>;

  constructor(tokens: readonly string[], scores: readonly number[]) {
    super();
    const scoreOf = (id: number) => scores[id] ?? 0;
    const descending = [...new Set(tokens.map((_, id) => scoreOf(id)))].sort((a, b) => b - a);
    const rankOf = new Map(descending.map((score, rank) => [score, rank]));
    this.#ranks = new Map(tokens.map((token, id) => [token, rankOf.get(scoreOf(id)) ?? 0]));
  }

  /** `pair` is the library's key, the JSON of [left, right]. Equal scores share a rank. */
  override get(pair: string): number | undefined {
    const parts: unknown = JSON.parse(pair);
    return Array.isArray(parts) ? this.#ranks.get(parts.join('')) : undefined;
  }
}
