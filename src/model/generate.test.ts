import { readFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readGguf } from '../formats/gguf.ts';
import { bytesSource } from '../formats/source.ts';
import { deriveRng } from '../math/rng.ts';
import type { Generation } from '../records.ts';
import { finish } from '../sequences.ts';
import { createTokenizer, type Tokenizer } from '../text/tokenizer.ts';
import { cacheFor, type KvCache } from './cache.ts';
import { openBackend } from './device.ts';
import { forward } from './forward.ts';
import { type GenerateOptions, generate, type TokenStep } from './generate.ts';
import { type LlamaModel, loadLlama } from './llama.ts';
import { projectionShape } from './llama-config.ts';
import { Adapter, freshAdapter } from './lora.ts';
import { argmax, GREEDY } from './sampler.ts';
import { nodeWasmPaths } from './wasm-paths-node.ts';

let model: LlamaModel;
let tokenizer: Tokenizer;

beforeAll(async () => {
  await openBackend('wasm', { wasmPaths: nodeWasmPaths(import.meta.url) });
  const bytes = readFileSync(new URL('../../e2e/fixtures/engine/tiny.gguf', import.meta.url));
  const source = bytesSource(new Uint8Array(bytes), 'tiny.gguf');
  const gguf = await readGguf(source);
  model = await loadLlama(gguf, source);
  tokenizer = createTokenizer(gguf.metadata);
});
afterAll(() => model.dispose());

const PROMPT = [3, 7, 11, 30];

interface Told {
  readonly result: Generation;
  readonly steps: readonly TokenStep[];
}

async function tell(
  cache: KvCache,
  prompt: readonly number[],
  options: Partial<GenerateOptions> = {},
  adapter: Adapter | null = null,
  seed = 1,
): Promise<Told> {
  const full = { sampling: GREEDY, maxTokens: 12, ...options };
  const work = generate(model, tokenizer, adapter, cache, prompt, deriveRng(seed, 's'), full);
  const steps: TokenStep[] = [];
  for (;;) {
    const { value, done } = await work.next();
    if (done === true) return { result: value, steps };
    steps.push(value);
  }
}

/** Greedy ids by one full forward pass a token, without a cache. */
async function greedyWithoutCache(prompt: readonly number[], tokens: number): Promise<number[]> {
  const ids = [...prompt];
  for (let i = 0; i < tokens; i++) {
    using cache = cacheFor(model);
    const logits = await forward(model, null, cache, ids, { logits: 'last' });
    if (logits === null) throw new Error('no logits');
    ids.push(argmax(await logits.data<'float32'>()));
    logits.dispose();
    if (tokenizer.eosIds.has(ids.at(-1) ?? -1)) break;
  }
  return ids.slice(prompt.length);
}

describe('a generation', () => {
  it('by cache gives the greedy ids of whole forward passes', async () => {
    using cache = cacheFor(model);
    const { result, steps } = await tell(cache, PROMPT);
    expect(result.ids).toEqual(await greedyWithoutCache(PROMPT, 12));
    expect(steps.map(({ id }) => id)).toEqual(result.ids);
    expect(steps.map(({ text }) => text).join('')).toBe(result.text);
    expect(result.logprobs.every((value) => value <= 0)).toBe(true);
    expect(result.promptTokens).toBe(PROMPT.length);
  });

  it('computes only what the cache does not hold, to the same bits', async () => {
    using cache = cacheFor(model);
    const first = await tell(cache, PROMPT, { maxTokens: 5 });
    const next = [...PROMPT, ...first.result.ids, 9, 14, 8];
    let computed = 0;
    const onPrefill = (_: number, total: number) => {
      computed = total;
    };
    const reused = await tell(cache, next, { onPrefill });
    // The last sampled id was never run, so it is new together with the three that follow.
    expect(computed).toBe(4);
    using empty = cacheFor(model);
    const anew = await tell(empty, next);
    expect(reused.result).toEqual(anew.result);
  });

  it('recomputes the cache after the adapter moved', async () => {
    const start = freshAdapter(
      { rank: 2, alpha: 4, targets: ['v_proj'] },
      model.config.layers,
      (target) => projectionShape(model.config, target),
      deriveRng(3),
    );
    using adapter = new Adapter(start);
    using cache = cacheFor(model);
    await tell(cache, PROMPT, {}, adapter);
    const moved = start.modules.map((module) => ({
      ...module,
      bT: module.bT.map((_, i) => Math.sin(i)),
    }));
    adapter.restore({ modules: moved });
    const after = await tell(cache, PROMPT, {}, adapter);
    using empty = cacheFor(model);
    expect(after.result).toEqual((await tell(empty, PROMPT, {}, adapter)).result);
    adapter.restore(start);
    const back = await tell(cache, PROMPT, {}, adapter);
    expect(back.result.logprobs).toEqual((await tell(cache, PROMPT)).result.logprobs);
  });

  it('ends at an end token, which is among its ids but not in its text', async () => {
    const found: Generation[] = [];
    const sampling = { ...GREEDY, temperature: 2 };
    for (let seed = 0; seed < 30 && found.length === 0; seed++) {
      using cache = cacheFor(model);
      const { result } = await tell(cache, PROMPT, { sampling, maxTokens: 40 }, null, seed);
      if (result.stop === 'eos') found.push(result);
    }
    const [ended] = found;
    expect(tokenizer.eosIds.has(ended?.ids.at(-1) ?? -1)).toBe(true);
    expect(ended?.text).toBe(tokenizer.decode(ended?.ids.slice(0, -1) ?? []));
  });

  it('holds a stop text back over token borders and keeps it out of the text', async () => {
    using cache = cacheFor(model);
    const sampling = { ...GREEDY, temperature: 1 };
    const told = (stopTexts: string[]) => tell(cache, PROMPT, { sampling, stopTexts }, null, 11);
    const free = (await told([])).result;
    expect(free.ids.length).toBeGreaterThan(5);
    const pieces = free.ids.map((id) => tokenizer.piece(id));
    const stop = `${pieces[3]}${pieces[4]}`;
    const { result, steps } = await told([stop, '']);
    expect(result.stop).toBe('stop');
    expect(result.text).toBe(free.text.slice(0, free.text.indexOf(stop)));
    expect(steps.map(({ text }) => text).join('')).toBe(result.text);
    expect(result.ids).toEqual(free.ids.slice(0, result.ids.length));
    // A stop text that does not come leaves the text whole, the held-back end included.
    const never = await told([`${pieces[2]}~never~`, `${pieces.at(-1)}~never~`]);
    expect(never.result).toEqual(free);
    expect(never.steps.map(({ text }) => text).join('')).toBe(free.text);
  });

  it('ends at the limit, and where the context is full', async () => {
    using cache = cacheFor(model);
    expect((await tell(cache, PROMPT, { maxTokens: 3 })).result).toMatchObject({ stop: 'length' });
    const long = Array.from({ length: model.config.contextLength - 2 }, (_, i) => 3 + (i % 20));
    const { result } = await tell(cache, long, { maxTokens: 50 });
    expect(result.ids.length).toBeLessThanOrEqual(2);
    await expect(tell(cache, [...long, 3, 4])).rejects.toMatchObject({ code: 'limit' });
  });

  it('draws the same ids alone, interleaved with another, and again (B37)', async () => {
    const sampling = { ...GREEDY, temperature: 1 };
    const alone = async (seed: number) => {
      using cache = cacheFor(model);
      return (await tell(cache, PROMPT, { sampling, maxTokens: 20 }, null, seed)).result.ids;
    };
    const [eleven, twelve] = [await alone(11), await alone(12)];
    using cacheA = cacheFor(model);
    using cacheB = cacheFor(model);
    const run = (cache: KvCache, seed: number) =>
      generate(model, tokenizer, null, cache, PROMPT, deriveRng(seed, 's'), {
        sampling,
        maxTokens: 20,
      });
    const a = run(cacheA, 11);
    const b = run(cacheB, 12);
    const mixed: { a: number[]; b: number[] } = { a: [], b: [] };
    for (let i = 0; i < 20; i++) {
      const [x, y] = [await a.next(), await b.next()];
      if (x.done !== true) mixed.a.push(x.value.id);
      if (y.done !== true) mixed.b.push(y.value.id);
    }
    expect(mixed).toEqual({ a: eleven, b: twelve });
    expect(await alone(11)).toEqual(eleven);
    expect(eleven).not.toEqual(twelve);
  });

  it('stops within one token of an abort, and the cache stays usable', async () => {
    using cache = cacheFor(model);
    const free = (await tell(cache, PROMPT, { maxTokens: 8 })).result;
    const stop = new AbortController();
    const work = generate(model, tokenizer, null, cache, PROMPT, deriveRng(1), {
      sampling: GREEDY,
      maxTokens: 8,
      signal: stop.signal,
    });
    await work.next();
    await work.next();
    stop.abort();
    const result = await finish(work);
    expect(result.stop).toBe('abort');
    expect(result.ids).toEqual(free.ids.slice(0, 2));
    expect((await tell(cache, PROMPT, { maxTokens: 8 })).result).toEqual(free);
  });

  it('keeps the tensor count over 20 generations, an abort and a thrown error (B43)', async () => {
    using cache = cacheFor(model);
    await tell(cache, PROMPT);
    const before = tf.memory();
    for (let i = 0; i < 20; i++) await tell(cache, [...PROMPT, i + 3]);
    const aborted = await tell(cache, PROMPT, { signal: AbortSignal.abort() });
    expect(aborted.result).toMatchObject({ stop: 'abort', ids: [] });
    await expect(tell(cache, [...PROMPT, 4800])).rejects.toMatchObject({ code: 'bad_input' });
    expect(tf.memory().numTensors).toBe(before.numTensors);
    expect(tf.memory().numBytes).toBe(before.numBytes);
  });
});
