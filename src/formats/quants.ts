/**
 * The ggml number formats: block sizes, and decoding to float32 bit for bit as ggml's reference
 * does (ggml-quants.c, gguf-py quants.py). Knows nothing of files or models.
 */

import { LabError } from '../errors.ts';
import { floatToHalf, halfAt } from './half.ts';

/** The tensor types that this program can decode, by ggml's own names. */
export type GgmlType =
  | 'F32'
  | 'F16'
  | 'BF16'
  | 'Q4_0'
  | 'Q4_1'
  | 'Q5_0'
  | 'Q5_1'
  | 'Q8_0'
  | 'Q2_K'
  | 'Q3_K'
  | 'Q4_K'
  | 'Q5_K'
  | 'Q6_K';

/** How a type is laid out: `typeBytes` bytes hold `blockSize` consecutive values of a row. */
export interface GgmlLayout {
  readonly id: number;
  readonly blockSize: number;
  readonly typeBytes: number;
}

/** Values in a super-block of the K formats. */
const QK_K = 256;

export const GGML_LAYOUTS: Readonly<Record<GgmlType, GgmlLayout>> = {
  F32: { id: 0, blockSize: 1, typeBytes: 4 },
  F16: { id: 1, blockSize: 1, typeBytes: 2 },
  BF16: { id: 30, blockSize: 1, typeBytes: 2 },
  Q4_0: { id: 2, blockSize: 32, typeBytes: 18 },
  Q4_1: { id: 3, blockSize: 32, typeBytes: 20 },
  Q5_0: { id: 6, blockSize: 32, typeBytes: 22 },
  Q5_1: { id: 7, blockSize: 32, typeBytes: 24 },
  Q8_0: { id: 8, blockSize: 32, typeBytes: 34 },
  Q2_K: { id: 10, blockSize: QK_K, typeBytes: 84 },
  Q3_K: { id: 11, blockSize: QK_K, typeBytes: 110 },
  Q4_K: { id: 12, blockSize: QK_K, typeBytes: 144 },
  Q5_K: { id: 13, blockSize: QK_K, typeBytes: 176 },
  Q6_K: { id: 14, blockSize: QK_K, typeBytes: 210 },
};

/** Every {@link GgmlType}, in the order of the table. */
export const GGML_TYPES = Object.keys(GGML_LAYOUTS) as readonly GgmlType[]; // the Record's own keys

/** Bytes of `values` consecutive values; `values` must be a multiple of the block size. */
export function byteLength(type: GgmlType, values: number): number {
  const { blockSize, typeBytes } = GGML_LAYOUTS[type];
  if (values % blockSize !== 0) {
    throw new LabError(
      'bad_input',
      `${values} values do not fill whole ${type} blocks: expected a multiple of ${blockSize}.`,
      { type, values, blockSize },
    );
  }
  return (values / blockSize) * typeBytes;
}

/**
 * Decodes `out.length` values (whole rows or whole blocks) from `bytes`, which may start at any
 * address. Throws `bad_input` when the two lengths do not belong together.
 */
export function dequantize(type: GgmlType, bytes: Uint8Array, out: Float32Array): void {
  const expected = byteLength(type, out.length);
  if (bytes.length !== expected) {
    throw new LabError(
      'bad_input',
      `${out.length} ${type} values take ${expected} bytes; found ${bytes.length}.`,
      { type, expected, found: bytes.length },
    );
  }
  DECODERS[type](bytes, out);
}

// ---------------------------------------------------------------- decoders
// In every product below the exact result fits a double, and the sum is rounded once on the store,
// so the values equal those of float32 arithmetic. `as number` on reads: all indices stay inside
// the lengths that dequantize() has checked, and a test for undefined would cost a third of the time.

/** Every platform that runs engines of this age is little-endian, as the file is. */
function decodeF32(b: Uint8Array, out: Float32Array): void {
  new Uint8Array(out.buffer, out.byteOffset, out.byteLength).set(b);
}

function decodeF16(b: Uint8Array, out: Float32Array): void {
  for (let i = 0; i < out.length; i++) out[i] = halfAt(b, 2 * i);
}

function decodeBF16(b: Uint8Array, out: Float32Array): void {
  const bits = new Uint32Array(out.buffer, out.byteOffset, out.length);
  for (let i = 0, p = 0; i < bits.length; i++, p += 2) {
    bits[i] = ((b[p] as number) << 16) | ((b[p + 1] as number) << 24);
  }
}

/** Block: d; 16 bytes, value j in the low nibble of byte j, value 16 + j in the high one. */
function decodeQ4_0(b: Uint8Array, out: Float32Array): void {
  for (let o = 0, p = 0; o < out.length; o += 32, p += 18) {
    const d = halfAt(b, p);
    for (let j = 0; j < 16; j++) {
      const q = b[p + 2 + j] as number;
      out[o + j] = d * ((q & 15) - 8);
      out[o + j + 16] = d * ((q >> 4) - 8);
    }
  }
}

/** Block: d, m; nibbles as in Q4_0; value = d * q + m. */
function decodeQ4_1(b: Uint8Array, out: Float32Array): void {
  for (let o = 0, p = 0; o < out.length; o += 32, p += 20) {
    const d = halfAt(b, p);
    const m = halfAt(b, p + 2);
    for (let j = 0; j < 16; j++) {
      const q = b[p + 4 + j] as number;
      out[o + j] = d * (q & 15) + m;
      out[o + j + 16] = d * (q >> 4) + m;
    }
  }
}

/** Block: d; 32 fifth bits, little-endian; nibbles as in Q4_0; value = d * (q - 16). */
function decodeQ5_0(b: Uint8Array, out: Float32Array): void {
  for (let o = 0, p = 0; o < out.length; o += 32, p += 22) {
    const d = halfAt(b, p);
    const high = fifthBits(b, p + 2);
    for (let j = 0; j < 16; j++) {
      const q = b[p + 6 + j] as number;
      out[o + j] = d * (((q & 15) | (((high >>> j) & 1) << 4)) - 16);
      out[o + j + 16] = d * (((q >> 4) | (((high >>> (j + 16)) & 1) << 4)) - 16);
    }
  }
}

/** Block: d, m; 32 fifth bits; nibbles; value = d * q + m. */
function decodeQ5_1(b: Uint8Array, out: Float32Array): void {
  for (let o = 0, p = 0; o < out.length; o += 32, p += 24) {
    const d = halfAt(b, p);
    const m = halfAt(b, p + 2);
    const high = fifthBits(b, p + 4);
    for (let j = 0; j < 16; j++) {
      const q = b[p + 8 + j] as number;
      out[o + j] = d * ((q & 15) | (((high >>> j) & 1) << 4)) + m;
      out[o + j + 16] = d * ((q >> 4) | (((high >>> (j + 16)) & 1) << 4)) + m;
    }
  }
}

function fifthBits(b: Uint8Array, p: number): number {
  return (
    (b[p] as number) |
    ((b[p + 1] as number) << 8) |
    ((b[p + 2] as number) << 16) |
    ((b[p + 3] as number) << 24)
  );
}

/** Block: d; 32 signed bytes. */
function decodeQ8_0(b: Uint8Array, out: Float32Array): void {
  for (let o = 0, p = 0; o < out.length; o += 32, p += 34) {
    const d = halfAt(b, p);
    for (let j = 0; j < 32; j++) out[o + j] = d * (((b[p + 2 + j] as number) << 24) >> 24);
  }
}

/** Super-block: 16 bytes of (4-bit scale, 4-bit min), 64 bytes of 2-bit values, d, dmin. */
function decodeQ2K(b: Uint8Array, out: Float32Array): void {
  for (let o = 0, p = 0; o < out.length; o += QK_K, p += 84) {
    const d = halfAt(b, p + 80);
    const dmin = halfAt(b, p + 82);
    for (let group = 0; group < 16; group++) {
      const packed = b[p + group] as number;
      const scale = d * (packed & 15);
      const min = dmin * (packed >> 4);
      const shift = ((group >> 1) & 3) * 2;
      const from = p + 16 + (group >> 3) * 32 + (group & 1) * 16;
      for (let j = 0; j < 16; j++) {
        out[o + group * 16 + j] = scale * (((b[from + j] as number) >> shift) & 3) - min;
      }
    }
  }
}

/** Super-block: 32 bytes of third bits, 64 bytes of 2-bit values, 12 bytes of 6-bit scales, d. */
function decodeQ3K(b: Uint8Array, out: Float32Array): void {
  for (let o = 0, p = 0; o < out.length; o += QK_K, p += 110) {
    const d = halfAt(b, p + 108);
    for (let group = 0; group < 16; group++) {
      const low = ((b[p + 96 + (group & 7)] as number) >> (group < 8 ? 0 : 4)) & 15;
      const top = ((b[p + 104 + (group & 3)] as number) >> ((group >> 2) * 2)) & 3;
      const scale = d * ((low | (top << 4)) - 32);
      const shift = ((group >> 1) & 3) * 2;
      const from = p + 32 + (group >> 3) * 32 + (group & 1) * 16;
      const mask = p + (group & 1) * 16;
      const bit = group >> 1;
      for (let j = 0; j < 16; j++) {
        const third = ((b[mask + j] as number) >> bit) & 1;
        out[o + group * 16 + j] =
          scale * ((((b[from + j] as number) >> shift) & 3) - (third === 1 ? 0 : 4));
      }
    }
  }
}

/**
 * The 6-bit scale of sub-block `s` in the 12 packed bytes at `p` (Q4_K, Q5_K). Sub-blocks 0-3 lie
 * in the low six bits of bytes 0-3; 4-7 take a nibble of bytes 8-11 and the top two bits of 0-3.
 */
function scale6(b: Uint8Array, p: number, s: number): number {
  if (s < 4) return (b[p + s] as number) & 63;
  return ((b[p + s + 4] as number) & 15) | (((b[p + s - 4] as number) >> 6) << 4);
}

/** The 6-bit min that belongs to {@link scale6}: bytes 4-7, and the high nibbles of 8-11. */
function min6(b: Uint8Array, p: number, s: number): number {
  if (s < 4) return (b[p + s + 4] as number) & 63;
  return ((b[p + s + 4] as number) >> 4) | (((b[p + s] as number) >> 6) << 4);
}

/** Super-block: d, dmin, 12 bytes of scales and mins, 128 bytes of nibbles; 8 sub-blocks of 32. */
function decodeQ4K(b: Uint8Array, out: Float32Array): void {
  for (let o = 0, p = 0; o < out.length; o += QK_K, p += 144) {
    const d = halfAt(b, p);
    const dmin = halfAt(b, p + 2);
    for (let s = 0; s < 8; s++) {
      const scale = d * scale6(b, p + 4, s);
      const min = dmin * min6(b, p + 4, s);
      const shift = (s & 1) * 4;
      const from = p + 16 + (s >> 1) * 32;
      for (let j = 0; j < 32; j++) {
        out[o + s * 32 + j] = scale * (((b[from + j] as number) >> shift) & 15) - min;
      }
    }
  }
}

/** As Q4_K, with 32 bytes of fifth bits (bit s of byte j for sub-block s) before the nibbles. */
function decodeQ5K(b: Uint8Array, out: Float32Array): void {
  for (let o = 0, p = 0; o < out.length; o += QK_K, p += 176) {
    const d = halfAt(b, p);
    const dmin = halfAt(b, p + 2);
    for (let s = 0; s < 8; s++) {
      const scale = d * scale6(b, p + 4, s);
      const min = dmin * min6(b, p + 4, s);
      const shift = (s & 1) * 4;
      const from = p + 48 + (s >> 1) * 32;
      for (let j = 0; j < 32; j++) {
        const low = ((b[from + j] as number) >> shift) & 15;
        const fifth = ((b[p + 16 + j] as number) >> s) & 1;
        out[o + s * 32 + j] = scale * (low | (fifth << 4)) - min;
      }
    }
  }
}

/** Super-block: 128 bytes of low nibbles, 64 of high bit pairs, 16 signed scales, d. */
function decodeQ6K(b: Uint8Array, out: Float32Array): void {
  for (let o = 0, p = 0; o < out.length; o += QK_K, p += 210) {
    const d = halfAt(b, p + 208);
    for (let group = 0; group < 16; group++) {
      const scale = d * (((b[p + 192 + group] as number) << 24) >> 24);
      const part = (group >> 1) & 3; // which 32 of a half's 128 values
      const at = (group & 1) * 16;
      const low = p + (group >> 3) * 64 + (part & 1) * 32 + at;
      const high = p + 128 + (group >> 3) * 32 + at;
      const nibble = (part >> 1) * 4;
      for (let j = 0; j < 16; j++) {
        const q =
          (((b[low + j] as number) >> nibble) & 15) |
          ((((b[high + j] as number) >> (part * 2)) & 3) << 4);
        out[o + group * 16 + j] = scale * (q - 32);
      }
    }
  }
}

const DECODERS: Readonly<Record<GgmlType, (bytes: Uint8Array, out: Float32Array) => void>> = {
  F32: decodeF32,
  F16: decodeF16,
  BF16: decodeBF16,
  Q4_0: decodeQ4_0,
  Q4_1: decodeQ4_1,
  Q5_0: decodeQ5_0,
  Q5_1: decodeQ5_1,
  Q8_0: decodeQ8_0,
  Q2_K: decodeQ2K,
  Q3_K: decodeQ3K,
  Q4_K: decodeQ4K,
  Q5_K: decodeQ5K,
  Q6_K: decodeQ6K,
};

// ---------------------------------------------------------------- encoder

/** The types that {@link quantize} writes. */
export type WritableType = 'F32' | 'F16' | 'BF16' | 'Q8_0';

/** Encodes float32 values as ggml's reference quantiser does; lengths as in {@link dequantize}. */
export function quantize(type: WritableType, values: Float32Array): Uint8Array {
  const out = new Uint8Array(byteLength(type, values.length));
  switch (type) {
    case 'F32':
      out.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
      return out;
    case 'F16':
      for (let i = 0; i < values.length; i++) putHalf(out, i * 2, values[i] as number);
      return out;
    case 'BF16':
      encodeBF16(values, out);
      return out;
    case 'Q8_0':
      encodeQ8_0(values, out);
      return out;
    default:
      return type satisfies never;
  }
}

/** The upper half of the float32, rounded to nearest, ties to even; a NaN stays one. */
function encodeBF16(values: Float32Array, out: Uint8Array): void {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  for (let i = 0; i < bits.length; i++) {
    const word = bits[i] as number;
    const nan = (word & 0x7fffffff) > 0x7f800000;
    const upper = nan ? (word >>> 16) | 64 : (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
    out[2 * i] = upper & 255;
    out[2 * i + 1] = (upper >> 8) & 255;
  }
}

/** d = max|x| / 127 in float32, q = round(x / d) with halves away from zero, d stored as float16. */
function encodeQ8_0(x: Float32Array, out: Uint8Array): void {
  for (let o = 0, p = 0; o < x.length; o += 32, p += 34) {
    let largest = 0;
    for (let j = 0; j < 32; j++) largest = Math.max(largest, Math.abs(x[o + j] as number));
    const d = Math.fround(largest / 127);
    const inverse = d === 0 ? 0 : Math.fround(1 / d);
    putHalf(out, p, d);
    for (let j = 0; j < 32; j++) {
      const scaled = Math.fround((x[o + j] as number) * inverse);
      out[p + 2 + j] = Math.sign(scaled) * Math.floor(Math.abs(scaled) + 0.5);
    }
  }
}

function putHalf(out: Uint8Array, p: number, value: number): void {
  const bits = floatToHalf(value);
  out[p] = bits & 255;
  out[p + 1] = bits >> 8;
}
