/** Our own vector kernels inside tfjs's WASM memory: finds the memory, makes the module, gives pointers. */

import type { BackendWasm } from '@tensorflow/tfjs-backend-wasm';
import * as tf from '@tensorflow/tfjs-core';
import { LabError } from '../../errors.ts';
import { SIMD_MODULE } from './module.ts';

/** The module's functions; pointers are byte addresses in tfjs's memory. The .as.ts files say what each does. */
export interface SimdKernels {
  quantizeRows(
    x: number,
    q: number,
    s: number,
    sums: number,
    tokens: number,
    cols: number,
    block: number,
    tile: number,
  ): void;
  interleaveRows(x: number, out: number, tokens: number, cols: number): void;
  nibblesTimes1(
    w: number,
    q: number,
    s: number,
    sums: number,
    y: number,
    acc: number,
    rows: number,
    blocks: number,
  ): void;
  nibblesTimes4(
    w: number,
    q: number,
    s: number,
    sums: number,
    y: number,
    acc: number,
    panel: number,
    tokens: number,
    rows: number,
    blocks: number,
  ): void;
  nibblesColumns(w: number, out: number, stride: number, panels: number, panelBytes: number): void;
  bytesTimes1(
    w: number,
    q: number,
    s: number,
    sums: number,
    y: number,
    acc: number,
    rows: number,
    blocks: number,
    pairs: number,
    offsets: number,
  ): void;
  bytesTimes4(
    w: number,
    q: number,
    s: number,
    sums: number,
    y: number,
    acc: number,
    tokens: number,
    rows: number,
    blocks: number,
    pairs: number,
    offsets: number,
  ): void;
  bytesColumns(
    w: number,
    out: number,
    stride: number,
    panels: number,
    panelBytes: number,
    pairs: number,
    offsets: number,
  ): void;
  floatsTimes1(
    w: number,
    x: number,
    y: number,
    acc: number,
    rows: number,
    cols: number,
    kind: number,
  ): void;
  floatsTimes4(
    w: number,
    x: number,
    y: number,
    acc: number,
    tokens: number,
    rows: number,
    cols: number,
    kind: number,
  ): void;
  floatsColumns(
    w: number,
    out: number,
    stride: number,
    panels: number,
    panelBytes: number,
    count: number,
    kind: number,
  ): void;
  transposedBlocks(
    w: number,
    stride: number,
    dy: number,
    dx: number,
    tokens: number,
    rows: number,
    cols: number,
    block: number,
    nibbles: number,
    offsets: number,
    from: number,
    to: number,
    work: number,
  ): void;
  transposedFloats(
    w: number,
    stride: number,
    dy: number,
    dx: number,
    tokens: number,
    rows: number,
    cols: number,
    kind: number,
    from: number,
    to: number,
    work: number,
  ): void;
  rmsNorm(x: number, gain: number, y: number, rows: number, cols: number, eps: number): void;
  swiglu(gate: number, up: number, y: number, length: number): void;
  geglu(gate: number, up: number, y: number, length: number): void;
  addRows(y: number, x: number, rows: number, cols: number, stride: number): void;
  rope(
    x: number,
    y: number,
    cos: number,
    sin: number,
    rows: number,
    cols: number,
    half: number,
    start: number,
    second: number,
    stride: number,
    sign: number,
  ): void;
  expSums(z: number, out: number, rows: number, cols: number): void;
  scaledExp(z: number, dz: number, cols: number, max: number, scale: number): void;
  swigluBackward(
    gate: number,
    up: number,
    dy: number,
    dGate: number,
    dUp: number,
    length: number,
  ): void;
  loraAdd(
    y: number,
    x: number,
    aT: number,
    bT: number,
    hidden: number,
    rows: number,
    inputs: number,
    rank: number,
    outputs: number,
    scale: number,
  ): void;
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

function heap(): ArrayBuffer {
  const memory = memoryOf(tf.backend() as BackendWasm); // simdKernels() said so
  if (memory instanceof WebAssembly.Memory) return memory.buffer as ArrayBuffer; // not shared
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
