/**
 * Gives GPU memory back that tfjs keeps for reuse. Its pool holds every buffer that was ever freed, by
 * exact size, for ever: each new length of text would add its own set (110 kB a token for a layer of
 * SmolLM2's width).
 */

import { onGpu } from './ops/host.ts';
import { gpuBackend, submitRecorded } from './ops/program.ts';

/** What may stay in the pool between texts: their last chunks differ in length. */
export const SPARE_BYTES = 64 * 2 ** 20;

/** Destroys the pool's free buffers when together they hold more than `spare` bytes. */
export function trimPool(spare = 0): void {
  if (!onGpu()) return;
  const { bufferManager } = gpuBackend();
  if (bufferManager.numBytesAllocated - bufferManager.numBytesUsed <= spare) return;
  submitRecorded(); // frees what waits for it, and no recorded command may lose a buffer
  // tfjs declares it private; by size and usage, as its acquireBuffer fills it (4.22).
  const free = Reflect.get(bufferManager, 'freeBuffers') as ReadonlyMap<string, GPUBuffer[]>;
  let buffers = 0;
  for (const same of free.values()) {
    for (const buffer of same.splice(0)) {
      buffer.destroy();
      buffers++;
      bufferManager.numBytesAllocated -= buffer.size;
    }
  }
  const counted: unknown = Reflect.get(bufferManager, 'numFreeBuffers');
  Reflect.set(bufferManager, 'numFreeBuffers', Number(counted) - buffers);
}
