/** Our own vector kernels inside tfjs's WASM memory: finds the memory, makes the module and its threads, gives pointers. */

import type { BackendWasm } from '@tensorflow/tfjs-backend-wasm';
import * as tf from '@tensorflow/tfjs-core';
import { LabError } from '../../errors.ts';
import type { SimdKernels } from './exports.ts';
import type { Helper, ThreadHost } from './helper.ts';
import { SIMD_MODULE } from './module.ts';
import { withSharedMemory } from './shared-memory.ts';
import { Team, teamBytes } from './team.ts';

/** The kernels over one backend's memory. */
interface Made {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  readonly alone: SimdKernels;
  team: Team | null;
}

const made = new WeakMap<BackendWasm, Made | null>();

/** The kernels over the present backend's memory; null on other backends and without SIMD. */
export function simdKernels(): SimdKernels | null {
  const found = madeHere();
  return found && (found.team?.kernels ?? found.alone);
}

/** As {@link simdKernels}, for so many multiply-adds that now come in many calls. */
export function kernelsFor(work: number): SimdKernels | null {
  const found = madeHere();
  return found && (found.team?.kernelsFor(work) ?? found.alone);
}

/** The threads that share the kernels' long calls; null for one thread. */
export function kernelTeam(): Team | null {
  return madeHere()?.team ?? null;
}

/**
 * Starts the helpers of a backend whose memory can be shared, once. Without such a memory, or when one does
 * not start, the kernels stay on one thread.
 */
export async function startTeam({ count, start }: ThreadHost): Promise<void> {
  const found = madeHere();
  if (!found || count < 2 || !isShared(found.memory)) return;
  if (found.team !== null && found.team.threads > 1) return;
  const { module, memory, alone } = found;
  // Lives as long as the memory: helpers of an earlier team may still look at theirs.
  const block = new Block(teamBytes(count));
  heapBytes(block.pointer, block.bytes).fill(0);
  const helpers: Helper[] = [];
  try {
    for (let part = 1; part < count; part++) {
      helpers.push(start({ module, memory, team: block.pointer, part }));
    }
    await Promise.all(helpers.map(({ ready }) => ready));
  } catch {
    for (const helper of helpers) helper.stop();
    return;
  }
  found.team = new Team(alone, memory, block.pointer, helpers, (bytes) => new Block(bytes));
}

function madeHere(): Made | null {
  if (tf.getBackend() !== 'wasm') return null;
  const backend = tf.backend() as BackendWasm; // the backend of that name
  const known = made.get(backend);
  if (known !== undefined) return known;
  const fresh = instantiate(memoryOf(backend));
  made.set(backend, fresh);
  return fresh;
}

/** Where a tensor's values begin in tfjs's memory. Moves when the tensor is disposed, never before. */
export function pointerOf(tensor: tf.Tensor): number {
  const backend = tf.backend() as BackendWasm; // simdKernels() said so
  return backend.dataIdMap.get(tensor.dataId).memoryOffset;
}

/** `length` bytes of tfjs's memory from an address on. A heap that grows detaches it: keep none. */
export function heapBytes(pointer: number, length: number): Uint8Array {
  return new Uint8Array(heap(), pointer, length);
}

/** As {@link heapBytes}, for float32 values. */
export function heapFloats(pointer: number, length: number): Float32Array {
  return new Float32Array(heap(), pointer, length);
}

/** As {@link heapBytes}, for float64 values. */
export function heapDoubles(pointer: number, length: number): Float64Array {
  return new Float64Array(heap(), pointer, length);
}

function heap(): ArrayBufferLike {
  const memory = memoryOf(tf.backend() as BackendWasm); // simdKernels() said so
  if (memory instanceof WebAssembly.Memory) return memory.buffer;
  throw new LabError('internal', 'The WASM backend has no memory.');
}

/** A run of undefined bytes in tfjs's memory, aligned to 16. */
export class Block {
  readonly pointer: number;
  readonly bytes: number;
  readonly #heap: Allocator;
  readonly #from: number;

  /** Throws `limit` when memory has no room left. */
  constructor(bytes: number) {
    const backend = tf.backend() as BackendWasm; // simdKernels() said so
    this.#heap = backend.wasm as unknown as Allocator; // Emscripten's own names
    this.#from = this.#heap._malloc(bytes + ALIGNMENT) >>> 0;
    if (this.#from === 0) {
      throw new LabError(
        'limit',
        `WASM memory has no ${bytes} bytes left. Use a smaller model, a shorter text, or a browser with WebGPU.`,
        { bytes },
      );
    }
    this.pointer = Math.ceil(this.#from / ALIGNMENT) * ALIGNMENT;
    this.bytes = bytes;
  }

  [Symbol.dispose](): void {
    this.#heap._free(this.#from);
  }
}

const ALIGNMENT = 16;

const scratches = new WeakMap<BackendWasm, Block>();

/**
 * The address of `bytes` undefined bytes in tfjs's memory, valid until the next call. It grows and is
 * kept: an op asks once and needs no tensor for what it throws away.
 */
export function scratch(bytes: number): number {
  const backend = tf.backend() as BackendWasm; // simdKernels() said so
  const known = scratches.get(backend);
  if (known !== undefined && known.bytes >= bytes) return known.pointer;
  known?.[Symbol.dispose]();
  scratches.delete(backend);
  const block = new Block(Math.max(bytes, 2 * (known?.bytes ?? 2 ** 14)));
  scratches.set(backend, block);
  return block.pointer;
}

interface Allocator {
  _malloc(bytes: number): number;
  _free(pointer: number): void;
}

/** Emscripten keeps the instance's exports as `asm`; its type does not say so. */
function memoryOf(backend: BackendWasm): unknown {
  const { asm } = backend.wasm as { asm?: { memory?: unknown } };
  return asm?.memory;
}

function isShared({ buffer }: WebAssembly.Memory): boolean {
  return !(buffer instanceof ArrayBuffer);
}

function instantiate(memory: unknown): Made | null {
  if (!(memory instanceof WebAssembly.Memory)) return null;
  try {
    const bytes = Uint8Array.from(atob(SIMD_MODULE), (char) => char.charCodeAt(0));
    const module = new WebAssembly.Module(
      (isShared(memory) ? withSharedMemory(bytes) : bytes) as BufferSource, // its own copy
    );
    const { exports } = new WebAssembly.Instance(module, { env: { memory } });
    // What scripts/build-simd.mjs compiled.
    return { module, memory, alone: exports as unknown as Made['alone'], team: null };
  } catch {
    return null; // no SIMD in this engine: the typed-array loops do the same work
  }
}
