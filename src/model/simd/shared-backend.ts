/** Lets tfjs's WASM backend start with a memory that threads can share; knows nothing of the threads. */

import * as tf from '@tensorflow/tfjs-core';
import { withSharedMemory } from './shared-memory.ts';

/** True where threads may share memory: in Node, and in a page that is cross-origin isolated. */
export function canShareMemory(): boolean {
  if (typeof SharedArrayBuffer === 'undefined') return false;
  if (globalThis.crossOriginIsolated === false) return false;
  try {
    // As large as tfjs's own may become; some browsers refuse to reserve that much.
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 65536, shared: true });
    return memory.buffer.byteLength > 0;
  } catch {
    return false;
  }
}

/** tfjs's SIMD build with a shared memory; null where it cannot be read or this engine refuses it. */
export async function sharedBuild(
  read: (path: string) => Promise<Uint8Array>,
  path: string,
): Promise<Uint8Array | null> {
  try {
    const bytes = withSharedMemory(await read(path));
    return WebAssembly.validate(bytes as BufferSource) ? bytes : null; // its own copy, not shared
  } catch {
    return null;
  }
}

/**
 * Runs `open`, which must make tfjs fetch its .wasm file by the platform's fetch (`setWasmPaths` with true); what
 * it gets is `build`.
 */
export async function withBuild<T>(build: Uint8Array, open: () => Promise<T>): Promise<T> {
  const { platform } = tf.env();
  const own = platform.fetch;
  platform.fetch = async () => new Response(build as BodyInit); // not in shared memory itself
  try {
    return await open();
  } finally {
    platform.fetch = own;
  }
}
