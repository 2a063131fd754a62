/** This engine on WASM in a Node process of its own, asked by messages. */

import { readFileSync } from 'node:fs';
import { bytesSource } from '../../src/formats/source.ts';
import { openBackend } from '../../src/model/device.ts';
import type { Work } from './contestant.ts';
import { engineContestant } from './engine.ts';

const [file = '', folder = ''] = process.argv.slice(2);
const backend = await openBackend('wasm', {
  wasmPaths: {
    'tfjs-backend-wasm.wasm': `${folder}/tfjs-backend-wasm.wasm`,
    'tfjs-backend-wasm-simd.wasm': `${folder}/tfjs-backend-wasm-simd.wasm`,
    'tfjs-backend-wasm-threaded-simd.wasm': `${folder}/tfjs-backend-wasm-threaded-simd.wasm`,
  },
});
const source = bytesSource(new Uint8Array(readFileSync(file)), file);
const contestant = await engineContestant(backend, source);
process.on('message', async (work: Work) => process.send?.(await contestant.measure(work)));
process.send?.(contestant.device);
