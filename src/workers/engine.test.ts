import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { randomPolicy } from '../cli/testing-policy.ts';
import { defaultSettings, type Settings } from '../config.ts';
import { bytesSource } from '../formats/source.ts';
import { cacheFor } from '../model/cache.ts';
import { forward } from '../model/forward.ts';
import { startAdapter } from '../model/start-adapter.ts';
import { nodeWasmPaths } from '../model/wasm-paths-node.ts';
import type { LoadProgress } from '../records.ts';
import type { LoraLearner } from '../train/learner.ts';
import { EngineHost, type EpisodeFaces } from './engine.ts';

const bytes = new Uint8Array(
  readFileSync(new URL('../../e2e/fixtures/engine/tiny.gguf', import.meta.url)),
);
const file = (content: Uint8Array, name: string) => ({
  source: bytesSource(content, name),
  sha256: name,
});
const never = new AbortController().signal;

async function lastLogits(engine: EngineHost): Promise<number[]> {
  const { model } = engine.loaded;
  using cache = cacheFor(model);
  const logits = await forward(model, null, cache, [3, 7, 11], { logits: 'last' });
  const row = [...((await logits?.data()) ?? [])];
  logits?.dispose();
  return row;
}

it('a model that does not load, or is stopped, leaves the present one in use', async () => {
  const engine = new EngineHost({ wasmPaths: nodeWasmPaths(import.meta.url) }, 'wasm');
  expect(() => engine.loaded).toThrow(/Load the bundled policy/);
  const phases = new Set<LoadProgress['phase']>();
  const info = await engine.load(file(bytes, 'tiny.gguf'), 4096, never, ({ phase }) => {
    phases.add(phase);
  });
  expect([...phases]).toEqual(['upload', 'warm_up']);
  expect(info).toMatchObject({ architecture: 'llama', layers: 2, contextLength: 64 });
  // As in the file, in whole panels of rows; the file has a header and a vocabulary besides.
  const weights = info.memory.find(({ part }) => part === 'weights')?.bytes ?? 0;
  expect(weights / bytes.length).toBeGreaterThan(0.8);
  expect(weights / bytes.length).toBeLessThan(1);
  const before = await lastLogits(engine);

  const cut = file(bytes.subarray(0, bytes.length - 5000), 'cut.gguf');
  await expect(engine.load(cut, 4096, never, () => {})).rejects.toMatchObject({
    code: 'bad_input',
    message: expect.stringContaining('cut.gguf'),
  });
  const text = file(new TextEncoder().encode('<!doctype html>'), 'page.html');
  await expect(engine.load(text, 4096, never, () => {})).rejects.toThrow(/not a GGUF file/);
  const stop = new AbortController();
  const stopped = engine.load(file(bytes, 'again.gguf'), 4096, stop.signal, () => stop.abort());
  await expect(stopped).rejects.toMatchObject({ code: 'aborted' });

  expect(engine.info).toEqual(info);
  expect(await lastLogits(engine)).toEqual(before);
});

it('weights that an episode works with are not replaced under it, whichever began first', async () => {
  const engine = new EngineHost({ wasmPaths: nodeWasmPaths(import.meta.url) }, 'wasm');
  const load = (onProgress: (progress: LoadProgress) => void = () => {}) =>
    engine.load(file(randomPolicy(1), 'random.gguf'), 4096, never, onProgress);
  await load();
  const task = { env: 'household', split: 'train', index: 0 };
  const settings: Settings = { ...defaultSettings, method: 'frozen' };
  let begun: ReturnType<typeof engine.episode> | null = null;
  const late = load(({ phase }) => {
    if (phase === 'warm_up') begun ??= engine.episode(task, settings);
  });
  await expect(late).rejects.toThrow(/The model is in use/);
  const logits = await lastLogits(engine);
  expect(logits.every(Number.isFinite)).toBe(true);
  await expect(load()).rejects.toThrow(/The model is in use/);
  const server = { baseUrl: 'http://127.0.0.1:9', model: 'm', apiKey: null, timeout: 1 };
  await expect(engine.connect(server, never)).rejects.toThrow(/The model is in use/);

  const faces: EpisodeFaces = await (begun ?? Promise.reject(new Error('no episode began')));
  faces.dispose();
  faces.dispose(); // twice gives it back once
  await expect(load()).resolves.toMatchObject({ architecture: 'llama' });
});

it('a backend that did not open does not stand in the way of the next one', async () => {
  const engine = new EngineHost({ wasmPaths: nodeWasmPaths(import.meta.url) }, 'webgpu');
  await expect(engine.capabilities()).rejects.toMatchObject({ code: 'no_adapter' });
  engine.prefer('wasm');
  expect(await engine.capabilities()).toMatchObject({ backend: 'wasm' });
});

it('an episode starts from a given adapter: policy, rollback and KL begin there', async () => {
  const engine = new EngineHost({ wasmPaths: nodeWasmPaths(import.meta.url) }, 'wasm');
  await engine.load(file(randomPolicy(1), 'random.gguf'), 4096, never, () => {});
  const task = { env: 'household', split: 'train', index: 0 };
  const shape = { lora_rank: 4, lora_alpha: 8, target_modules: ['q_proj', 'v_proj'] } as const;
  const settings: Settings = { ...defaultSettings, ...shape, learning_rate: 0.01 };
  const text = { context: [3], ids: [7, 11, 20], weights: [1, 1, 1] };
  using taught = (await engine.episode(task, settings)).learner as LoraLearner; // a model is loaded here
  await taught.train([text], settings, never, () => {});
  const { adapter } = await taught.snapshot();
  const start = await startAdapter('taught', { modules: [...adapter.modules].reverse() });

  const faces = await engine.episode(task, settings, { startAdapter: start });
  const { learner, manifest } = faces;
  const { name, sha256 } = start;
  expect(manifest.startAdapter).toEqual({ name, sha256 });
  const began = await learner.snapshot();
  expect(began.adapter).toEqual(adapter); // in the order that a fresh one has
  expect(began.optimiser.step).toBe(0);
  const ce = await learner.measure(text, never);
  expect(ce).toEqual(await taught.measure(text, never));
  expect((await learner.driftFromStart(text, 0, never)).meanKl).toBe(0);
  await learner.train([text], settings, never, () => {});
  expect((await learner.driftFromStart(text, 0, never)).meanKl).toBeGreaterThan(1e-6);
  learner.restore(began);
  expect(await learner.measure(text, never)).toEqual(ce);
  faces.dispose();

  const wider = { ...settings, lora_rank: 8 };
  const refused = engine.episode(task, wider, { startAdapter: start });
  await expect(refused).rejects.toThrow(/has rank 4, alpha 8 on q_proj, v_proj; .* rank 8/);
  for (const still of [{ method: 'frozen' }, { enabled: false }, { observe_only: true }] as const) {
    const used = await engine.episode(task, { ...wider, ...still }, { startAdapter: start });
    expect((await used.learner.snapshot()).adapter).toEqual(adapter);
    used.dispose();
  }
  const deeper = { modules: adapter.modules.map((m) => ({ ...m, layer: m.layer + 9 })) };
  const foreign = { ...settings, method: 'frozen' } as const;
  await expect(
    engine.episode(task, foreign, { startAdapter: await startAdapter('deep', deeper) }),
  ).rejects.toThrow(/does not fit this model/);
});
