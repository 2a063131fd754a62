/** The two ways of the backward pass: with what the layers computed, and computing it again. */

import { readFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs-core';
import { expect, it } from 'vitest';
import { loraTargets } from '../config.ts';
import { bytesSource } from '../formats/source.ts';
import { deriveRng } from '../math/rng.ts';
import { finish } from '../sequences.ts';
import type { LayerActivations } from './layer.ts';
import { AdapterGradients, backwardSequence, runSequence } from './llama-backward.ts';
import { projectionShape } from './llama-config.ts';
import { Adapter, freshAdapter } from './lora.ts';
import { randomArray } from './ops/testing.ts';
import { openHost } from './ops/testing-node.ts';
import { loadWith } from './testing-families.ts';

it.each(['tiny_gemma3', 'tiny_qwen2'])(
  'kept activations give the gradients of recomputed ones, bit for bit, and are freed: %s',
  async (name) => {
    await openHost('wasm');
    const before = tf.memory().numTensors;
    const path = new URL(`../../e2e/fixtures/families/${name}.gguf`, import.meta.url);
    const model = await loadWith(bytesSource(new Uint8Array(readFileSync(path)), name));
    const { config } = model;
    const rng = deriveRng(4, name);
    const shape = { rank: 3, alpha: 6, targets: loraTargets } as const;
    const fresh = freshAdapter(shape, config.layers, (t) => projectionShape(config, t), rng);
    const modules = fresh.modules.map((m) => ({ ...m, bT: randomArray(rng, m.bT.length, 0.05) }));
    const adapter = new Adapter({ modules });
    const ids = Array.from({ length: 23 }, (_, i) => (i * 7 + 3) % 40);
    const slope = randomArray(rng, ids.length * config.width);

    const gradients = async (activations: LayerActivations[] | null) => {
      using sums = new AdapterGradients();
      const pass = runSequence(model, adapter, ids, 'inputs', undefined, activations);
      const inputs = await finish(pass);
      if (activations) expect(activations).toHaveLength(config.layers);
      const dy = tf.tensor2d(slope.slice(), [ids.length, config.width]);
      await finish(backwardSequence(model, adapter, inputs, dy, sums, undefined, activations));
      return sums.inOrderOf(adapter).map((each) => each.dataSync().slice());
    };
    const recomputed = await gradients(null);
    expect(recomputed).toHaveLength(14 * config.layers);
    expect(recomputed.every((each) => each.some((value) => value !== 0))).toBe(true);
    expect(await gradients([])).toEqual(recomputed);
    adapter.dispose();
    model.dispose();
    expect(tf.memory().numTensors).toBe(before);
  },
);
