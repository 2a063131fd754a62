import { readFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, expect, test } from 'vitest';
import { readGguf } from '../formats/gguf.ts';
import { bytesSource } from '../formats/source.ts';
import type { AdapterData } from '../records.ts';
import { createTokenizer, type Tokenizer } from '../text/tokenizer.ts';
import { scaleAdapter } from './adapter-algebra.ts';
import { openAdapter } from './adapter-file.ts';
import { compareSides } from './compare.ts';
import { openBackend } from './device.ts';
import { type LlamaModel, loadLlama } from './llama.ts';
import { nodeWasmPaths } from './wasm-paths-node.ts';

const source = (path: string) => bytesSource(new Uint8Array(readFileSync(path)), path);
const prompt = [3, 7, 11, 2, 30];
const options = { maxTokens: 6, temperature: 0, seed: 1 };

let model: LlamaModel;
let tokenizer: Tokenizer;
let rslora: AdapterData;
let patterns: AdapterData;

beforeAll(async () => {
  await openBackend('wasm', { wasmPaths: nodeWasmPaths(import.meta.url) });
  const tiny = source('e2e/fixtures/engine/tiny.gguf');
  const gguf = await readGguf(tiny);
  model = await loadLlama(gguf, tiny);
  tokenizer = createTokenizer(gguf.metadata);
  const open = (name: string) =>
    openAdapter([source(`e2e/fixtures/adapters/${name}`)], model.config);
  rslora = await open('tiny_lora_rslora.gguf');
  patterns = await open('patterns.gguf');
});

/** log softmax of PEFT's own logits after the prompt, at one id. */
function reference(path: string, id: number): number {
  const { logits } = JSON.parse(readFileSync(`e2e/fixtures/adapters/${path}`, 'utf8'));
  const row: number[] = logits.at(-1);
  return (row[id] ?? NaN) - Math.log(row.reduce((sum, value) => sum + Math.exp(value), 0));
}

test("the first token's log-probabilities under each adapter are those of PEFT's logits", async () => {
  const sides = [
    { label: 'rslora', adapter: rslora },
    { label: 'patterns', adapter: patterns },
  ];
  const texts = await compareSides(model, tokenizer, prompt, sides, options);
  expect(texts.map(({ label }) => label)).toEqual(['rslora', 'patterns']);
  expect(texts[0]?.tokens[0]?.id).toBe(44); // top-1 of the expected logits (B19)
  for (const { tokens } of texts) {
    const [first] = tokens;
    const id = first?.id ?? -1;
    expect(first?.logprobs[0]).toBeCloseTo(reference('rslora_expected.json', id), 3);
    expect(first?.logprobs[1]).toBeCloseTo(reference('patterns/expected.json', id), 3);
  }
});

test('each side writes what it writes alone: no adapter leaks into another request', async () => {
  const base = { label: 'base', adapter: null };
  const one = { label: 'one', adapter: rslora };
  const two = { label: 'two', adapter: patterns };
  const half = { label: 'half', adapter: scaleAdapter(rslora, 0.5) };
  const alone: unknown[] = [];
  for (const side of [base, one, two, half]) {
    const [text] = await compareSides(model, tokenizer, prompt, [side], options);
    alone.push(text?.tokens.map(({ id, logprobs }) => [id, logprobs[0]]));
  }
  const together = [one, base, half, two, base, one];
  const texts = await compareSides(model, tokenizer, prompt, together, options);
  texts.forEach(({ label, tokens }, i) => {
    const expected = alone[['base', 'one', 'two', 'half'].indexOf(label)];
    expect(tokens.map(({ id, logprobs }) => [id, logprobs[i]])).toEqual(expected);
  });
  expect(alone[0]).not.toEqual(alone[1]);
  expect(alone[1]).not.toEqual(alone[3]);
});

test('strength 0 is the base, bit for bit, and totals are the sums of their tokens', async () => {
  const sides = [
    { label: 'off', adapter: null },
    { label: 'silent', adapter: scaleAdapter(rslora, 0) },
    { label: 'on', adapter: rslora },
  ];
  const texts = await compareSides(model, tokenizer, prompt, sides, options);
  for (const { tokens, total } of texts) {
    expect(total[0]).toBe(total[1]);
    for (const s of [0, 1, 2]) {
      expect(total[s]).toBeCloseTo(
        tokens.reduce((sum, t) => sum + (t.logprobs[s] ?? NaN), 0),
        12,
      );
    }
  }
  expect(texts[2]?.total[2]).not.toBe(texts[2]?.total[0]);
});

test('comparing leaves no tensor behind, also when it is stopped', async () => {
  const sides = [
    { label: 'off', adapter: null },
    { label: 'on', adapter: rslora },
  ];
  await compareSides(model, tokenizer, prompt, sides, options);
  const before = tf.memory().numTensors;
  await compareSides(model, tokenizer, prompt, sides, options);
  const stop = new AbortController();
  const stopped = compareSides(model, tokenizer, prompt, sides, {
    ...options,
    signal: stop.signal,
    onProgress: (done) => done === 1 && stop.abort(),
  });
  await expect(stopped).rejects.toMatchObject({ code: 'aborted' });
  expect(tf.memory().numTensors).toBe(before);
});
