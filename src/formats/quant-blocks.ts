/**
 * The quantised blocks of ggml as integers with scales: value = d · q + m. Exactly the values of
 * {@link dequantize}, before the multiplication.
 */

import { halfAt } from './half.ts';
import type { GgmlType } from './quants.ts';

/** The types that have blocks; the others are plain numbers. */
export type BlockType = Exclude<GgmlType, 'F32' | 'F16' | 'BF16'>;

export function isBlockType(type: GgmlType): type is BlockType {
  return type in READERS;
}

/** One block (of the K formats: super-block) of a row, reused from block to block. */
export interface QuantBlock {
  /** Integers that fit a signed byte. */
  readonly q: Int8Array;
  /** One d and one m for each group of consecutive values. */
  readonly d: Float32Array;
  readonly m: Float32Array;
}

/** How many consecutive values share d and m, and whether m can differ from 0. */
export interface BlockGroups {
  readonly group: 16 | 32;
  readonly offsets: boolean;
}

/** A block with room for any type. */
export function emptyBlock(): QuantBlock {
  return { q: new Int8Array(256), d: new Float32Array(16), m: new Float32Array(16) };
}

/** Reads the block that begins at byte `p` into `out`, from index 0 on. */
export function readBlock(type: BlockType, bytes: Uint8Array, p: number, out: QuantBlock): void {
  READERS[type](bytes, p, out);
}

export const BLOCK_GROUPS: Readonly<Record<BlockType, BlockGroups>> = {
  Q4_0: { group: 32, offsets: true },
  Q4_1: { group: 32, offsets: true },
  Q5_0: { group: 32, offsets: false },
  Q5_1: { group: 32, offsets: true },
  Q8_0: { group: 32, offsets: false },
  Q2_K: { group: 16, offsets: true },
  Q3_K: { group: 16, offsets: false },
  Q4_K: { group: 32, offsets: true },
  Q5_K: { group: 32, offsets: true },
  Q6_K: { group: 16, offsets: false },
};

type Reader = (b: Uint8Array, p: number, out: QuantBlock) => void;

// `as number` on reads: the caller's block lies within `b`.

/** 16 bytes of nibbles from `p` on: value j in the low nibble of byte j, 16 + j in the high one. */
function nibbles(b: Uint8Array, p: number, q: Int8Array): void {
  for (let j = 0; j < 16; j++) {
    const byte = b[p + j] as number;
    q[j] = byte & 15;
    q[j + 16] = byte >> 4;
  }
}

/** Adds the 32 fifth bits in the four bytes from `p` on. */
function fifths(b: Uint8Array, p: number, q: Int8Array, offset: number): void {
  for (let j = 0; j < 32; j++) {
    const bit = ((b[p + (j >> 3)] as number) >> (j & 7)) & 1;
    q[j] = ((q[j] as number) | (bit << 4)) + offset;
  }
}

const READERS: Readonly<Record<BlockType, Reader>> = {
  Q4_0: (b, p, { q, d, m }) => {
    d[0] = halfAt(b, p);
    m[0] = -8 * halfAt(b, p);
    nibbles(b, p + 2, q);
  },
  Q4_1: (b, p, { q, d, m }) => {
    d[0] = halfAt(b, p);
    m[0] = halfAt(b, p + 2);
    nibbles(b, p + 4, q);
  },
  Q5_0: (b, p, { q, d, m }) => {
    d[0] = halfAt(b, p);
    m[0] = 0;
    nibbles(b, p + 6, q);
    fifths(b, p + 2, q, -16);
  },
  Q5_1: (b, p, { q, d, m }) => {
    d[0] = halfAt(b, p);
    m[0] = halfAt(b, p + 2);
    nibbles(b, p + 8, q);
    fifths(b, p + 4, q, 0);
  },
  Q8_0: (b, p, { q, d, m }) => {
    d[0] = halfAt(b, p);
    m[0] = 0;
    for (let j = 0; j < 32; j++) q[j] = b[p + 2 + j] as number;
  },
  Q2_K: (b, p, { q, d, m }) => {
    for (let g = 0; g < 16; g++) {
      const packed = b[p + g] as number;
      d[g] = halfAt(b, p + 80) * (packed & 15);
      m[g] = -halfAt(b, p + 82) * (packed >> 4);
      twoBits(b, p + 16, g, q);
    }
  },
  Q3_K: (b, p, { q, d, m }) => {
    for (let g = 0; g < 16; g++) {
      const low = ((b[p + 96 + (g & 7)] as number) >> (g < 8 ? 0 : 4)) & 15;
      const top = ((b[p + 104 + (g & 3)] as number) >> ((g >> 2) * 2)) & 3;
      d[g] = halfAt(b, p + 108) * ((low | (top << 4)) - 32);
      m[g] = 0;
      twoBits(b, p + 32, g, q);
      for (let j = 0; j < 16; j++) {
        const third = ((b[p + (g & 1) * 16 + j] as number) >> (g >> 1)) & 1;
        q[g * 16 + j] = (q[g * 16 + j] as number) + (third === 1 ? 0 : -4);
      }
    }
  },
  Q4_K: (b, p, out) => {
    scales6(b, p, out);
    for (let s = 0; s < 8; s++) nibblesOfK(b, p + 16, s, out.q);
  },
  Q5_K: (b, p, out) => {
    scales6(b, p, out);
    for (let s = 0; s < 8; s++) {
      nibblesOfK(b, p + 48, s, out.q);
      for (let j = 0; j < 32; j++) {
        const fifth = ((b[p + 16 + j] as number) >> s) & 1;
        out.q[s * 32 + j] = (out.q[s * 32 + j] as number) | (fifth << 4);
      }
    }
  },
  Q6_K: (b, p, { q, d, m }) => {
    for (let g = 0; g < 16; g++) {
      d[g] = halfAt(b, p + 208) * (((b[p + 192 + g] as number) << 24) >> 24);
      m[g] = 0;
      const part = (g >> 1) & 3; // which 32 of a half's 128 values
      const low = p + (g >> 3) * 64 + (part & 1) * 32 + (g & 1) * 16;
      const high = p + 128 + (g >> 3) * 32 + (g & 1) * 16;
      for (let j = 0; j < 16; j++) {
        const nibble = ((b[low + j] as number) >> ((part >> 1) * 4)) & 15;
        const pair = ((b[high + j] as number) >> (part * 2)) & 3;
        q[g * 16 + j] = (nibble | (pair << 4)) - 32;
      }
    }
  },
};

/** The 16 two-bit values of group `g` of a super-block whose 64 bytes of them begin at `p`. */
function twoBits(b: Uint8Array, p: number, g: number, q: Int8Array): void {
  const from = p + (g >> 3) * 32 + (g & 1) * 16;
  const shift = ((g >> 1) & 3) * 2;
  for (let j = 0; j < 16; j++) q[g * 16 + j] = ((b[from + j] as number) >> shift) & 3;
}

/** The 32 nibbles of sub-block `s` of a super-block whose 128 bytes of them begin at `p`. */
function nibblesOfK(b: Uint8Array, p: number, s: number, q: Int8Array): void {
  const from = p + (s >> 1) * 32;
  const shift = (s & 1) * 4;
  for (let j = 0; j < 32; j++) q[s * 32 + j] = ((b[from + j] as number) >> shift) & 15;
}

/** d and m of Q4_K's and Q5_K's eight sub-blocks: 6-bit scales and mins in 12 bytes after d, dmin. */
function scales6(b: Uint8Array, p: number, { d, m }: QuantBlock): void {
  const scale = halfAt(b, p);
  const min = halfAt(b, p + 2);
  const at = (i: number) => b[p + 4 + i] as number;
  for (let s = 0; s < 8; s++) {
    const low = s < 4 ? at(s) & 63 : (at(s + 4) & 15) | ((at(s - 4) >> 6) << 4);
    const high = s < 4 ? at(s + 4) & 63 : (at(s + 4) >> 4) | ((at(s) >> 6) << 4);
    d[s] = scale * low;
    m[s] = -min * high;
  }
}
