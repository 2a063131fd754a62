/** Byte-level BPE, GPT-2's kind of vocabulary: text to ids by merges, and a token's own bytes. */

import { BPE } from '@huggingface/tokenizers';
import { LabError } from '../errors.ts';
import { CHAR_TO_BYTE, fromByteText, toByteText } from './byte-alphabet.ts';
import { PRE_TOKENIZER_NAMES, preTokenizer, splitWords } from './pretokenize.ts';
import { lazy, type VocabularyKeys, type VocabularyKind } from './vocabulary.ts';

/** Stands in the merged words for a byte that the vocabulary lacks; in no vocabulary itself. */
const MISSING = '\u{10FFFF}missing';

export function bytePairs({ tokens, merges, pre }: VocabularyKeys): VocabularyKind {
  const rule = preTokenizer(pre ?? 'default');
  const model = lazy(
    () =>
      new BPE({
        type: 'BPE',
        vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
        merges: merges.flatMap(mergePair),
        unk_token: MISSING,
        ignore_merges: rule.ignoreMerges,
      }),
  );
  return {
    warnings: pre !== null && rule.known ? [] : [unknownRule(pre)],
    // Absent, it means yes for Llama 3's vocabularies only (llama.cpp).
    startsByDefault: rule.ignoreMerges,
    spacePrefix: false,
    bytes: fromByteText,
    encode(text) {
      const words = splitWords(text, rule).map(toByteText);
      const { tokens_to_ids } = model();
      const out: number[] = [];
      for (const token of model().encode(words)) {
        const id = tokens_to_ids.get(token);
        if (id !== undefined) out.push(id);
        else checkMissing(words, tokens_to_ids);
      }
      return out;
    },
  };
}

function unknownRule(pre: string | null): string {
  const found =
    pre === null
      ? 'The model file does not say by which rule its tokenizer splits text (tokenizer.ggml.pre)'
      : `The model file splits text by the rule "${pre}", which is unknown here`;
  return (
    `${found}; the default rule is used, and token ids may differ from those it was trained with. ` +
    `Known are ${PRE_TOKENIZER_NAMES.join(', ')}.`
  );
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
