/** The engine worker: device, model, episode loop and stores. It stores an event before it posts it. */

import wasmPlain from '@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm.wasm?url';
import wasmSimd from '@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm?url';
import wasmThreaded from '@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-threaded-simd.wasm?url';
import { serve } from '../rpc.ts';
import { storedKernels } from '../store/kernels.ts';
import type { EngineApi } from './api.ts';
import { EngineHost } from './engine.ts';
import { engineHandlers } from './engine-server.ts';
import { EnvHost, type WorkerLike } from './env-host.ts';
import { pageThreads } from './threads.ts';

const engine = new EngineHost({
  wasmPaths: {
    'tfjs-backend-wasm.wasm': wasmPlain,
    'tfjs-backend-wasm-simd.wasm': wasmSimd,
    'tfjs-backend-wasm-threaded-simd.wasm': wasmThreaded,
  },
  gpu: navigator.gpu,
  threads: pageThreads(),
  kernels: { asked: 'measure', memory: storedKernels },
});

// Built, this script lies in assets/ beside the page; in development Vite serves it from src/workers/.
const pageBase = new URL(import.meta.env.DEV ? '/' : '..', self.location.href).href;

const makeWorld = () =>
  new Worker(new URL('./env.worker.ts', import.meta.url), {
    type: 'module',
    name: 'environment',
  }) as WorkerLike; // a Worker's handlers take more precise events than the ones named there

const worlds = {
  episodes: new EnvHost(makeWorld),
  questions: new EnvHost(makeWorld, 'Ask again: a fresh environment answers.'),
};

serve<EngineApi>(
  self as unknown as Parameters<typeof serve<EngineApi>>[0], // the DOM's `self` is typed as a Window
  engineHandlers(engine, worlds, pageBase),
);
