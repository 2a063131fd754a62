/** The whole model as WGSL: tiny models against transformers and PyTorch, and one real model. */

import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import smollm2Update from '../../e2e/fixtures/engine/smollm2_update.json' with { type: 'json' };
import tinyLogits from '../../e2e/fixtures/engine/tiny_logits.json' with { type: 'json' };
import trainingCases from '../../e2e/fixtures/engine/tiny_training.json' with { type: 'json' };
import { readGguf } from '../formats/gguf.ts';
import { blobSource } from '../formats/source.ts';
import { deriveRng } from '../math/rng.ts';
import { finish } from '../sequences.ts';
import { createTokenizer } from '../text/tokenizer.ts';
import { Adam } from '../train/adam.ts';
import {
  caseStart,
  readTrainingCase,
  runTrainingCase,
  sequenceOf,
} from '../train/training-case.ts';
import { updateAdapter } from '../train/update.ts';
import { cacheFor } from './cache.ts';
import type { OpenBackend } from './device.ts';
import { forward } from './forward.ts';
import { generate } from './generate.ts';
import { type LlamaModel, loadLlama } from './llama.ts';
import { Adapter } from './lora.ts';
import { openGpu } from './ops/testing-gpu.ts';
import { GREEDY } from './sampler.ts';

let opened: OpenBackend;
beforeAll(async () => {
  opened = await openGpu();
});
afterAll(() => opened.dispose());

async function open(path: string) {
  const response = await fetch(path);
  const source = blobSource(await response.blob(), path);
  const gguf = await readGguf(source);
  return { gguf, model: await loadLlama(gguf, source) };
}

async function allLogits(model: LlamaModel, ids: readonly number[]): Promise<number[][]> {
  using cache = cacheFor(model);
  const logits = await forward(model, null, cache, ids, { logits: 'all', chunk: 4 });
  const rows = (await logits?.array()) ?? [];
  logits?.dispose();
  return rows;
}

/** Within 1e-3 relative or 1e-5 absolute: float32 sums in another order than PyTorch's. */
function expectClose(found: ArrayLike<number>, expected: ArrayLike<number>, what: string): void {
  expect(found.length, what).toBe(expected.length);
  for (let i = 0; i < expected.length; i++) {
    const want = expected[i] ?? Number.NaN;
    const allowed = Math.max(1e-5, 1e-3 * Math.abs(want));
    const error = Math.abs((found[i] ?? Number.NaN) - want);
    expect(error, `${what}[${i}] = ${found[i]}, expected ${want}`).toBeLessThanOrEqual(allowed);
  }
}

describe('tiny models on WebGPU', () => {
  it('give the logits of transformers, in chunks', async () => {
    const { model } = await open('/e2e/fixtures/engine/tiny.gguf');
    const found = await allLogits(model, tinyLogits.ids);
    tinyLogits.logits_base.forEach((row, t) => {
      row.forEach((value, i) => {
        expect(Math.abs((found[t]?.[i] ?? Number.NaN) - value)).toBeLessThan(1e-3);
      });
    });
    model.dispose();
  });

  it.each(['visible', 'visible_all_modules'] as const)(
    "train with PyTorch's losses, gradients, parameters and KL on case %s",
    async (name) => {
      const expected = trainingCases[name];
      const { model } = await open('/e2e/fixtures/engine/tiny.gguf');
      const trained = await runTrainingCase(model, readTrainingCase(expected));
      expectClose(trained.result.losses, expected.losses, 'losses');
      expectClose(trained.result.ce_before, expected.ce_before, 'ce_before');
      expectClose(trained.result.ce_after, expected.ce_after, 'ce_after');
      for (const [parameter, rows] of Object.entries<number[][]>(expected.grad_step1)) {
        expectClose(trained.gradients[parameter] ?? [], rows.flat(), `gradient of ${parameter}`);
      }
      for (const [parameter, rows] of Object.entries<number[][]>(expected.param_after)) {
        expectClose(trained.parameters[parameter] ?? [], rows.flat(), parameter);
      }
      const kl = [trained.result.kl_adapter_base_after, trained.result.kl_base_adapter_after];
      expectClose(kl, [expected.kl_adapter_base_after, expected.kl_base_adapter_after], 'KL');
      model.dispose();
    },
  );

  it('leave tensors and buffers as they were: 20 generations, 3 updates, aborts, an error', async () => {
    const { model, gguf } = await open('/e2e/fixtures/engine/tiny.gguf');
    const tokenizer = createTokenizer(gguf.metadata);
    const training = readTrainingCase(trainingCases.visible_all_modules);
    using adapter = new Adapter(caseStart(model, training));
    using adam = new Adam(adapter.parameters());
    using cache = cacheFor(model);
    const tell = (prompt: readonly number[], signal?: AbortSignal) =>
      finish(
        generate(model, tokenizer, adapter, cache, prompt, deriveRng(1), {
          sampling: { ...GREEDY, temperature: 1 },
          maxTokens: 6,
          ...(signal && { signal }),
        }),
      );
    const train = (signal?: AbortSignal) => {
      const options = {
        steps: 2,
        learningRate: 1e-3,
        normalisation: 'weights',
        maxGradNorm: 1,
      } as const;
      return updateAdapter(model, adapter, adam, [sequenceOf(training)], options, signal);
    };
    const everything = async () => {
      for (let i = 0; i < 20; i++) await tell([3, 7, 11, 3 + i]);
      for (let i = 0; i < 3; i++) await finish(train());
      await tell([3, 7], AbortSignal.abort());
      for await (const { done } of train()) if (done === 5) break;
      await expect(finish(train(AbortSignal.abort()))).rejects.toMatchObject({ code: 'aborted' });
      await expect(tell([3, 4800])).rejects.toMatchObject({ code: 'bad_input' });
    };
    // The first round fills tfjs's pool of buffers, which keeps what was freed for the next use.
    await everything();
    const tensors = tf.memory().numTensors;
    const bytes = tf.memory().numBytes;
    const live = opened.ledger?.live;
    await everything();
    expect(tf.memory().numTensors).toBe(tensors);
    expect(tf.memory().numBytes).toBe(bytes);
    expect(opened.ledger?.live).toEqual(live);
    model.dispose();
  });
});

const SMOLLM2 = '/.cache/models/SmolLM2-135M-Instruct.Q4_1.gguf';
const SMOLLM2_BYTES = 98_362_432;
const head = await fetch(SMOLLM2, { method: 'HEAD' });
const present = Number(head.headers.get('content-length')) === SMOLLM2_BYTES;

describe.skipIf(!present)('SmolLM2-135M-Instruct Q4_1 on WebGPU', { timeout: 400_000 }, () => {
  let model: LlamaModel;
  let tokenizer: ReturnType<typeof createTokenizer>;
  let reference: typeof import('../../e2e/fixtures/engine/smollm2_generation.json')[number];
  beforeAll(async () => {
    const loaded = await open(SMOLLM2);
    model = loaded.model;
    tokenizer = createTokenizer(loaded.gguf.metadata);
    const { default: conversations } = await import(
      '../../e2e/fixtures/engine/smollm2_generation.json'
    );
    const [first] = conversations;
    if (first === undefined) throw new Error('no reference');
    reference = first;
  }, 120_000);
  afterAll(() => model?.dispose());

  it('keeps its weights quantised: at most 1.05 times the bytes of the file', () => {
    const onDevice = model.matrices.reduce((sum, { bytesOnDevice }) => sum + bytesOnDevice, 0);
    expect(onDevice).toBeGreaterThan(0);
    expect(onDevice).toBeLessThanOrEqual(1.05 * model.tensorBytes);
    // Everything alive on the device at this point: weights, norms, RoPE tables and tfjs's own few.
    expect(opened.ledger?.live.bytes ?? 0).toBeLessThanOrEqual(1.3 * model.tensorBytes);
  });

  it("generates transformers' 16 greedy tokens", async () => {
    const greedy = reference.greedy.slice(0, 16);
    using cache = cacheFor(model);
    const told = await finish(
      generate(model, tokenizer, null, cache, reference.prompt_ids, deriveRng(1), {
        sampling: GREEDY,
        maxTokens: 16,
      }),
    );
    expect(told.ids).toEqual(greedy.map(({ id }) => id));
    told.logprobs.forEach((logprob, i) => {
      expect(Math.abs(logprob - (greedy[i]?.logprob ?? 0))).toBeLessThan(0.02);
    });
  });

  it('makes one update on 32 tokens as transformers and PEFT do', async () => {
    const training = readTrainingCase(smollm2Update);
    using adapter = new Adapter(caseStart(model, training));
    using adam = new Adam(adapter.parameters());
    const { losses, ceBefore, gradNorms } = await finish(
      updateAdapter(model, adapter, adam, [sequenceOf(training)], {
        steps: training.steps,
        learningRate: training.lr,
        normalisation: 'weights',
        maxGradNorm: 0,
      }),
    );
    expectClose(losses, smollm2Update.losses, 'losses');
    expectClose(ceBefore[0] ?? [], smollm2Update.ce_before, 'cross entropies before');
    const norms = Object.values(smollm2Update.grad_norm_step1);
    expectClose(gradNorms, [Math.hypot(...norms)], 'gradient norm');
  });
});
