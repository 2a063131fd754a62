import { readFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readGguf } from '../formats/gguf.ts';
import { bytesSource } from '../formats/source.ts';
import { openBackend } from '../model/device.ts';
import { type LlamaModel, loadLlama } from '../model/llama.ts';
import { Adapter } from '../model/lora.ts';
import { nodeWasmPaths } from '../model/wasm-paths-node.ts';
import type { LearnerSnapshot } from '../records.ts';
import { finish } from '../sequences.ts';
import { Adam } from './adam.ts';
import { targetsOf, type WeightedIds } from './loss.ts';
import { caseStart, readTrainingCase, runTrainingCase, sequenceOf } from './training-case.ts';
import { klDivergences, measureCrossEntropy, type UpdateOptions, updateAdapter } from './update.ts';

const fixture = (path: string) =>
  readFileSync(new URL(`../../e2e/fixtures/${path}`, import.meta.url));

/** What PyTorch and PEFT gave for the same case. */
interface Expected {
  weights: number[];
  losses: number[];
  ce_before: number[];
  ce_after: number[];
  kl_adapter_base_before: number;
  kl_base_adapter_before: number;
  kl_adapter_base_after: number;
  kl_base_adapter_after: number;
  grad_norm_step1: Record<string, number>;
  grad_step1: Record<string, number[][]>;
  param_after: Record<string, number[][]>;
}
const cases: Record<'visible' | 'visible_all_modules', Expected> = JSON.parse(
  fixture('engine/tiny_training.json').toString('utf8'),
);

const OPTIONS: UpdateOptions = {
  steps: 2,
  learningRate: 5e-3,
  normalisation: 'weights',
  maxGradNorm: 0,
};

/** Within 1e-4 relative or 1e-6 absolute. */
function expectClose(found: ArrayLike<number>, expected: ArrayLike<number>, what: string): void {
  expect(found.length, what).toBe(expected.length);
  for (let i = 0; i < expected.length; i++) {
    const want = expected[i] ?? Number.NaN;
    const allowed = Math.max(1e-6, 1e-4 * Math.abs(want));
    const error = Math.abs((found[i] ?? Number.NaN) - want);
    expect(error, `${what}[${i}] = ${found[i]}, expected ${want}`).toBeLessThanOrEqual(allowed);
  }
}

describe.each(['cpu', 'wasm'] as const)('an update on %s', (backend) => {
  let model: LlamaModel;
  beforeAll(async () => {
    await openBackend(backend, { wasmPaths: nodeWasmPaths(import.meta.url) });
    const source = bytesSource(new Uint8Array(fixture('engine/tiny.gguf')), 'tiny.gguf');
    model = await loadLlama(await readGguf(source), source);
  });
  afterAll(() => model.dispose());

  const allModules = readTrainingCase(cases.visible_all_modules);
  const sequence = sequenceOf(allModules);

  const open = () => {
    const adapter = new Adapter(caseStart(model, allModules));
    return { adapter, adam: new Adam(adapter.parameters()) };
  };
  const snapshot = async (adapter: Adapter, adam: Adam): Promise<LearnerSnapshot> => ({
    schema: 1,
    adapter: await adapter.export(),
    optimiser: await adam.export(),
  });

  it.each(['visible', 'visible_all_modules'] as const)(
    "gives PyTorch's losses, gradients, parameters and KL on case %s",
    async (name) => {
      const expected = cases[name];
      const { result, gradients, parameters } = await runTrainingCase(
        model,
        readTrainingCase(expected),
      );
      expectClose(result.losses, expected.losses, 'losses');
      expectClose(result.ce_before, expected.ce_before, 'ce_before');
      expectClose(result.ce_after, expected.ce_after, 'ce_after');
      for (const [parameter, rows] of Object.entries(expected.grad_step1)) {
        expectClose(gradients[parameter] ?? [], rows.flat(), `gradient of ${parameter}`);
        const norm = [result.grad_norm_step1[parameter] ?? Number.NaN];
        expectClose(norm, [expected.grad_norm_step1[parameter] ?? 0], `norm of ${parameter}`);
      }
      for (const [parameter, rows] of Object.entries(expected.param_after)) {
        expectClose(parameters[parameter] ?? [], rows.flat(), parameter);
      }
      expect(Object.keys(parameters).sort()).toEqual(Object.keys(expected.param_after).sort());
      for (const key of [
        'kl_adapter_base_before',
        'kl_base_adapter_before',
        'kl_adapter_base_after',
        'kl_base_adapter_after',
      ] as const) {
        expect(Math.abs(result[key] - expected[key]), key).toBeLessThan(1e-6);
      }
    },
  );

  it('refuses ids that the vocabulary lacks, labels and inputs alike', async () => {
    for (const at of [0, -1]) {
      const ids = allModules.ids.with(at, 48);
      await expect(runTrainingCase(model, { ...allModules, ids })).rejects.toThrow(
        'ids is 48; expected token ids from 0 to 47',
      );
    }
  });

  it('measures labels of weight 0 as well, which train nothing', async () => {
    const expected = cases.visible;
    const weights = expected.weights.map((w, i) => (i % 2 === 0 ? w : 0));
    const training = readTrainingCase({ ...expected, weights });
    const { result } = await runTrainingCase(model, training);
    expectClose(result.ce_before, expected.ce_before, 'ce_before');
    expect(result.ce_after).toHaveLength(weights.length);
    const [a = 0, , c = 0, , e = 0] = weights;
    const [x = 0, , y = 0, , z = 0] = expected.ce_before;
    expectClose(result.losses.slice(0, 1), [(a * x + c * y + e * z) / (a + c + e)], 'loss');
  });

  it('weighs unequal sequences by their tokens, as one big batch would (B27)', async () => {
    const long: WeightedIds = { ids: [3, 7, 11, 2, 30, 5, 9], weights: [0, 1, 1, 0.25, 1, 1, 1] };
    const short: WeightedIds = { ids: [14, 8, 1], weights: [0, 1, 0.5] };
    const gradientsOf = async (
      window: readonly WeightedIds[],
      normalisation: 'weights' | 'tokens',
    ) => {
      const { adapter, adam } = open();
      const options = { ...OPTIONS, steps: 1, learningRate: 0, normalisation, keepGradients: true };
      const result = await finish(updateAdapter(model, adapter, adam, window, options));
      adapter.dispose();
      adam.dispose();
      return result;
    };
    const together = await gradientsOf([long, short], 'tokens');
    const alone = [await gradientsOf([long], 'tokens'), await gradientsOf([short], 'tokens')];
    // 6 and 2 trained tokens: Σ w CE / N of both is 6/8 of the one plus 2/8 of the other.
    const loss = (6 * (alone[0]?.losses[0] ?? 0) + 2 * (alone[1]?.losses[0] ?? 0)) / 8;
    expect(together.losses[0]).toBeCloseTo(loss, 6);
    together.firstGradients?.forEach((gradient, p) => {
      gradient.forEach((value, i) => {
        const parts = alone.map((r) => r.firstGradients?.[p]?.[i] ?? Number.NaN);
        expect(value).toBeCloseTo((6 * (parts[0] ?? 0) + 2 * (parts[1] ?? 0)) / 8, 5);
      });
    });
  });

  it('moves nothing at a learning rate of 0, bit for bit', async () => {
    const { adapter, adam } = open();
    const before = await adapter.export();
    const { losses } = await finish(
      updateAdapter(model, adapter, adam, [sequence], { ...OPTIONS, learningRate: 0 }),
    );
    expect(await adapter.export()).toEqual(before);
    expect(new Set(losses).size).toBe(1);
    adapter.dispose();
    adam.dispose();
  });

  it('is all or nothing: stopped at any layer, adapter and moments are as before', async () => {
    const { adapter, adam } = open();
    await finish(updateAdapter(model, adapter, adam, [sequence], { ...OPTIONS, steps: 1 }));
    const before = await snapshot(adapter, adam);
    const memory = tf.memory();
    for (let stopAt = 0; stopAt < 10; stopAt++) {
      const stop = new AbortController();
      const run = async () => {
        const work = updateAdapter(model, adapter, adam, [sequence], OPTIONS, stop.signal);
        for await (const { done } of work) if (done === stopAt) stop.abort();
      };
      await expect(run()).rejects.toMatchObject({ code: 'aborted' });
    }
    for await (const { done } of updateAdapter(model, adapter, adam, [sequence], OPTIONS)) {
      if (done === 7) break; // leaving the loop stops it as well
    }
    expect(await snapshot(adapter, adam)).toEqual(before);
    expect(tf.memory().numTensors).toBe(memory.numTensors);
    adapter.dispose();
    adam.dispose();
  });

  it('restores a snapshot bit for bit, moments and step counter included (B40)', async () => {
    const { adapter, adam } = open();
    await finish(updateAdapter(model, adapter, adam, [sequence], OPTIONS));
    const start = structuredClone(await snapshot(adapter, adam));
    const first = await finish(updateAdapter(model, adapter, adam, [sequence], OPTIONS));
    const moved = await snapshot(adapter, adam);
    expect(moved.adapter).not.toEqual(start.adapter);
    adapter.restore(start.adapter);
    adam.restore(start.optimiser);
    expect(await snapshot(adapter, adam)).toEqual(start);
    const again = await finish(updateAdapter(model, adapter, adam, [sequence], OPTIONS));
    expect(again).toEqual(first);
    expect(await snapshot(adapter, adam)).toEqual(moved);
    adapter.dispose();
    adam.dispose();
  });

  it('KL is 0 for a fresh adapter, and measuring leaves the adapter on, also when it throws (B40)', async () => {
    const { adapter, adam } = open();
    const { rows } = targetsOf(sequence);
    using fresh = new Adapter(caseStart(model, { ...allModules, init: { b_scale: 0 } }));
    const { pq, qp } = await klDivergences(model, fresh, null, sequence.ids, rows);
    expect(pq).toBeCloseTo(0, 6);
    expect(qp).toBeCloseTo(0, 6);
    const before = await measureCrossEntropy(model, adapter, sequence);
    const stopped = AbortSignal.abort();
    await expect(
      klDivergences(model, adapter, null, sequence.ids, rows, stopped),
    ).rejects.toMatchObject({ code: 'aborted' });
    expect(await measureCrossEntropy(model, adapter, sequence)).toEqual(before);
    adapter.dispose();
    adam.dispose();
  });

  it('clips the whole gradient to a norm, as PyTorch does', async () => {
    const { adapter, adam } = open();
    const options = { ...OPTIONS, steps: 1, keepGradients: true };
    const free = await finish(updateAdapter(model, adapter, adam, [sequence], options));
    const norm = free.gradNorms[0] ?? 0;
    const total = Math.hypot(...(free.firstGradients ?? []).flatMap((g) => [...g]));
    expect(norm).toBeCloseTo(total, 5);
    const clipped = open();
    await finish(
      updateAdapter(model, clipped.adapter, clipped.adam, [sequence], {
        ...options,
        maxGradNorm: norm / 10,
      }),
    );
    // First moments after one step are (1 - β1) times the gradient that was applied.
    const moments = (await clipped.adam.export()).m;
    const applied = Math.hypot(...moments.flatMap((m) => [...m])) / 0.1;
    expect(applied).toBeCloseTo(norm / 10, 5);
    for (const part of [adapter, adam, clipped.adapter, clipped.adam]) part.dispose();
  });

  it('adds the gradient of the KL penalty, as a finite difference has it', async () => {
    const { adapter, adam } = open();
    using reference = new Adapter({ modules: [] });
    const base = { ...OPTIONS, steps: 1, learningRate: 0, keepGradients: true };
    const plain = await finish(updateAdapter(model, adapter, adam, [sequence], base));
    const klPenalty = { weight: 3, reference };
    const pulled = await finish(
      updateAdapter(model, adapter, adam, [sequence], { ...base, klPenalty }),
    );
    expect(pulled.losses).toEqual(plain.losses);
    const gradient = (pulled.firstGradients ?? []).map((g, i) =>
      g.map((x, j) => (x - (plain.firstGradients?.[i]?.[j] ?? 0)) / 3),
    );
    const norm = Math.hypot(...gradient.flatMap((g) => [...g]));
    const { rows } = targetsOf(sequence);
    const start = adapter.parameters().map((p) => p.dataSync<'float32'>().slice());
    const klAt = async (by: number) => {
      adapter.assign(
        adapter.parameters().map((p, i) => {
          const moved = start[i]?.map((x, j) => x + (by * (gradient[i]?.[j] ?? 0)) / norm) ?? [];
          return tf.tensor2d(moved, p.shape);
        }),
      );
      return (await klDivergences(model, adapter, null, sequence.ids, rows)).pq;
    };
    const h = 1e-2;
    const slope = ((await klAt(h)) - (await klAt(-h))) / (2 * h);
    // Along its own direction a gradient's slope is its norm; float32 and h² leave about 1e-3.
    expect(norm).toBeGreaterThan(0.01);
    expect(Math.abs(slope / norm - 1)).toBeLessThan(0.01);
    adapter.dispose();
    adam.dispose();
  });

  it('adds what pulls at the parameters to the gradient that is applied, and frees it', async () => {
    const { adapter, adam } = open();
    const pull = (now: readonly tf.Tensor2D[]) => now.map((p) => tf.mul<tf.Tensor2D>(p, 2));
    const options = { ...OPTIONS, steps: 1, keepGradients: true };
    const before = adapter.parameters().map((p) => p.dataSync<'float32'>().slice());
    const tensors = tf.memory().numTensors;
    const result = await finish(
      updateAdapter(model, adapter, adam, [sequence], { ...options, pull }),
    );
    expect(tf.memory().numTensors).toBe(tensors);
    // First moments after one step are (1 - β1) times the gradient that was applied.
    const { m } = await adam.export();
    const [applied, own, theta] = [m[0], result.firstGradients?.[0], before[0]];
    expectClose(
      applied?.map((x) => x / 0.1) ?? [],
      own?.map((g, j) => g + 2 * (theta?.[j] ?? 0)) ?? [],
      'applied',
    );
    adapter.dispose();
    adam.dispose();
  });

  it('keeps the tensor count over updates (B43)', async () => {
    const { adapter, adam } = open();
    const counts: number[] = [];
    for (let i = 0; i < 4; i++) {
      await finish(updateAdapter(model, adapter, adam, [sequence], OPTIONS));
      counts.push(tf.memory().numTensors);
    }
    expect(new Set(counts.slice(1)).size).toBe(1);
    adapter.dispose();
    adam.dispose();
  });

  it('refuses a text without labels, a weighted first id, and a text beyond the context', async () => {
    const { adapter, adam } = open();
    const run = (window: WeightedIds) =>
      finish(updateAdapter(model, adapter, adam, [window], OPTIONS));
    await expect(run({ ids: [1, 2], weights: [0, 0] })).rejects.toThrow(/nothing to train on/);
    await expect(run({ ids: [1, 2], weights: [1, 1] })).rejects.toThrow(/first id/);
    const ids = Array.from({ length: 70 }, () => 3);
    const weights = ids.map((_, j) => (j === 0 ? 0 : 1));
    await expect(run({ ids, weights })).rejects.toMatchObject({ code: 'limit' });
    adapter.dispose();
    adam.dispose();
  });
});
