/** The families as WGSL, against the same references as on the host. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import logits from '../../e2e/fixtures/families/families_logits.json' with { type: 'json' };
import training from '../../e2e/fixtures/families/families_training.json' with { type: 'json' };
import stretched from '../../e2e/fixtures/families/rope_logits.json' with { type: 'json' };
import type { GgufMetadata } from '../formats/gguf.ts';
import { blobSource } from '../formats/source.ts';
import type { OpenBackend } from './device.ts';
import { openGpu } from './ops/testing-gpu.ts';
import {
  loadWith,
  logitError,
  STRETCHED,
  TINY_MODELS,
  TRAINED_FAMILIES,
  trainingError,
} from './testing-families.ts';

let opened: OpenBackend;
beforeAll(async () => {
  opened = await openGpu();
});
afterAll(() => opened.dispose());

const open = async (name: string, metadata: GgufMetadata = {}) => {
  const response = await fetch(`/e2e/fixtures/families/${name}.gguf`);
  return loadWith(blobSource(await response.blob(), name), metadata);
};

describe('the families on WebGPU', () => {
  it.each(TINY_MODELS)('%s gives the logits of transformers', async (file, entry) => {
    const model = await open(file);
    const { ids, logits: expected } = logits[entry];
    expect(await logitError(model, ids, expected)).toBeLessThan(1e-3);
    model.dispose();
  });

  it('RoPE stretched by yarn gives the logits of transformers', async () => {
    const model = await open('tiny_qwen3', STRETCHED.yarn);
    const { ids } = logits.qwen3;
    expect(await logitError(model, ids, stretched.yarn.logits)).toBeLessThan(1e-3);
    model.dispose();
  });

  it.each(TRAINED_FAMILIES)(
    "%s trains with PEFT's losses, gradients and parameters, every projection adapted",
    async (family) => {
      const model = await open(`tiny_${family}`);
      const error = await trainingError(model, training[family]);
      expect(error.parameters).toBe(14 * model.config.layers);
      expect(error.nats).toBeLessThan(1e-3);
      expect(error.gradient).toBeLessThan(1e-3);
      expect(error.norm).toBeLessThan(1e-3);
      model.dispose();
    },
  );
});
