/** A long text trained with a real model on WASM: what memory it took, against the limit and the estimate. */

import { existsSync, readFileSync } from 'node:fs';
import type * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { readGguf } from '../formats/gguf.ts';
import { bytesSource } from '../formats/source.ts';
import { deriveRng } from '../math/rng.ts';
import { Adam } from '../train/adam.ts';
import { updateAdapter } from '../train/update.ts';
import { KvCache } from './cache.ts';
import { loadLlama } from './llama.ts';
import { projectionShape } from './llama-config.ts';
import { Adapter, freshAdapter } from './lora.ts';
import { finish } from './macrotask.ts';
import { estimateMemory, weightBytesOn } from './memory.ts';
import { openHost } from './ops/testing-node.ts';
import { heapBytes } from './simd/kernels.ts';

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
    const targets = ['q_proj', 'v_proj'] as const;
    const parts = estimateMemory(config, {
      weightBytes: weightBytesOn('wasm', gguf.tensors),
      rank: 8,
      targets,
      trainTokens: TOKENS,
      caches: 1,
      backend: 'webgpu',
    });
    const estimated = parts.reduce((sum, { bytes }) => sum + bytes, 0);
    using cache = new KvCache(config.layers, config.kvHeads * config.headDim, 2048);
    cache.reserve(2048);
    const shape = { rank: 8, alpha: 16, targets } as const;
    const start = freshAdapter(
      shape,
      config.layers,
      (target) => projectionShape(config, target),
      deriveRng(1),
    );
    using adapter = new Adapter(start);
    using adam = new Adam(adapter.parameters().map((p: tf.Tensor2D) => p.shape));
    const ids = Array.from({ length: TOKENS }, (_, i) => (i * 37 + 11) % 1000);
    const weights = ids.map((_, i) => (i === 0 ? 0 : 1));
    const options = {
      steps: 1,
      learningRate: 1e-4,
      normalisation: 'weights',
      maxGradNorm: 1,
    } as const;
    const text = [{ ids, weights }];
    const result = await finish(updateAdapter(model, adapter, adam, text, options));
    const [before = 0, after = Number.POSITIVE_INFINITY] = result.losses;
    expect(after).toBeLessThan(before);
    expect(mostHeld()).toBeLessThan(GIB);
    // 412,221,440 bytes where 425,272,832 were estimated.
    expect(Math.abs(mostHeld() - estimated) / mostHeld()).toBeLessThan(0.1);
    model.dispose();
  });
});
