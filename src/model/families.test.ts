import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
// transformers' logits; training by PEFT and PyTorch (scripts/make-family-fixtures.py).
import logits from '../../e2e/fixtures/families/families_logits.json' with { type: 'json' };
import training from '../../e2e/fixtures/families/families_training.json' with { type: 'json' };
import stretched from '../../e2e/fixtures/families/rope_logits.json' with { type: 'json' };
import type { GgufMetadata } from '../formats/gguf.ts';
import { bytesSource } from '../formats/source.ts';
import { openHost } from './ops/testing-node.ts';
import {
  loadWith,
  logitError,
  STRETCHED,
  TINY_MODELS,
  TRAINED_FAMILIES,
  trainingError,
} from './testing-families.ts';

const open = (name: string, metadata: GgufMetadata = {}) => {
  const path = new URL(`../../e2e/fixtures/families/${name}.gguf`, import.meta.url);
  return loadWith(bytesSource(new Uint8Array(readFileSync(path)), name), metadata);
};

describe.each(['cpu', 'wasm'] as const)('the families on %s', (backend) => {
  beforeAll(() => openHost(backend));

  it.each(TINY_MODELS)('%s gives the logits of transformers', async (file, entry) => {
    const model = await open(file);
    const { ids, logits: expected } = logits[entry];
    expect(await logitError(model, ids, expected)).toBeLessThan(1e-4);
    model.dispose();
  });

  it.each(['linear', 'yarn'] as const)(
    'RoPE stretched by %s gives the logits of transformers',
    async (kind) => {
      const model = await open('tiny_qwen3', STRETCHED[kind]);
      const { ids } = logits.qwen3;
      expect(await logitError(model, ids, stretched[kind].logits)).toBeLessThan(1e-4);
      model.dispose();
    },
  );

  it.each(TRAINED_FAMILIES)(
    "%s trains with PEFT's losses, gradients and parameters, every projection adapted",
    async (family) => {
      const model = await open(`tiny_${family}`);
      const error = await trainingError(model, training[family]);
      expect(error.parameters).toBe(14 * model.config.layers);
      expect(error.nats).toBeLessThan(1e-4);
      expect(error.gradient).toBeLessThan(1e-4);
      expect(error.norm).toBeLessThan(1e-4);
      model.dispose();
    },
  );
});

describe('a file of another kind', () => {
  beforeAll(() => openHost('cpu'));

  it('with soft caps, experts or another RoPE scaling is refused by the name of its key', async () => {
    const cases = [
      ['gemma3.final_logit_softcapping', 30, /soft cap on logits.*final_logit_softcapping" is 30/],
      ['gemma3.attn_logit_softcapping', 50, /soft cap on attention/],
      ['gemma3.expert_count', 8, /mixture of experts/],
      ['gemma3.rope.scaling.type', 'longrope', /"longrope".*supported: none, linear, yarn/],
    ] as const;
    for (const [key, value, message] of cases) {
      const loading = open('tiny_gemma3', { [key]: value });
      await expect(loading, key).rejects.toMatchObject({
        code: 'unsupported',
        message: expect.stringMatching(message),
      });
    }
  });

  it("takes its own pattern of local layers and the 27B model's scale, where it has them", async () => {
    const pattern = [true, false, true, false, true, false, true];
    const own = await open('tiny_gemma3', { 'gemma3.attention.sliding_window_pattern': pattern });
    expect(own.layers.map(({ heads }) => heads.window)).toEqual(
      pattern.map((local) => (local ? 8 : undefined)),
    );
    own.dispose();
    const scaled = await open('tiny_gemma3', { 'gemma3.attention.scale': 0.5 });
    expect(scaled.layers[0]?.heads.scale).toBe(0.5);
    scaled.dispose();
  });
});
