/** A long text trained with a real model on WASM: what memory it took, against the limit and the estimate. */

import { existsSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { readGguf } from '../formats/gguf.ts';
import { bytesSource } from '../formats/source.ts';
import { cacheFor } from './cache.ts';
import { loadLlama } from './llama.ts';
import { estimateMemory } from './memory.ts';
import { openHost } from './ops/testing-node.ts';
import { heapBytes } from './simd/kernels.ts';
import { equip, shape, trainOnce } from './testing-update.ts';

const FILE = '.cache/models/SmolLM2-135M-Instruct.Q4_1.gguf';
const TOKENS = 1024;
const GIB = 2 ** 30;

/** WASM memory only ever grows, so its size is the most that was held. */
const mostHeld = () => heapBytes(0, 0).buffer.byteLength;

describe.skipIf(!existsSync(FILE))('SmolLM2-135M-Instruct Q4_1 on wasm', () => {
  beforeAll(() => openHost('wasm'));

  it(`trains ${TOKENS} tokens within 1 GiB, and holds what was estimated to a tenth`, async () => {
    const source = bytesSource(new Uint8Array(readFileSync(FILE)), FILE);
    const gguf = await readGguf(source);
    const model = await loadLlama(gguf, source, { contextLength: 2048 });
    const { config } = model;
    const parts = estimateMemory(config, {
      tensors: gguf.tensors,
      ...shape,
      trainTokens: TOKENS,
      caches: 1,
      backend: 'wasm',
    });
    const estimated = parts.reduce((sum, { bytes }) => sum + bytes, 0);
    using cache = cacheFor(model);
    cache.reserve(2048);
    const { adapter, adam } = equip(model);
    const result = await trainOnce(model, TOKENS, adapter, adam);
    const [before = 0, after = Number.POSITIVE_INFINITY] = result.losses;
    expect(after).toBeLessThan(before);
    expect(mostHeld()).toBeLessThan(GIB);
    // 412,221,440 bytes where 425,272,832 were estimated.
    expect(Math.abs(mostHeld() - estimated) / mostHeld()).toBeLessThan(0.1);
    adapter.dispose();
    adam.dispose();
    model.dispose();
  });
});
