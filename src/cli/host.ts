/** Where a job runs: this process, or a headless browser where only that has WebGPU. */

import { join } from 'node:path';
import type { BackendEnv } from '../model/device.ts';
import type { BackendName } from '../records.ts';
import { openModel } from './files.ts';
import { type Job, runJob } from './jobs.ts';
import { note } from './output.ts';

export async function runOnHost(
  job: Job,
  options: { readonly model: string; readonly backend: BackendName },
): Promise<unknown> {
  await using source = await openModel(options.model);
  // Awaited here: the file must stay open until the job is done.
  return await runJob(job, { source, backend: options.backend, env: { wasmPaths }, note });
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
