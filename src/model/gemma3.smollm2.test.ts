import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
// Greedy ids, log-probabilities and gaps to the runner-up on the same file, made outside this program.
import conversations from '../../e2e/fixtures/engine/gemma3_270m_generation.json' with {
  type: 'json',
};
import { readGguf } from '../formats/gguf.ts';
import { bytesSource } from '../formats/source.ts';
import { deriveRng } from '../math/rng.ts';
import { finish } from '../sequences.ts';
import { createTokenizer, type Tokenizer } from '../text/tokenizer.ts';
import { cacheFor } from './cache.ts';
import { openBackend } from './device.ts';
import { generate } from './generate.ts';
import { type LlamaModel, loadLlama } from './llama.ts';
import { GREEDY } from './sampler.ts';
import { nodeWasmPaths } from './wasm-paths-node.ts';

const FILE = '.cache/models/gemma-3-270m-q4_k_m.gguf';

describe.skipIf(!existsSync(FILE))('Gemma 3 270M Q4_K_M on wasm', () => {
  let model: LlamaModel;
  let tokenizer: Tokenizer;
  beforeAll(async () => {
    await openBackend('wasm', { wasmPaths: nodeWasmPaths(import.meta.url) });
    const source = bytesSource(new Uint8Array(readFileSync(FILE)), FILE);
    const gguf = await readGguf(source);
    model = await loadLlama(gguf, source, { contextLength: 1024 });
    tokenizer = createTokenizer(gguf.metadata);
  }, 120_000); // 250 MB are laid out anew for the vector kernels
  afterAll(() => model?.dispose());

  it('sees 512 positions in all layers but each sixth', () => {
    expect(model.layers.map(({ heads }) => heads.window ?? null)).toEqual(
      Array.from({ length: 18 }, (_, i) => (i % 6 === 5 ? null : 512)),
    );
  });

  it.each(conversations)('continues "$text" greedily with the reference ids', async (expected) => {
    const { text, prompt_ids, greedy } = expected;
    expect(tokenizer.encode(text, { special: false, bos: true })).toEqual(prompt_ids);
    using cache = cacheFor(model);
    const { ids, logprobs } = await finish(
      generate(model, tokenizer, null, cache, prompt_ids, deriveRng(1), {
        sampling: GREEDY,
        maxTokens: greedy.length,
      }),
    );
    expect(ids).toEqual(greedy.map(({ id }) => id));
    logprobs.forEach((logprob, i) => {
      expect(Math.abs(logprob - (greedy[i]?.logprob ?? Number.NaN))).toBeLessThan(0.02);
    });
  });
});
