/** What the bench's browser runs: one contestant a page, asked again and again. */

import { blobSource } from '../../src/formats/source.ts';
import { openBackend } from '../../src/model/device.ts';
import { pageThreads } from '../../src/workers/threads.ts';
import { bareContestant } from './bare.ts';
import type { Contestant, Measured, Work } from './contestant.ts';
import { engineContestant } from './engine.ts';
import { stockContestant } from './stock.ts';
import { wllamaContestant } from './wllama.ts';

export type PageContestant =
  | 'engine-wasm'
  | 'engine-wasm-2'
  | 'engine-webgpu'
  | 'bare-webgpu'
  | 'stock-wasm'
  | 'stock-webgpu'
  | 'wllama-wasm'
  | 'wllama-wasm-2'
  | 'wllama-webgpu';

declare global {
  interface Window {
    /** Loads `./model`; resolves to what the contestant runs on. */
    benchOpen: (name: PageContestant) => Promise<string>;
    benchMeasure: (work: Work) => Promise<Measured>;
  }
}

const wasmPaths = {
  'tfjs-backend-wasm.wasm': './tfjs-backend-wasm.wasm',
  'tfjs-backend-wasm-simd.wasm': './tfjs-backend-wasm-simd.wasm',
  'tfjs-backend-wasm-threaded-simd.wasm': './tfjs-backend-wasm-threaded-simd.wasm',
};

let contestant: Contestant | null = null;

window.benchOpen = async (name) => {
  const model = await (await fetch('./model')).blob();
  contestant = await open(name, model);
  return contestant.device;
};

window.benchMeasure = async (work) => {
  if (contestant === null) throw new Error('Open a contestant first.');
  return contestant.measure(work);
};

async function open(name: PageContestant, model: Blob): Promise<Contestant> {
  const source = blobSource(model, 'model.gguf');
  const gpu = navigator.gpu;
  switch (name) {
    case 'engine-wasm':
      return engineContestant(await openBackend('wasm', { wasmPaths }), source);
    case 'engine-wasm-2': {
      const threads = { ...pageThreads(), count: 2 };
      return engineContestant(await openBackend('wasm', { wasmPaths, threads }), source);
    }
    case 'engine-webgpu':
      return engineContestant(await openBackend('webgpu', { wasmPaths, gpu }), source);
    case 'bare-webgpu':
      return bareContestant(await openBackend('webgpu', { wasmPaths, gpu }), source);
    case 'stock-wasm':
      return stockContestant(await openBackend('wasm', { wasmPaths }), source);
    case 'stock-webgpu':
      return stockContestant(await openBackend('webgpu', { wasmPaths, gpu }), source);
    case 'wllama-wasm':
      return wllamaContestant(model, './wllama.wasm', 0);
    case 'wllama-wasm-2':
      return wllamaContestant(model, './wllama.wasm', 0, 2);
    case 'wllama-webgpu':
      return wllamaContestant(model, './wllama.wasm', 999);
    default:
      return name satisfies never;
  }
}
