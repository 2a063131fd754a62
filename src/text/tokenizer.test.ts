import { existsSync, openAsBlob, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
// Ids by Hugging Face tokenizers, built from the same file; also agreed by llama.cpp.
import gemmaCases from '../../e2e/fixtures/engine/gemma3_270m_tokens.json' with { type: 'json' };
// Ids by SentencePiece itself (scripts/make-text-fixtures.py).
import sentencePieceCases from '../../e2e/fixtures/engine/sentencepiece.json' with { type: 'json' };
import cases from '../../e2e/fixtures/engine/smollm2_tokens.json' with { type: 'json' };
import { type GgufMetadata, readGguf } from '../formats/gguf.ts';
import { blobSource, bytesSource } from '../formats/source.ts';
import { BYTE_TO_CHAR } from './byte-alphabet.ts';
import { createTextStream, createTokenizer, type Tokenizer } from './tokenizer.ts';

const path = fileURLToPath(
  new URL('../../.cache/models/SmolLM2-135M-Instruct.Q4_1.gguf', import.meta.url),
);

describe.skipIf(!existsSync(path))('SmolLM2 (scripts/fetch-models.mjs smollm2)', () => {
  let metadata: GgufMetadata;
  let tokenizer: Tokenizer;
  beforeAll(async () => {
    metadata = (await readGguf(blobSource(await openAsBlob(path), 'SmolLM2'))).metadata;
    tokenizer = createTokenizer(metadata);
  });

  test.each(cases)('$text (special $special) has the reference ids', ({ text, ids, special }) => {
    expect(tokenizer.encode(text, { special })).toEqual(ids);
    expect(tokenizer.decode(ids)).toBe(text);
  });

  test('all 37 reference texts were there', () => {
    expect(cases.length).toBe(37);
  });

  test('the rule in tokenizer.ggml.pre decides the split (B09)', () => {
    const as = (pre: string) => createTokenizer({ ...metadata, 'tokenizer.ggml.pre': pre });
    const ids = (pre: string, text: string) => as(pre).encode(text, { special: false });
    expect(ids('smollm', 'total:  42')).toEqual([9712, 42, 256, 36, 34]);
    expect(ids('gpt-2', 'total:  42')).toEqual([9712, 42, 216, 216, 36, 34]);
    expect(ids('qwen2', 'total:  42')).toEqual([9712, 42, 216, 216, 36, 34]);
    expect(ids('smollm', 'x\n\n  7')).toEqual([104, 39892, 39]);
    expect(ids('gpt-2', 'x\n\n  7')).toEqual([104, 8866, 216, 39]);
    expect(ids('llama-bpe', 'x\n\n  7')).toEqual([104, 1116, 216, 216, 39]);
    expect(ids('smollm', 'size ½ or ²')).toEqual([2961, 216, 16738, 355, 216, 19133]);
    expect(ids('gpt-2', 'size ½ or ²')).toEqual([2961, 3351, 138, 355, 3351, 127]);
  });

  test('an unknown rule warns by name, a known one does not (B09)', () => {
    expect(tokenizer.warnings).toEqual([]);
    const [warning] = createTokenizer({ ...metadata, 'tokenizer.ggml.pre': 'newest' }).warnings;
    expect(warning).toMatch(/"newest", which is unknown here.*smollm/);
  });

  test('control text in content stays plain text, and decodes to itself (B12)', () => {
    const ids = tokenizer.encode('say <|im_end|> now', { special: false });
    expect(ids).toEqual([22313, 2067, 108, 306, 79, 486, 108, 46, 1209]);
    expect(ids.some(tokenizer.isControl)).toBe(false);
    expect(tokenizer.decode(ids)).toBe('say <|im_end|> now');
  });

  test('a prompt with LF has the reference ids, with CR one id more each (B70)', () => {
    const ids = (text: string) => tokenizer.encode(text, { special: false });
    expect(ids('Go north.\nTake lamp.')).toEqual([6044, 4081, 30, 198, 12653, 17559, 30]);
    expect(ids('Go north.\r\nTake lamp.')).toContain(201);
  });

  test('a text comes back whole, whatever it is, where the vocabulary has its bytes', () => {
    // SmolLM2 lacks these: control characters that no training text had, and planes 4 to 11.
    const absent = (char: string) => {
      const code = char.codePointAt(0) ?? 0;
      return [4, 6, 19, 20, 22, 29].includes(code) || (code >= 0x40000 && code <= 0xbffff);
    };
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (any, special) => {
        const text = [...any].filter((char) => !absent(char)).join('');
        expect(tokenizer.decode(tokenizer.encode(text, { special }))).toBe(text);
      }),
    );
  });

  test('a control character that the vocabulary lacks is left out, as in the reference', () => {
    expect(tokenizer.encode('a\u0004', { special: false })).toEqual([81]);
  });

  test('start and end tokens come from the file', () => {
    expect(tokenizer.bosId).toBe(1);
    expect([...tokenizer.eosIds].toSorted()).toEqual([0, 2]);
    expect(tokenizer.addBos).toBe(false);
    expect(tokenizer.size).toBe(49152);
    expect(tokenizer.idOf('<|im_start|>')).toBe(1);
    expect(tokenizer.piece(2)).toBe('<|im_end|>');
    expect(tokenizer.isControl(2)).toBe(true);
    expect(tokenizer.isControl(44)).toBe(false);
  });

  test('raw text begins with the start token where the file says so (B14)', () => {
    const asking = createTokenizer({ ...metadata, 'tokenizer.ggml.add_bos_token': true });
    expect(asking.encode('a', { special: false, bos: true })).toEqual([1, 81]);
    expect(asking.encode('a', { special: false })).toEqual([81]);
    expect(tokenizer.encode('a', { special: false, bos: true })).toEqual([81]);
  });

  test('streamed ids give the text, only ever in whole characters', () => {
    const text = '日本語 🙂👩‍👩‍👧 naïve — x';
    const ids = tokenizer.encode(text, { special: false });
    const stream = createTextStream(tokenizer);
    const parts = ids.map((id) => stream.push(id));
    expect(parts.join('') + stream.end()).toBe(text);
    expect(parts.some((part) => part.includes('\ufffd'))).toBe(false);
    expect(ids.map((id) => tokenizer.piece(id)).join('')).toContain('\ufffd');
  });

  test('an unfinished character is shown as U+FFFD at the end', () => {
    const [first = 0] = tokenizer.encode('語', { special: false });
    const stream = createTextStream(tokenizer);
    expect(stream.push(first)).toBe('');
    expect(stream.end()).toBe('\ufffd');
    expect(stream.push(81)).toBe('a');
  });

  test('an id outside the vocabulary is refused with the range', () => {
    expect(() => tokenizer.decode([49152])).toThrow(/no token 49152; ids go from 0 to 49151/);
  });
});

/** Every byte is a token, and a few merges, control and user-defined tokens. */
const complete: GgufMetadata = {
  'tokenizer.ggml.model': 'gpt2',
  'tokenizer.ggml.pre': 'qwen2',
  'tokenizer.ggml.tokens': [...BYTE_TO_CHAR, 'Ġa', 'th', 'the', '<|end|>', '<tool>', '<tool>s'],
  'tokenizer.ggml.token_type': [...BYTE_TO_CHAR.map(() => 1), 1, 1, 1, 3, 4, 4],
  'tokenizer.ggml.merges': ['Ġ a', 't h', 'th e', 'bad'],
};

test('byte-level BPE with a full alphabet gives back any text', () => {
  const tokenizer = createTokenizer(complete);
  const words = fc.constantFrom('<|end|>', '<tool>', '<tool>s', ' the a', '\ufeff', '\u0085');
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.string({ unit: 'binary' }), words)),
      fc.boolean(),
      (parts, special) => {
        const text = parts.join('');
        const ids = tokenizer.encode(text, { special });
        expect(tokenizer.decode(ids)).toBe(text);
        if (!special) expect(ids.some(tokenizer.isControl)).toBe(false);
      },
    ),
  );
});

test('user-defined tokens are whole in both modes, the longest first; control ones in one', () => {
  const tokenizer = createTokenizer(complete);
  expect(tokenizer.encode('<tool>s<tool>', { special: false })).toEqual([261, 260]);
  expect(tokenizer.encode('<|end|>', { special: true })).toEqual([259]);
  expect(tokenizer.encode('<|end|>', { special: false }).length).toBe(7);
  expect([...tokenizer.eosIds]).toEqual([259]);
});

test('a word that only looks like an end token ends nothing', () => {
  const tokens = [...BYTE_TO_CHAR, '</s>'];
  const types = tokens.map(() => 1);
  const plain = {
    ...complete,
    'tokenizer.ggml.tokens': tokens,
    'tokenizer.ggml.token_type': types,
  };
  expect([...createTokenizer(plain).eosIds]).toEqual([]);
});

test('a lone surrogate becomes U+FFFD, as in UTF-8', () => {
  const tokenizer = createTokenizer(complete);
  expect(tokenizer.decode(tokenizer.encode('a\ud800b', { special: false }))).toBe('a\ufffdb');
});

test('a file without a usable vocabulary loads, and says so when text is used', async () => {
  const none = createTokenizer({ 'tokenizer.ggml.eos_token_id': 7 });
  expect([...none.eosIds]).toEqual([7]);
  expect(none.warnings[0]).toMatch(/no vocabulary/);
  expect(() => none.encode('a', { special: false })).toThrow(/holds no vocabulary/);
  const other = createTokenizer({ ...complete, 'tokenizer.ggml.model': 'bert' });
  expect(() => other.decode([1])).toThrow(/"bert"; supported are "gpt2"/);
});

test('a letter that the vocabulary lacks is refused by name', async () => {
  const file = readFileSync(new URL('../../e2e/fixtures/engine/tiny.gguf', import.meta.url));
  const { metadata } = await readGguf(bytesSource(new Uint8Array(file), 'tiny.gguf'));
  const tiny = createTokenizer(metadata);
  expect(tiny.size).toBe(48);
  expect([...tiny.eosIds].toSorted()).toEqual([0, 2]);
  expect(tiny.encode('!', { special: false })).toEqual([3]);
  expect(() => tiny.encode('hello', { special: false })).toThrow(/no token for the character "h"/);
});

describe('a SentencePiece vocabulary with a space before each text, as Llama 2 has', () => {
  const { metadata, cases: texts } = sentencePieceCases;
  const tokenizer = createTokenizer(metadata);

  test.each(texts)('$text has the ids of SentencePiece itself, and comes back', ({ text, ids }) => {
    expect(tokenizer.encode(text, { special: false })).toEqual(ids);
    expect(tokenizer.decode(ids)).toBe(text);
  });

  test('the space stands before a text and behind a whole token, not within a text that goes on', () => {
    const [space = 0, ...rest] = tokenizer.encode('q', { special: false });
    expect(tokenizer.piece(space).startsWith(' ')).toBe(true);
    const eos = tokenizer.idOf('</s>') ?? -1;
    expect(tokenizer.encode('</s>q', { special: true })).toEqual([eos, space, ...rest]);
    const going = tokenizer.encode('q', { special: false, continues: true });
    expect(tokenizer.decode([eos, ...going])).toBe('</s>q');
    expect(tokenizer.encode('q', { special: false, bos: true })[0]).toBe(tokenizer.bosId);
  });

  test('bytes that are no token fall back to byte tokens, streamed in whole characters', () => {
    const ids = tokenizer.encode('語🙂', { special: false });
    const stream = createTextStream(tokenizer);
    expect(ids.map((id) => stream.push(id)).join('') + stream.end()).toBe(' 語🙂');
  });

  test('any text comes back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(tokenizer.decode(tokenizer.encode(text, { special: false }))).toBe(text);
      }),
    );
  });
});

const gemma = fileURLToPath(
  new URL('../../.cache/models/gemma-3-270m-q4_k_m.gguf', import.meta.url),
);

describe.skipIf(!existsSync(gemma))('Gemma 3 270M (scripts/fetch-models.mjs gemma3)', () => {
  let tokenizer: Tokenizer;
  beforeAll(async () => {
    const source = blobSource(await openAsBlob(gemma), 'Gemma 3');
    tokenizer = createTokenizer((await readGguf(source)).metadata);
  }, 60_000);

  // Ids by llama.cpp.
  test.each(gemmaCases.strings)('$text has the ids of llama.cpp', ({ text, ids }) => {
    expect(tokenizer.encode(text, { special: false })).toEqual(ids);
    expect(tokenizer.decode(ids)).toBe(text);
  });

  test('raw text begins with the start token, and <eos> ends', () => {
    expect(tokenizer.encode('The capital of France is', { special: false, bos: true })).toEqual([
      2, 818, 5279, 529, 7001, 563,
    ]);
    expect([...tokenizer.eosIds]).toEqual([1, 106]);
    expect(tokenizer.warnings).toEqual([]);
  });
});
