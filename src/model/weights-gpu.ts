/**
 * Knows how one frozen matrix lives in GPU memory: quantised as in the file, its float16 numbers
 * apart from its words so that both are aligned. Never a float32 copy. Not what the products are.
 */

import * as tf from '@tensorflow/tfjs-core';
import { LabError } from '../errors.ts';
import { byteLength, GGML_LAYOUTS, type GgmlType } from '../formats/quants.ts';
import { gpuBackend, submitRecorded } from './ops/program.ts';
import { GPU_FORMATS, isPlain } from './ops/wgsl-decode.ts';

/** File bytes repacked and sent at a time: keeps the extra memory of an upload small. */
const SLICE_BYTES = 4 * 2 ** 20;

/** Rows first … first + rows - 1 of the matrix, small enough to be bound at once. */
export interface Shard {
  readonly first: number;
  readonly rows: number;
  /** Words, then float16 numbers where the type has them: what the kernels bind. */
  readonly planes: readonly tf.Tensor1D[];
}

interface Plane {
  readonly buffer: GPUBuffer;
  readonly tensor: tf.Tensor1D;
}

export class GpuWeight {
  readonly kind = 'gpu';
  readonly shards: readonly Shard[];
  /** Bytes of all its buffers. */
  readonly bytes: number;
  readonly #planes: Plane[] = [];

  /** Copies `bytes` to the GPU. Throws `limit` when not even one row can be bound. */
  constructor(name: string, type: GgmlType, rows: number, cols: number, bytes: Uint8Array) {
    const perRow = planeBytes(type, cols);
    const limits = gpuBackend().device.limits;
    const limit = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
    const largest = Math.max(perRow.words, perRow.halves);
    // Even, so that each shard's float16 numbers start on a whole word.
    const most = 2 * Math.floor(limit / largest / 2);
    if (most < 1) {
      throw new LabError(
        'limit',
        `${name}: two rows take ${2 * largest} bytes, more than the GPU's binding limit of ${limit}. Use the WASM backend.`,
        { bytes: 2 * largest, limit },
      );
    }
    const shards: Shard[] = [];
    const rowBytes = byteLength(type, cols);
    for (let first = 0; first < rows; first += most) {
      const count = Math.min(most, rows - first);
      const words = this.#plane(name, perRow.words * count);
      const halves = perRow.halves === 0 ? null : this.#plane(name, perRow.halves * count);
      const part = bytes.subarray(first * rowBytes, (first + count) * rowBytes);
      upload(type, count, cols, part, words.buffer, halves?.buffer ?? null);
      const planes = halves === null ? [words.tensor] : [words.tensor, halves.tensor];
      shards.push({ first, rows: count, planes });
    }
    this.shards = shards;
    this.bytes = this.#planes.reduce((sum, { buffer }) => sum + buffer.size, 0);
  }

  dispose(): void {
    submitRecorded(); // kernels that read the buffers among it
    for (const { buffer, tensor } of this.#planes.splice(0)) {
      tensor.dispose();
      buffer.destroy();
    }
  }

  /** A buffer of our own, labelled for the ledger, as a tensor that tfjs can bind but never frees. */
  #plane(name: string, bytes: number): Plane {
    const size = 4 * Math.ceil(bytes / 4);
    const backend = gpuBackend();
    const buffer = backend.device.createBuffer({
      label: `weights:${name}`,
      size,
      usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC,
    });
    const tensor = backend.createTensorFromGPUData({ buffer, zeroCopy: true }, [size / 4], 'int32');
    const plane = { buffer, tensor: tf.keep(tensor) as tf.Tensor1D }; // one dimension, above
    this.#planes.push(plane);
    return plane;
  }
}

/** Bytes of one row in each plane; the plain types are padded to four values a row. */
function planeBytes(type: GgmlType, cols: number): { words: number; halves: number } {
  const { words, halves } = GPU_FORMATS[type];
  const blocks = isPlain(type) ? Math.ceil(cols / 4) : cols / GGML_LAYOUTS[type].blockSize;
  return { words: blocks * words * 4, halves: blocks * halves * 2 };
}

function upload(
  type: GgmlType,
  rows: number,
  cols: number,
  bytes: Uint8Array,
  words: GPUBuffer,
  halves: GPUBuffer | null,
): void {
  const { queue } = gpuBackend().device;
  const rowBytes = byteLength(type, cols);
  const perRow = planeBytes(type, cols);
  const step = 2 * Math.max(1, Math.floor(SLICE_BYTES / rowBytes / 2));
  for (let first = 0; first < rows; first += step) {
    const count = Math.min(step, rows - first);
    const slice = bytes.subarray(first * rowBytes, (first + count) * rowBytes);
    const packed = isPlain(type)
      ? { words: padRows(slice, count, rowBytes, perRow.words), halves: null }
      : splitPlanes(type, slice);
    queue.writeBuffer(words, first * perRow.words, packed.words);
    if (halves !== null && packed.halves !== null) {
      queue.writeBuffer(halves, first * perRow.halves, packed.halves);
    }
  }
}

/** Rows of plain numbers, each padded with zeros to `padded` bytes; as they are where that is so. */
function padRows(
  bytes: Uint8Array,
  rows: number,
  rowBytes: number,
  padded: number,
): Uint8Array<ArrayBuffer> {
  if (rowBytes === padded) return new Uint8Array(bytes); // also leaves a shared or odd buffer behind
  const out = new Uint8Array(rows * padded);
  for (let row = 0; row < rows; row++) {
    out.set(bytes.subarray(row * rowBytes, (row + 1) * rowBytes), row * padded);
  }
  return out;
}

/** Separates the float16 numbers of each block from its words; a lone last one is padded. */
function splitPlanes(
  type: GgmlType,
  bytes: Uint8Array,
): { words: Uint16Array<ArrayBuffer>; halves: Uint16Array<ArrayBuffer> } {
  const { words: wordsPerBlock, halves: halvesPerBlock, halvesFirst } = GPU_FORMATS[type];
  // Every block is a whole number of 16-bit units; a view needs an even address.
  const aligned = bytes.byteOffset % 2 === 0 ? bytes : new Uint8Array(bytes);
  const units = new Uint16Array(aligned.buffer, aligned.byteOffset, aligned.length / 2);
  const perBlock = 2 * wordsPerBlock + halvesPerBlock;
  const blocks = units.length / perBlock;
  const words = new Uint16Array(blocks * 2 * wordsPerBlock);
  const halves = new Uint16Array(2 * Math.ceil((blocks * halvesPerBlock) / 2));
  const wordsAt = halvesFirst ? halvesPerBlock : 0;
  const halvesAt = halvesFirst ? 0 : 2 * wordsPerBlock;
  for (let block = 0, from = 0, w = 0, h = 0; block < blocks; block++, from += perBlock) {
    // All reads lie in the block: quants.ts has checked the length.
    for (let i = 0; i < halvesPerBlock; i++) halves[h++] = units[from + halvesAt + i] as number;
    for (let i = 0; i < 2 * wordsPerBlock; i++) words[w++] = units[from + wordsAt + i] as number;
  }
  return { words, halves };
}
