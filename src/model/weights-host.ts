/**
 * Knows how one frozen matrix lives on wasm and cpu: its file bytes, and float32 copies made when a
 * product first needs them. Not what the products are.
 */

import * as tf from '@tensorflow/tfjs-core';
import { LabError } from '../errors.ts';
import { byteLength, dequantize, type GgmlType } from '../formats/quants.ts';
import { allocate2D, view } from './ops/host.ts';

/**
 * The wasm heap ends at 4 GiB and XNNPACK keeps a packed copy of every right-hand side, so float32
 * copies count twice; what lies above this bound is left to activations and caches.
 */
const HEAP_BUDGET_BYTES = 3.25 * 2 ** 30;

/** Rows decoded together before they are scattered into the transposed copy: one cache line wide. */
const TRANSPOSE_ROWS = 16;

export class HostWeight {
  readonly kind = 'host';
  #forward: tf.Tensor2D | null = null;
  #backward: tf.Tensor2D | null = null;
  readonly #name: string;
  readonly #type: GgmlType;
  readonly #rows: number;
  readonly #cols: number;
  readonly #bytes: Uint8Array;
  readonly #rowBytes: number;

  /** Keeps `bytes` (not a copy) until disposed. */
  constructor(name: string, type: GgmlType, rows: number, cols: number, bytes: Uint8Array) {
    this.#name = name;
    this.#type = type;
    this.#rows = rows;
    this.#cols = cols;
    this.#bytes = bytes;
    this.#rowBytes = byteLength(type, cols);
  }

  get floatBytes(): number {
    return (this.#forward?.size ?? 0) * 4 + (this.#backward?.size ?? 0) * 4;
  }

  /** W^T [cols, rows], the only form in which wasm's matMul is fast; made once, kept. Borrowed. */
  transposed(): tf.Tensor2D {
    if (this.#forward === null) {
      this.#refuseBeyondHeap();
      this.#forward = tf.keep(this.#decodeTransposed());
    }
    return this.#forward;
  }

  /**
   * Runs `use` with W [rows, cols]. The copy is kept while the heap's budget allows (the backward
   * pass comes back many times), else made and freed for each use.
   */
  withPlain(use: (w: tf.Tensor2D) => tf.Tensor2D): tf.Tensor2D {
    if (this.#backward !== null) return use(this.#backward);
    const w = this.#decodePlain();
    if (copiesWith(0) <= HEAP_BUDGET_BYTES) {
      this.#backward = tf.keep(w);
      return use(w);
    }
    try {
      return use(w);
    } finally {
      w.dispose();
    }
  }

  /** Decodes row `row` into `out`, which holds `cols` values. */
  decodeRow(row: number, out: Float32Array): void {
    const at = row * this.#rowBytes;
    dequantize(this.#type, this.#bytes.subarray(at, at + this.#rowBytes), out);
  }

  dispose(): void {
    this.#forward?.dispose();
    this.#backward?.dispose();
    this.#forward = null;
    this.#backward = null;
  }

  #decodePlain(): tf.Tensor2D {
    const w = allocate2D(this.#rows, this.#cols);
    const values = view(w);
    for (let row = 0; row < this.#rows; row++) {
      this.decodeRow(row, values.subarray(row * this.#cols, (row + 1) * this.#cols));
    }
    return w;
  }

  #decodeTransposed(): tf.Tensor2D {
    const rows = this.#rows;
    const cols = this.#cols;
    const w = allocate2D(cols, rows);
    const values = view(w);
    const block = new Float32Array(TRANSPOSE_ROWS * cols);
    for (let first = 0; first < rows; first += TRANSPOSE_ROWS) {
      const count = Math.min(TRANSPOSE_ROWS, rows - first);
      for (let r = 0; r < count; r++) {
        this.decodeRow(first + r, block.subarray(r * cols, (r + 1) * cols));
      }
      for (let col = 0; col < cols; col++) {
        const at = col * rows + first;
        for (let r = 0; r < count; r++) values[at + r] = block[r * cols + col] as number; // in the block
      }
    }
    return w;
  }

  /** A failed malloc inside the wasm heap is silent and corrupts memory: refuse before it happens. */
  #refuseBeyondHeap(): void {
    const needed = copiesWith(this.#rows * this.#cols * 4);
    if (tf.getBackend() === 'wasm' && needed > HEAP_BUDGET_BYTES) {
      throw new LabError(
        'limit',
        `${this.#name}: the model's float32 copies take ${needed} bytes on WASM, more than ${HEAP_BUDGET_BYTES}. Choose a smaller model, or a browser with WebGPU, where weights stay quantised.`,
        { needed, limit: HEAP_BUDGET_BYTES },
      );
    }
  }
}

/** Bytes of the heap once `more` bytes of tensors are added, packed copies included. */
function copiesWith(more: number): number {
  return 2 * (tf.memory().numBytes + more);
}
