/**
 * Texts trained with a real model on WebGPU: the most bytes that buffers held, against the limit and the
 * estimate, part by part. Which buffers there are does not hang on what they hold, so that the sums are left
 * out: where a CPU plays the GPU they take half an hour. `npm run test:long` does them, and shorter texts.
 */

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readGguf } from '../formats/gguf.ts';
import { blobSource } from '../formats/source.ts';
import { cacheFor } from './cache.ts';
import type { OpenBackend } from './device.ts';
import { loadLlama } from './llama.ts';
import { estimateMemory } from './memory.ts';
import { gpuBackend } from './ops/program.ts';
import { openGpu } from './ops/testing-gpu.ts';
import { equip, shape, trainOnce } from './testing-update.ts';
import { FIXED, useChoice } from './variants.ts';

const FILE = '/.cache/models/SmolLM2-135M-Instruct.Q4_1.gguf';
const FILE_BYTES = 98_362_432;
const head = await fetch(FILE, { method: 'HEAD' });
const present = Number(head.headers.get('content-length')) === FILE_BYTES;
const dispatch = GPUComputePassEncoder.prototype.dispatchWorkgroups;

describe.skipIf(!present)('SmolLM2-135M-Instruct Q4_1 on WebGPU', () => {
  let opened: OpenBackend;
  beforeAll(async () => {
    opened = await openGpu();
    useChoice(gpuBackend().device, { ...FIXED, matmul: 'wide', transpose: 'wide' });
  });
  afterEach(() => {
    GPUComputePassEncoder.prototype.dispatchWorkgroups = dispatch;
  });
  afterAll(() => opened.dispose());

  it.each(import.meta.env.VITE_LONG ? [40, 256, 1024] : [1024])(
    'trains %i tokens within 1 GiB, as estimated to a tenth',
    async (tokens) => {
      GPUComputePassEncoder.prototype.dispatchWorkgroups = () => undefined;
      await expectEstimated(tokens);
    },
  );

  it.runIf(import.meta.env.VITE_LONG)(
    'so it does when it computes',
    () => expectEstimated(1024),
    7_200_000,
  );

  async function expectEstimated(tokens: number): Promise<void> {
    const source = blobSource(await (await fetch(FILE)).blob(), FILE);
    const gguf = await readGguf(source);
    const model = await loadLlama(gguf, source, { contextLength: 2048 });
    const { config } = model;
    const parts = estimateMemory(config, {
      tensors: gguf.tensors,
      ...shape,
      trainTokens: tokens,
      caches: 1,
      backend: 'webgpu',
    });
    const estimated = new Map(parts.map(({ part, bytes }) => [part, bytes]));
    const near = (found: number, expected: number | undefined, what: string) => {
      const error = Math.abs(found - (expected ?? 0)) / found;
      expect(error, `${what}: ${found} bytes, estimated ${expected}`).toBeLessThan(0.1);
    };
    using cache = cacheFor(model);
    cache.reserve(2048);
    const held = (purpose: string) => opened.ledger?.livePurposes().get(purpose)?.bytes ?? 0;
    near(held('weights'), estimated.get('weights'), 'weights');
    near(held('kv'), estimated.get('kv'), 'cache');
    const { adapter, adam } = equip(model);
    opened.ledger?.resetPeak();
    await trainOnce(model, tokens, adapter, adam);
    const peak = opened.ledger?.peakBytes ?? 0;
    const small = (estimated.get('lora') ?? 0) + (estimated.get('optimiser') ?? 0);
    near(peak - held('weights') - held('kv') - small, estimated.get('activations'), 'activations');
    expect(peak).toBeLessThan(2 ** 30);
    adapter.dispose();
    adam.dispose();
    model.dispose();
  }
});
