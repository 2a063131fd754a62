/**
 * A long text trained with a real model on WebGPU: the most bytes that buffers held, against the limit and
 * the estimate, part by part. Takes half an hour where a CPU plays the GPU: only with `npm test -- --long`.
 */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readGguf } from '../formats/gguf.ts';
import { blobSource } from '../formats/source.ts';
import { deriveRng } from '../math/rng.ts';
import { Adam } from '../train/adam.ts';
import { updateAdapter } from '../train/update.ts';
import { KvCache } from './cache.ts';
import type { OpenBackend } from './device.ts';
import { loadLlama } from './llama.ts';
import { projectionShape } from './llama-config.ts';
import { Adapter, freshAdapter } from './lora.ts';
import { finish } from './macrotask.ts';
import { estimateMemory, weightBytesOn } from './memory.ts';
import { gpuBackend } from './ops/program.ts';
import { openGpu } from './ops/testing-gpu.ts';
import { FIXED, useChoice } from './variants.ts';

const FILE = '/.cache/models/SmolLM2-135M-Instruct.Q4_1.gguf';
const TOKENS = 1024;
const targets = ['q_proj', 'v_proj'] as const;

describe.skipIf(!import.meta.env.VITE_LONG)('SmolLM2-135M-Instruct Q4_1 on WebGPU', () => {
  let opened: OpenBackend;
  beforeAll(async () => {
    opened = await openGpu();
    useChoice(gpuBackend().device, { ...FIXED, matmul: 'wide', transpose: 'wide' });
  });
  afterAll(() => opened.dispose());

  it(`trains ${TOKENS} tokens within 1 GiB, as estimated to a tenth`, async () => {
    const source = blobSource(await (await fetch(FILE)).blob(), FILE);
    const gguf = await readGguf(source);
    const model = await loadLlama(gguf, source, { contextLength: 2048 });
    const { config } = model;
    const parts = estimateMemory(config, {
      weightBytes: weightBytesOn('webgpu', gguf.tensors),
      rank: 8,
      targets,
      trainTokens: TOKENS,
      caches: 1,
      backend: 'webgpu',
    });
    const estimated = new Map(parts.map(({ part, bytes }) => [part, bytes]));
    const near = (found: number, expected: number | undefined, what: string) => {
      const error = Math.abs(found - (expected ?? 0)) / found;
      expect(error, `${what}: ${found} bytes, estimated ${expected}`).toBeLessThan(0.1);
    };
    using cache = new KvCache(config.layers, config.kvHeads * config.headDim, 2048);
    cache.reserve(2048);
    const held = (purpose: string) => opened.ledger?.livePurposes().get(purpose)?.bytes ?? 0;
    near(held('weights'), estimated.get('weights'), 'weights');
    near(held('kv'), estimated.get('kv'), 'cache');
    const shape = { rank: 8, alpha: 16, targets } as const;
    const start = freshAdapter(
      shape,
      config.layers,
      (target) => projectionShape(config, target),
      deriveRng(1),
    );
    using adapter = new Adapter(start);
    using adam = new Adam(adapter.parameters().map((p) => p.shape));
    const ids = Array.from({ length: TOKENS }, (_, i) => (i * 37 + 11) % 1000);
    const weights = ids.map((_, i) => (i === 0 ? 0 : 1));
    const options = {
      steps: 1,
      learningRate: 1e-4,
      normalisation: 'weights',
      maxGradNorm: 1,
    } as const;
    opened.ledger?.resetPeak();
    await finish(updateAdapter(model, adapter, adam, [{ ids, weights }], options));
    const peak = opened.ledger?.peakBytes ?? 0;
    const small = (estimated.get('lora') ?? 0) + (estimated.get('optimiser') ?? 0);
    near(peak - held('weights') - held('kv') - small, estimated.get('activations'), 'activations');
    expect(peak).toBeLessThan(2 ** 30);
    console.info(`${peak} bytes at the peak`);
    model.dispose();
  }, 7_200_000);
});
