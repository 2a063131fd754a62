/** What a contestant's process or page holds in memory, by the surroundings' own counts. */

import * as tf from '@tensorflow/tfjs-core';
import type { OpenBackend } from '../../src/model/device.ts';
import type { Measured } from './contestant.ts';

/** Chromium's own addition to the standard. */
interface Heap {
  readonly memory?: { readonly usedJSHeapSize: number };
}

export function memoryOf({
  ledger,
}: Pick<OpenBackend, 'ledger'>): Pick<Measured, 'gpuBytes' | 'heapBytes'> {
  const { memory }: Heap = performance as Heap; // where it is not there, it is undefined
  const heap =
    typeof process === 'undefined' ? memory?.usedJSHeapSize : process.memoryUsage().heapUsed;
  // Tensors lie in WASM's memory, or on the plain backend in the heap, outside what V8 counts.
  const tensors = ledger === null ? tf.memory().numBytes : 0;
  return {
    gpuBytes: ledger?.live.bytes ?? null,
    heapBytes: heap === undefined ? null : heap + tensors,
  };
}
