/** This engine in a Node process of its own, on WASM or, by the `webgpu` package, on WebGPU; asked by messages. */

import { readFileSync } from 'node:fs';
import { readGguf } from '../../src/formats/gguf.ts';
import { bytesSource } from '../../src/formats/source.ts';
import { openBackend } from '../../src/model/device.ts';
import { nodeThreads } from '../../src/model/threads-node.ts';
import { createTokenizer } from '../../src/text/tokenizer.ts';
import type { Contestant, Work } from './contestant.ts';
import { engineContestant } from './engine.ts';

const [file = '', folder = '', name = ''] = process.argv.slice(2);

/** What the `webgpu` package offers; tfjs looks for it on the navigator, which Node 20 lacks. */
async function nativeGpu(): Promise<GPU> {
  const { create, globals } = await import('webgpu');
  Object.assign(globalThis, globals);
  const gpu = create([]);
  Object.defineProperty(globalThis, 'navigator', { value: { gpu }, configurable: true });
  return gpu;
}

/** Loads the model on the backend that the contestant's name says. */
async function open(): Promise<Contestant> {
  const onGpu = name === 'engine-webgpu-node';
  const backend = await openBackend(onGpu ? 'webgpu' : 'wasm', {
    threads: nodeThreads(name.endsWith('-2') ? 2 : 1),
    gpu: onGpu ? await nativeGpu() : undefined,
    wasmPaths: {
      'tfjs-backend-wasm.wasm': `${folder}/tfjs-backend-wasm.wasm`,
      'tfjs-backend-wasm-simd.wasm': `${folder}/tfjs-backend-wasm-simd.wasm`,
      'tfjs-backend-wasm-threaded-simd.wasm': `${folder}/tfjs-backend-wasm-threaded-simd.wasm`,
    },
  });
  const [began, used] = [performance.now(), processor()];
  const source = bytesSource(new Uint8Array(readFileSync(file)), file);
  const contestant = await engineContestant(backend, source, processor);
  createTokenizer((await readGguf(source)).metadata); // a part of opening a model
  const seconds = ((performance.now() - began) / 1000).toFixed(3);
  const busy = (processor() - used).toFixed(3);
  const device = `${contestant.device}; read and loaded in ${seconds} s (${busy} s of processor time)`;
  return { ...contestant, device };
}

/** Seconds of processor time that this process has used, all threads. */
function processor(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

try {
  const contestant = await open();
  process.on('message', async (work: Work) => process.send?.(await contestant.measure(work)));
  process.send?.(contestant.device);
} catch (thrown) {
  const failed = thrown instanceof Error ? thrown.message : String(thrown);
  process.send?.({ failed }, () => process.exit(1));
}
