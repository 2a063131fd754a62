/** The closed loop for real: the bundled policy on WebGPU, the world in its worker, snapshots in IndexedDB. */

import * as tf from '@tensorflow/tfjs-core';
import { expect, test } from 'vitest';
import { settingsFor } from '../config.ts';
import { runEpisode } from '../episode.ts';
import { unzipPeft, zipPeft } from '../formats/peft.ts';
import { blobSource } from '../formats/source.ts';
import { cacheFor } from '../model/cache.ts';
import { forward } from '../model/forward.ts';
import { toHf } from '../model/lora-hf.ts';
import type { Boundary, EpisodeEvent, LearnerSnapshot } from '../records.ts';
import { bundledModelUrl, fetchModel } from '../store/models.ts';
import { appendEvent, runEvents } from '../store/runs.ts';
import { loadSnapshot, saveSnapshot } from '../store/snapshots.ts';
import { LoraLearner } from '../train/learner.ts';
import { EngineHost, type EpisodeFaces } from './engine.ts';
import { EnvHost, hostedWorld, type WorkerLike } from './env-host.ts';

const env = 'household/ALFWorld-v0.4';
const task = { env, split: 'train', index: 3 };
const signal = new AbortController().signal;
const probeIds = [1, 5, 9, 30, 7, 2];

/** Logits after a few ids under the adapter as it is now. */
async function logits(faces: EpisodeFaces, engine: EngineHost): Promise<Float32Array> {
  const { model } = engine.loaded;
  if (!(faces.learner instanceof LoraLearner)) throw new Error('The learner has no adapter.');
  using cache = cacheFor(model);
  const row = await forward(model, faces.learner.adapter, cache, probeIds, { logits: 'all' });
  const values = (await row?.data<'float32'>())?.slice() ?? new Float32Array();
  row?.dispose();
  return values;
}

/** Ruins a snapshot's arrays where they lie: whoever still reads them will show it. */
function corrupt({ adapter, optimiser }: LearnerSnapshot): void {
  const arrays = adapter.modules.flatMap(({ aT, bT }) => [aT, bT]);
  for (const array of [...arrays, ...optimiser.m, ...optimiser.v]) array.fill(Number.NaN);
}

test('an episode trains, drifts past a tiny KL limit, and is rolled back from IndexedDB bit for bit', async () => {
  const engine = new EngineHost({ wasmPaths: noWasm, gpu: navigator.gpu }, 'webgpu');
  const url = bundledModelUrl('household', location.origin);
  const { blob, name, sha256 } = await fetchModel(url, signal, () => {}, false);
  await engine.load({ source: blobSource(blob, name), sha256 }, 1024, signal, () => {});
  const weights = engine.loaded.model.matrices.reduce((sum, m) => sum + m.bytesOnDevice, 0);
  expect(weights).toBeLessThanOrEqual(1.05 * engine.loaded.model.tensorBytes);

  const worlds = new EnvHost(
    () => new Worker(new URL('./env.worker.ts', import.meta.url), { type: 'module' }) as WorkerLike,
  );
  const settings = {
    ...settingsFor(env),
    step_limit: 6,
    update_interval_k: 3,
    min_steps_before_first_update: 3,
    novelty_threshold: 0,
    repetition_ratio_limit: 1,
    log_kl_every_n_updates: 2, // the first update is not measured and stays; the second is and trips
    kl_divergence_limit: 1e-7,
    max_tokens: 48,
  };
  const before = tf.memory().numTensors;
  const faces = await engine.episode(task, settings);
  const start = await logits(faces, engine);
  const id = crypto.randomUUID();
  const events: EpisodeEvent[] = [];
  let moved: Float32Array = new Float32Array();
  const ports = {
    policy: faces.policy,
    learner: faces.learner,
    summaries: faces.summaries,
    world: hostedWorld(worlds, 20_000),
    snapshots: {
      async save(snapshot: LearnerSnapshot) {
        await saveSnapshot(id, 'start', snapshot);
        corrupt(snapshot);
      },
      load: () => loadSnapshot(id, 'start'),
    },
    nextOrder: async () => 'continue' as const,
    onProgress: () => {},
  };
  for await (const event of runEpisode(faces.manifest, ports, signal)) {
    await appendEvent(id, event);
    events.push(event);
    if (event.type === 'boundary' && event.outcome === 'updated')
      moved = await logits(faces, engine);
  }

  const boundaries = events.filter((e): e is Boundary => e.type === 'boundary');
  expect(boundaries.map((b) => b.outcome)).toEqual(['updated', 'rolled_back_kl']);
  expect(boundaries[0]?.deltaNorm).toBeGreaterThan(0);
  expect(boundaries[1]?.kl).toBeGreaterThan(1e-7);
  expect(boundaries[1]?.restored).toBe(true);
  expect(moved).not.toEqual(start);
  expect(await logits(faces, engine)).toEqual(start);
  expect(events.filter((e) => e.type === 'step')).toHaveLength(6);
  expect(events.at(-1)).toMatchObject({ reason: 'step_limit', updates: 1, rollbacks: 1 });
  expect(await runEvents(id)).toEqual(events);

  const { adapter } = await faces.learner.snapshot();
  const modules = toHf(adapter, {
    headDim: engine.loaded.model.config.headDim,
    ropeStyle: 'interleaved',
  });
  const back = await unzipPeft(zipPeft(modules, { name: 'household', licence: null }));
  expect(back.map((m) => m.b.values)).toEqual(modules.map((m) => m.b.values));

  faces.dispose();
  worlds.dispose();
  expect(tf.memory().numTensors).toBe(before);
}, 240_000);

/** Never read: this test asks for WebGPU by name. */
const noWasm = {
  'tfjs-backend-wasm.wasm': '',
  'tfjs-backend-wasm-simd.wasm': '',
  'tfjs-backend-wasm-threaded-simd.wasm': '',
};
