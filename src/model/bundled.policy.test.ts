/** The bundled policy's file in this engine: PyTorch's prompts as ids, and PyTorch's greedy ids after them. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import greedy from '../../e2e/fixtures/policy/greedy.json' with { type: 'json' };
import { readGguf } from '../formats/gguf.ts';
import { bytesSource } from '../formats/source.ts';
import { deriveRng } from '../math/rng.ts';
import { finish } from '../sequences.ts';
import { bundledModels } from '../store/models.ts';
import { createTokenizer } from '../text/tokenizer.ts';
import { cacheFor } from './cache.ts';
import { openBackend } from './device.ts';
import { generate } from './generate.ts';
import { loadLlama } from './llama.ts';
import { GREEDY } from './sampler.ts';
import { nodeWasmPaths } from './wasm-paths-node.ts';

test('the bundled policy continues ten prompts with the greedy ids of PyTorch', async () => {
  await openBackend('wasm', { wasmPaths: nodeWasmPaths(import.meta.url) });
  const path = bundledModels[0]?.path ?? '';
  const source = bytesSource(new Uint8Array(readFileSync(path)), path);
  const gguf = await readGguf(source);
  const model = await loadLlama(gguf, source, { contextLength: 4096 });
  const tokenizer = createTokenizer(gguf.metadata);
  expect(greedy.prompts).toHaveLength(10);
  for (const { prompt, prompt_ids, ids } of greedy.prompts) {
    expect(tokenizer.encode(prompt, { special: true })).toEqual(prompt_ids);
    using cache = cacheFor(model);
    const told = await finish(
      generate(model, tokenizer, null, cache, prompt_ids, deriveRng(1), {
        sampling: GREEDY,
        maxTokens: ids.length,
      }),
    );
    expect(told.ids).toEqual(ids);
  }
  model.dispose();
});
