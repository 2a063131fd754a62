/**
 * Knows how one frozen matrix lives in tfjs's WASM memory for the vector kernels: still quantised,
 * in panels of eight rows, so that a vector's lanes are rows. src/model/simd has each form's layout.
 * Not what the products are.
 */

import * as tf from '@tensorflow/tfjs-core';
import { LabError } from '../errors.ts';
import {
  BLOCK_GROUPS,
  type BlockType,
  emptyBlock,
  isBlockType,
  readBlock,
} from '../formats/quant-blocks.ts';
import { byteLength, dequantize, GGML_LAYOUTS, type GgmlType } from '../formats/quants.ts';
import type { SimdKernels } from './simd/exports.ts';
import { heapBytes, heapFloats, pointerOf, simdKernels } from './simd/kernels.ts';

/** Rows of a panel. */
export const PANEL = 8;

/**
 * The wasm heap ends at 4 GiB; what lies above this bound is left to activations and caches.
 */
export const WASM_WEIGHT_BUDGET = 3.25 * 2 ** 30;

/** How a type lies in the panels: which kernels read it, with which sizes. */
export type PanelForm =
  /** 4-bit values, d and m for 32 columns. */
  | { readonly kind: 'nibbles'; readonly block: 32 }
  /** Signed bytes, d (and m) for `block` columns. */
  | { readonly kind: 'bytes'; readonly block: 16 | 32; readonly offsets: boolean }
  /** Plain numbers; `code` is the kernels' name for float32, float16, bfloat16. */
  | { readonly kind: 'floats'; readonly code: 0 | 1 | 2 };

function panelForm(type: GgmlType): PanelForm {
  switch (type) {
    case 'F32':
      return { kind: 'floats', code: 0 };
    case 'F16':
      return { kind: 'floats', code: 1 };
    case 'BF16':
      return { kind: 'floats', code: 2 };
    case 'Q4_0':
    case 'Q4_1':
    case 'Q4_K':
      return { kind: 'nibbles', block: 32 };
    case 'Q5_0':
    case 'Q5_1':
    case 'Q8_0':
    case 'Q2_K':
    case 'Q3_K':
    case 'Q5_K':
    case 'Q6_K': {
      const { group, offsets } = BLOCK_GROUPS[type];
      return { kind: 'bytes', block: group, offsets };
    }
    default:
      return type satisfies never;
  }
}

/**
 * A model of at most so many parameters is kept as float32, 1 MiB, which stays in the processor's cache: its
 * products are then exact, where rounding x to 16 bits moves logits of small models by up to 1e-3. Beyond
 * the cache that costs speed: the bundled policy's 2.4 million decoded at less than half the rate.
 */
const EXACT_PARAMETERS = 2 ** 18;

/** The type as which matrices of a model of `parameters` in all lie in the panels. */
export function keptType(type: GgmlType, parameters: number): GgmlType {
  return isBlockType(type) && parameters <= EXACT_PARAMETERS ? 'F32' : type;
}

/** Bytes of one block (of `floats`: one column) of a panel. */
export function blockBytes(form: PanelForm): number {
  switch (form.kind) {
    case 'nibbles':
      return (PANEL * form.block) / 2 + 2 * PANEL * 4;
    case 'bytes':
      return PANEL * form.block + (form.offsets ? 2 : 1) * PANEL * 4;
    case 'floats':
      return PANEL * (form.code === 0 ? 4 : 2);
    default:
      return form satisfies never;
  }
}

/** Bytes that a matrix takes in WASM memory. */
export function panelBytes(type: GgmlType, rows: number, cols: number): number {
  const form = panelForm(type);
  const blocks = form.kind === 'floats' ? cols : cols / form.block;
  return Math.ceil(rows / PANEL) * blocks * blockBytes(form);
}

export class SimdWeight {
  readonly kind = 'simd';
  readonly form: PanelForm;
  /** The kernels over the memory in which it lies. */
  readonly kernels: SimdKernels;
  /** Bytes from one panel to the next. */
  readonly stride: number;
  readonly #tensor: tf.Tensor;

  /**
   * Copies `bytes` into WASM memory, decoded where they are `kept` as F32. Throws `limit` when the heap's
   * budget would be exceeded.
   */
  constructor(
    name: string,
    type: GgmlType,
    rows: number,
    cols: number,
    bytes: Uint8Array,
    kept: GgmlType,
  ) {
    const needed = panelBytes(kept, rows, cols);
    refuseBeyondHeap(name, needed);
    const kernels = simdKernels();
    if (kernels === null) throw new LabError('internal', `${name}: there are no vector kernels.`);
    this.kernels = kernels;
    this.form = panelForm(kept);
    this.stride = needed / Math.ceil(rows / PANEL);
    this.#tensor = tf.keep(tf.zeros([needed / 4], 'int32'));
    const panels = {
      bytes: heapBytes(this.pointer, needed),
      floats: heapFloats(this.pointer, needed / 4),
    };
    const rowBytes = byteLength(type, cols);
    const decoded = new Float32Array(kept === type ? 0 : cols);
    for (let row = 0; row < rows; row++) {
      const from = bytes.subarray(row * rowBytes, (row + 1) * rowBytes);
      const at = Math.floor(row / PANEL) * this.stride;
      if (kept !== type) {
        dequantize(type, from, decoded);
        packNumbers(new Uint8Array(decoded.buffer), 4, panels.bytes, at, row % PANEL);
      } else if (isBlockType(type)) packBlocks(type, from, panels, at, row % PANEL, this.form);
      else packNumbers(from, GGML_LAYOUTS[type].typeBytes, panels.bytes, at, row % PANEL);
    }
  }

  /** Byte address of the first panel. */
  get pointer(): number {
    return pointerOf(this.#tensor);
  }

  dispose(): void {
    this.#tensor.dispose();
  }
}

/** The same memory as bytes and as scales. */
interface Panels {
  readonly bytes: Uint8Array;
  readonly floats: Float32Array;
}

/** Row r of the panel at `at`: column k at (k · 8 + r) · size. */
function packNumbers(row: Uint8Array, size: number, out: Uint8Array, at: number, r: number): void {
  for (let k = 0; k * size < row.length; k++) {
    for (let i = 0; i < size; i++) {
      out[at + (k * PANEL + r) * size + i] = row[k * size + i] as number; // within the row
    }
  }
}

const block = emptyBlock();

/** Row r of the panel at `at`, block by block. */
function packBlocks(
  type: BlockType,
  row: Uint8Array,
  panels: Panels,
  at: number,
  r: number,
  form: PanelForm,
): void {
  const { blockSize, typeBytes } = GGML_LAYOUTS[type];
  const { group } = BLOCK_GROUPS[type];
  const size = blockBytes(form);
  const offsets = form.kind === 'nibbles' || (form.kind === 'bytes' && form.offsets);
  let to = at;
  for (let p = 0; p < row.length; p += typeBytes) {
    readBlock(type, row, p, block);
    for (let first = 0; first < blockSize; first += group, to += size) {
      const end =
        form.kind === 'nibbles'
          ? packNibbles(block.q, first, panels.bytes, to, r)
          : packBytes(block.q, first, group, panels.bytes, to, r);
      const g = first / group;
      panels.floats[end / 4 + r] = block.d[g] as number; // g < 16
      if (offsets) panels.floats[end / 4 + PANEL + r] = block.m[g] as number;
    }
  }
}

/** 32 values of row r; returns where the block's scales begin. */
function packNibbles(q: Int8Array, first: number, out: Uint8Array, to: number, r: number): number {
  const lane = to + (r >> 2) * 16 + (r & 3) * 4;
  for (let i = 0; i < 8; i++) {
    const k = first + (i >> 1) * 8 + (i & 1);
    const at = lane + (i >> 1) * 32 + (i & 1) * 2;
    out[at] = (q[k] as number) | ((q[k + 2] as number) << 4); // k + 6 < first + 32
    out[at + 1] = (q[k + 4] as number) | ((q[k + 6] as number) << 4);
  }
  return to + 128;
}

/** As {@link packNibbles}, for `count` signed bytes. */
function packBytes(
  q: Int8Array,
  first: number,
  count: number,
  out: Uint8Array,
  to: number,
  r: number,
): number {
  for (let k = 0; k < count; k += 2) {
    out[to + k * 8 + 2 * r] = q[first + k] as number; // first + k + 1 < 256
    out[to + k * 8 + 2 * r + 1] = q[first + k + 1] as number;
  }
  return to + count * 8;
}

/** A failed malloc inside the wasm heap is silent and corrupts memory: refuse before it happens. */
function refuseBeyondHeap(name: string, bytes: number): void {
  const needed = tf.memory().numBytes + bytes;
  if (needed <= WASM_WEIGHT_BUDGET) return;
  throw new LabError(
    'limit',
    `${name}: with it the model takes ${needed} bytes of WASM memory, more than ${WASM_WEIGHT_BUDGET}. Choose a smaller model, or a browser with WebGPU.`,
    { needed, limit: WASM_WEIGHT_BUDGET },
  );
}
