/** Where a job runs: this process, or a headless Chromium where only that has WebGPU. */

import { join } from 'node:path';
import { messageOf } from '../errors.ts';
import { bytesSource } from '../formats/source.ts';
import type { BackendEnv } from '../model/device.ts';
import { probeError, probeGpu } from '../model/probe.ts';
import { nodeThreads } from '../model/threads-node.ts';
import type { BackendName, Json } from '../records.ts';
import { runInChromium } from './chromium.ts';
import type { EpisodesJob } from './episodes.ts';
import { openModel } from './files.ts';
import { type Job, runJob } from './jobs.ts';
import { kernelWishes } from './kernels.ts';
import type { Machine } from './machine.ts';
import { note } from './output.ts';

/** What every command that computes is told. */
export interface Where {
  readonly model: string;
  readonly backend: BackendName;
  /** Threads that compute on wasm; as nodeThreads says unless given. */
  readonly threads?: number | undefined;
}

/** What a job hands out and asks, as {@link Machine} says; nothing is taken unless given, words go to stderr. */
export type Hooks = Partial<Pick<Machine, 'emit' | 'keep' | 'note' | 'isOurs'>>;

/** Does a job on the model. */
export async function runOnHost(
  job: Job,
  { model, backend, threads }: Where,
  hooks: Hooks = {},
): Promise<Json> {
  await using source = await openModel(model);
  const kernels = kernelWishes();
  const given = { note, emit: async () => {}, keep: async () => {}, ...hooks };
  const here = (gpu?: GPU) =>
    runJob(job, {
      source,
      backend,
      env: { wasmPaths, gpu, kernels, threads: nodeThreads(threads) },
      ...given,
    });
  if (backend !== 'webgpu') return await here(); // awaited: the file stays open until it is done
  const gpu = await nativeGpu();
  return await (gpu ? here(gpu) : runInChromium(job, source, kernels, given));
}

/** Does a job on a served model: nothing is computed here, and no file is opened. */
export function runRemote(
  job: EpisodesJob,
  emit: Machine['emit'],
  keep: Machine['keep'],
): Promise<Json> {
  const source = bytesSource(new Uint8Array(), 'a served model');
  return runJob(job, { source, backend: 'cpu', env: { wasmPaths }, note, emit, keep });
}

/** The `webgpu` package's entry, where it finds an adapter and opens a device; null where not. */
async function nativeGpu(): Promise<GPU | null> {
  try {
    const { create, globals } = await import('webgpu');
    Object.assign(globalThis, globals);
    const gpu = create([]);
    const probed = await probeGpu(gpu);
    probed.opened?.device.destroy();
    if (probed.opened) {
      // tfjs looks for it there, although it is handed a device; Node 20 has no navigator at all.
      Object.defineProperty(globalThis, 'navigator', { value: { gpu }, configurable: true });
      return gpu;
    }
    note(`In this process: ${probeError(probed).message} Trying a headless Chromium.`);
  } catch (thrown) {
    const why = messageOf(thrown);
    note(`The "webgpu" package did not load (${why}). Trying a headless Chromium.`);
  }
  return null;
}

/** The bundle's own copies. */
const wasmPaths: BackendEnv['wasmPaths'] = {
  'tfjs-backend-wasm.wasm': beside('tfjs-backend-wasm.wasm'),
  'tfjs-backend-wasm-simd.wasm': beside('tfjs-backend-wasm-simd.wasm'),
  'tfjs-backend-wasm-threaded-simd.wasm': beside('tfjs-backend-wasm-threaded-simd.wasm'),
};

function beside(file: string): string {
  return join(import.meta.dirname, file);
}
