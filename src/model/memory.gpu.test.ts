/** The estimate against what the GPU's buffers then take, stage by stage; what cannot be bound is refused. */

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type GgufFile, readGguf } from '../formats/gguf.ts';
import { type ByteSource, blobSource } from '../formats/source.ts';
import { cacheFor } from './cache.ts';
import type { OpenBackend } from './device.ts';
import { forward } from './forward.ts';
import { trimPool } from './gpu-pool.ts';
import { loadLlama } from './llama.ts';
import { estimateMemory } from './memory.ts';
import { gpuBackend } from './ops/program.ts';
import { openGpu } from './ops/testing-gpu.ts';
import { equip, shape, trainOnce } from './testing-update.ts';

let opened: OpenBackend;
beforeAll(async () => {
  opened = await openGpu();
});
afterEach(() => Reflect.deleteProperty(gpuBackend().device, 'limits'));
afterAll(() => opened.dispose());

async function read(path: string): Promise<{ gguf: GgufFile; source: ByteSource }> {
  const source = blobSource(await (await fetch(path)).blob(), path);
  return { gguf: await readGguf(source), source };
}

/** Live bytes, or the peak since the last call. */
function ledger() {
  const { ledger: found } = opened;
  if (found === null) throw new Error('no ledger');
  return found;
}

describe.each([
  ['the bundled policy', '/models/household-2m/household-2m-q8_0.gguf', 200],
  ['a gemma3', '/e2e/fixtures/families/tiny_gemma3.gguf', 120],
])('the estimate for %s', (_, path, tokens) => {
  it('is within a tenth of what the buffers take: weights, cache, and the peak of an update', async () => {
    const { gguf: file, source } = await read(path);
    const key = `${file.metadata['general.architecture']}.context_length`;
    const gguf = { ...file, metadata: { ...file.metadata, [key]: 1024 } };
    trimPool(); // what another model left for later use is no part of this one
    const idle = ledger().live.bytes;
    const model = await loadLlama(gguf, source);
    const { config } = model;
    const parts = estimateMemory(config, {
      tensors: gguf.tensors,
      ...shape,
      trainTokens: tokens,
      caches: 1,
      backend: 'webgpu',
    });
    const estimated = (...names: string[]) =>
      parts.reduce((sum, { part, bytes }) => sum + (names.includes(part) ? bytes : 0), 0);
    const near = (found: number, expected: number, what: string) => {
      const error = Math.abs(found - expected) / found;
      expect(error, `${what}: ${found} bytes, estimated ${expected}`).toBeLessThan(0.1);
    };

    using cache = cacheFor(model);
    cache.reserve(300);
    cache.reserve(config.contextLength); // grown twice: nothing of the smaller ones may stay
    near(ledger().livePurposes().get('kv')?.bytes ?? 0, estimated('kv'), 'cache');

    // Norms and RoPE's tables reach the GPU when they are first used.
    const logits = await forward(model, null, cache, [1, 2, 3], { logits: 'last' });
    await logits?.data();
    logits?.dispose();
    trimPool();
    near(ledger().live.bytes - idle, estimated('weights', 'kv'), 'weights and cache');

    const { adapter, adam } = equip(model);
    ledger().resetPeak();
    await trainOnce(model, tokens, adapter, adam);
    const all = parts.reduce((sum, { bytes }) => sum + bytes, 0);
    near(ledger().peakBytes - idle, all, 'the peak of an update');
    adapter.dispose();
    adam.dispose();
    model.dispose();
  });
});

it('texts of other lengths leave no memory behind', async () => {
  const { gguf, source } = await read('/e2e/fixtures/engine/tiny.gguf');
  const model = await loadLlama(gguf, source);
  const { adapter, adam } = equip(model);
  const live: number[] = [];
  for (const tokens of [20, 31, 17, 26, 20]) {
    await trainOnce(model, tokens, adapter, adam);
    live.push(ledger().live.bytes);
  }
  expect(new Set(live.slice(1))).toEqual(new Set([live[1]]));
  adapter.dispose();
  adam.dispose();
  model.dispose();
});

it('a context whose keys cannot be bound is refused before a weight is read, with both numbers', async () => {
  const { gguf, source } = await read('/e2e/fixtures/engine/tiny.gguf');
  const metadata = { ...gguf.metadata, 'llama.context_length': 8_000_000 };
  const { device } = gpuBackend();
  const { maxBufferSize } = device.limits;
  const limits = { maxStorageBufferBindingSize: 134_217_728, maxBufferSize };
  Object.defineProperty(device, 'limits', { value: limits, configurable: true });
  const nothing = { ...source, read: () => Promise.reject(new Error('a weight was read')) };
  await expect(loadLlama({ ...gguf, metadata }, nothing)).rejects.toMatchObject({
    code: 'limit',
    message: expect.stringMatching(
      /keys of one layer at a context of 8000000 tokens: a tensor of 256000000 bytes .* 134217728/,
    ),
  });
});
