import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
// Hugging Face tokenizers' own splits (scripts/make-text-fixtures.py).
import splits from '../../e2e/fixtures/engine/pretokenize.json' with { type: 'json' };
import { PRE_TOKENIZER_NAMES, preTokenizer, splitWords } from './pretokenize.ts';

describe.each(['smollm', 'gpt-2', 'llama-bpe', 'qwen2'] as const)('%s', (pre) => {
  test.each(splits[pre])('cuts $text as Hugging Face does', ({ text, pieces }) => {
    expect(splitWords(text, preTokenizer(pre))).toEqual(pieces);
  });
});

test('every rule loses nothing, whatever the text', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...PRE_TOKENIZER_NAMES),
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.string({ unit: fc.constantFrom(' ', '\n', "'s", '7', 'é', '\u0085') }),
      ),
      (pre, text) => {
        expect(splitWords(text, preTokenizer(pre)).join('')).toBe(text);
      },
    ),
  );
});

test('an unknown rule is marked so', () => {
  expect(preTokenizer('smollm').known).toBe(true);
  expect(preTokenizer('no-such-rule').known).toBe(false);
  expect(preTokenizer('toString').known).toBe(false);
});
