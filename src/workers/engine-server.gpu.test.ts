/** The engine's API for real, in a page with WebGPU and IndexedDB: stops, failures and what they leave behind. */

import * as tf from '@tensorflow/tfjs-core';
import { expect, test } from 'vitest';
import { type Settings, settingsFor } from '../config.ts';
import { FIXED, writeChoice } from '../model/variants.ts';
import type { EpisodeEvent, Progress } from '../records.ts';
import type { RunItem } from './api.ts';
import { EngineHost } from './engine.ts';
import { engineHandlers } from './engine-server.ts';
import { EnvHost, type WorkerLike } from './env-host.ts';

const env = 'household/ALFWorld-v0.4';
const task = { env, split: 'train', index: 3 };
const noWasm = {
  'tfjs-backend-wasm.wasm': '',
  'tfjs-backend-wasm-simd.wasm': '',
  'tfjs-backend-wasm-threaded-simd.wasm': '',
};
const settings: Settings = {
  ...settingsFor(env),
  step_limit: 4,
  update_interval_k: 2,
  min_steps_before_first_update: 2,
  novelty_threshold: 0,
  repetition_ratio_limit: 1,
  max_tokens: 24,
  context_length: 1024,
};

function start() {
  const engine = new EngineHost({ wasmPaths: noWasm, gpu: navigator.gpu }, 'webgpu');
  const worlds = new EnvHost(
    () => new Worker(new URL('./env.worker.ts', import.meta.url), { type: 'module' }) as WorkerLike,
  );
  const hosts = { episodes: worlds, questions: worlds };
  const { calls, streams } = engineHandlers(engine, hosts, location.origin);
  const never = new AbortController().signal;
  const load = async () => {
    const ref = { kind: 'bundled', name: 'household' } as const;
    for await (const _ of streams.loadModel({ ref, contextLength: 1024 }, never));
  };
  /** Runs an episode; `on` hears every item and may act. The events, and when the run's last item came. */
  const run = async (on: (item: RunItem, id: string) => void, over: Partial<Settings> = {}) => {
    const events: EpisodeEvent[] = [];
    let id = '';
    const input = { task, settings: { ...settings, ...over }, summaryServer: null };
    for await (const item of streams.run(input, never)) {
      if (item.kind === 'started') id = item.run.id;
      if (item.kind === 'event') events.push(item.event);
      on(item, id);
    }
    return { id, events, end: events.at(-1) };
  };
  /** tfjs keeps freed buffers for later use, so its own are counted by what is in use. */
  const held = async () => {
    const { ledger } = await engine.backend();
    const purposes = [...(ledger?.livePurposes() ?? [])].filter(([purpose]) => purpose !== 'tfjs');
    const { numTensors, numBytes } = tf.memory();
    return { numTensors, numBytes, purposes };
  };
  return { engine, worlds, calls, load, run, held };
}

const progressOf = (item: RunItem): Progress | null =>
  item.kind === 'progress' ? item.progress : null;

test('a stop in mid-generation and in mid-update, and a world that fails, leave no tensor and no buffer', async () => {
  const { worlds, calls, load, run, held } = start();
  await load();
  await run(() => {}, { step_limit: 2 }); // what is made once is made
  const before = await held();
  let asked = 0;
  const stopped = await run((item, id) => {
    const progress = progressOf(item);
    if (progress?.type !== 'token' || progress.t !== 2 || asked > 0) return;
    asked = performance.now();
    calls.control({ id, command: 'stop' }, new AbortController().signal);
  });
  expect(performance.now() - asked).toBeLessThan(1000);
  expect(stopped.end).toMatchObject({ reason: 'stopped', t: 1 });
  expect(await held()).toEqual(before);

  asked = 0;
  const training = await run((item, id) => {
    const progress = progressOf(item);
    if (progress?.type !== 'phase' || progress.phase !== 'train' || asked > 0) return;
    asked = performance.now();
    calls.control({ id, command: 'stop' }, new AbortController().signal);
  });
  expect(performance.now() - asked).toBeLessThan(1000);
  expect(training.end).toMatchObject({ reason: 'stopped', t: 2, updates: 0 });
  expect(await held()).toEqual(before);

  const broken = await run(
    (item) => {
      if (item.kind === 'event' && item.event.type === 'step') worlds.dispose();
    },
    { step_timeout: 0.000001 },
  );
  expect(broken.end).toMatchObject({ reason: 'environment_error' });
  expect(await held()).toEqual(before);
  worlds.dispose();
}, 240_000);

test('a device that fails in mid-generation ends the run with its reason; the next load gets a new one', async () => {
  const { engine, worlds, load, run } = start();
  await load();
  const backend = tf.backend() as unknown as { readonly device: GPUDevice };
  let broken = false;
  const { end, events } = await run((item) => {
    const progress = progressOf(item);
    if (progress?.type !== 'token' || progress.t !== 2 || broken) return;
    broken = true;
    const { device } = backend;
    const buffer = device.createBuffer({ size: 16, usage: GPUBufferUsage.MAP_READ });
    device.queue.writeBuffer(buffer, 0, new Float32Array(4)); // no COPY_DST: refused, and no call throws
  });
  expect(events.filter((event) => event.type === 'step')).toHaveLength(1);
  expect(end).toMatchObject({ reason: 'engine_error', error: { code: 'internal' } });
  expect(end).toMatchObject({ error: { message: expect.stringContaining('The GPU refused') } });
  await expect(async () => engine.loaded).rejects.toThrow(/No model is loaded/);
  await load();
  const again = await run(() => {}, { step_limit: 1 });
  expect(again.end).toMatchObject({ reason: 'step_limit' });

  // What repeats a record uses the kernels of the record, what is new those of this adapter.
  const older = 'matvec=workgroup matmul=registers transpose=wide attention=workgroup';
  const recorded = `${older} prefill=wide`;
  const fixed = writeChoice(FIXED);
  for (const [asked, used] of [
    [recorded, recorded],
    [older, `${older} prefill=registers`],
    ['one submit, 8 lanes a row', fixed],
    [undefined, fixed],
  ]) {
    const faces = await engine.episode(task, settings, asked ? { kernels: asked } : {});
    expect(faces.manifest.kernels).toBe(used);
    faces.dispose();
  }
  worlds.dispose();
}, 240_000);
