import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { tokenizerHash } from './tokenizer-hash.ts';

const metadata = {
  'tokenizer.ggml.tokens': ['a', 'ü'],
  'general.name': 'one',
  'tokenizer.chat_template': '{{ x }}',
};

test('the hash is that of the tokenizer keys alone, whatever their order in the file', async () => {
  const text = '[["tokenizer.chat_template","{{ x }}"],["tokenizer.ggml.tokens",["a","ü"]]]'; // written by hand
  const expected = createHash('sha256').update(text, 'utf8').digest('hex');
  expect(await tokenizerHash(metadata)).toBe(expected);
  const turned = Object.fromEntries(
    Object.entries({ ...metadata, 'general.name': 'two' }).reverse(),
  );
  expect(await tokenizerHash(turned)).toBe(expected);
});

test('one token more is another tokenizer', async () => {
  const more = { ...metadata, 'tokenizer.ggml.tokens': ['a', 'ü', 'b'] };
  expect(await tokenizerHash(more)).not.toBe(await tokenizerHash(metadata));
});
