/** Our own vector kernels inside tfjs's WASM memory: finds the memory, makes the module, gives pointers. */

import type { BackendWasm } from '@tensorflow/tfjs-backend-wasm';
import * as tf from '@tensorflow/tfjs-core';
import { SIMD_MODULE } from './module.ts';

/** The module's functions; pointers are byte addresses of f32 arrays in tfjs's memory. */
export interface SimdKernels {
  attention(
    q: number,
    k: number,
    v: number,
    out: number,
    p: number,
    rows: number,
    heads: number,
    kvHeads: number,
    headDim: number,
    start: number,
    window: number,
    scale: number,
  ): void;
  attentionBackward(
    q: number,
    k: number,
    v: number,
    dOut: number,
    dq: number,
    dk: number,
    dv: number,
    p: number,
    dp: number,
    rows: number,
    heads: number,
    kvHeads: number,
    headDim: number,
    window: number,
    scale: number,
  ): void;
}

const made = new WeakMap<BackendWasm, SimdKernels | null>();

/**
 * The kernels over the present backend's memory; null on other backends, without SIMD, and on the
 * threaded build, whose shared memory this module cannot import.
 */
export function simdKernels(): SimdKernels | null {
  if (tf.getBackend() !== 'wasm') return null;
  const backend = tf.backend() as BackendWasm; // the backend of that name
  const known = made.get(backend);
  if (known !== undefined) return known;
  const kernels = instantiate(memoryOf(backend));
  made.set(backend, kernels);
  return kernels;
}

/** Where a tensor's values begin in tfjs's memory. Moves when the tensor is disposed, never before. */
export function pointerOf(tensor: tf.Tensor): number {
  const backend = tf.backend() as BackendWasm; // simdKernels() said so
  return backend.dataIdMap.get(tensor.dataId).memoryOffset;
}

/** Emscripten keeps the instance's exports as `asm`; its type does not say so. */
function memoryOf(backend: BackendWasm): unknown {
  const { asm } = backend.wasm as { asm?: { memory?: unknown } };
  return asm?.memory;
}

function instantiate(memory: unknown): SimdKernels | null {
  if (!(memory instanceof WebAssembly.Memory) || !(memory.buffer instanceof ArrayBuffer))
    return null;
  try {
    const bytes = Uint8Array.from(atob(SIMD_MODULE), (char) => char.charCodeAt(0));
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), {
      env: { memory },
    });
    return exports as unknown as SimdKernels; // what scripts/build-simd.mjs compiled
  } catch {
    return null; // no SIMD in this engine: the typed-array loops do the same work
  }
}
