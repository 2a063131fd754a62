/**
 * How each ggml type lies in GPU memory and how WGSL decodes it: one entry a type. A matrix is one
 * plane of 32-bit words and, where blocks have float16 numbers, a second plane of those, two a word;
 * together they take as many bytes as the file. Kernels read a row in chunks of 32 values and a chunk
 * in four steps j = 0 … 3, each of two vec4: values 4j … 4j + 3 and 16 + 4j … 16 + 4j + 3, which is
 * how nibbles are packed. value = scale · decoded + offset, so that both are applied once a chunk.
 * The bytes of a word are masked where they stand instead of shifted down, so that byte k comes 256^k
 * times too large; whoever multiplies takes that back once, from the other factor. Powers of two, so no
 * bit is lost: on SwiftShader, which shifts lane by lane, one row of x went 1.6 times as fast.
 * Loops instead of unrolled code: as fast on SwiftShader, and a third of the time to compile.
 */

import { GGML_LAYOUTS, type GgmlType } from '../../formats/quants.ts';

export interface GpuFormat {
  /** 32-bit words and float16 numbers of one block; for the plain types, of four values. */
  readonly words: number;
  readonly halves: 0 | 1 | 2;
  /** In the file the float16 numbers stand before the words of a block, else after them. */
  readonly halvesFirst: boolean;
  /** How many words an element of the bound array holds. */
  readonly components: 1 | 2 | 4;
  /** WGSL functions that the snippets call. */
  readonly prelude: string;
  /** Statements that prepare chunk `chunk` of row `row`; every name they declare ends in `s`. */
  readonly open: (s: string, row: string, chunk: string) => string;
  /** True: component k of a decoded vec4 is 256^k times the value; PLACES in the prelude has the factors. */
  readonly placed: boolean;
  /** The two vec4<f32> of step `j` (a u32 in scope), before scale and offset. */
  readonly low: (s: string) => string;
  readonly high: (s: string) => string;
  /** The chunk's scale and offset, or null where the decoded values have them already. */
  readonly scale: ((s: string) => string) | null;
  readonly offset: ((s: string) => string) | null;
}

/** An expression that is multiplied with decoded values, or holds them, without the factors of their places. */
export function unplaced({ placed }: GpuFormat, expression: string): string {
  return placed ? `(${expression}) * UNPLACES` : expression;
}

/** True for types whose rows are plain numbers, padded to four values; the others have blocks. */
export function isPlain(type: GgmlType): boolean {
  return GGML_LAYOUTS[type].blockSize === 1;
}

/** half(i): float16 number i of the second plane. */
const HALF = `
fn half(i : u32) -> f32 {
  let pair = unpack2x16float(bitcast<u32>(halves[i >> 1u]));
  return select(pair.x, pair.y, (i & 1u) == 1u);
}`;

/** pairOf(i): both float16 numbers of block i. */
const PAIR = `
fn pairOf(i : u32) -> vec2<f32> { return unpack2x16float(bitcast<u32>(halves[i])); }`;

/** bytesOf: four bytes of a word, shifted right and masked. Through i32: cheaper than u32. */
const BYTES = `
const PLACES = vec4<f32>(0x1p0, 0x1p8, 0x1p16, 0x1p24);
const UNPLACES = vec4<f32>(0x1p0, 0x1p-8, 0x1p-16, 0x1p-24);
fn bytesOf(word : i32, shift : u32, mask : i32) -> vec4<f32> {
  return vec4<f32>(vec4<i32>(word >> shift) & (mask * vec4<i32>(1, 1 << 8, 1 << 16, 1 << 24)));
}`;

/** The index of a chunk in a matrix whose rows are whole blocks. */
const chunkIndex = (row: string, chunk: string) => `${row} * uniforms.chunks + ${chunk}`;

const plain = {
  halves: 0,
  halvesFirst: true,
  placed: false,
  prelude: '',
  scale: null,
  offset: null,
  open: (s: string, row: string, chunk: string) =>
    `let at${s} = ${row} * uniforms.quads + ${chunk} * 8u;`,
} as const;

const F32: GpuFormat = {
  ...plain,
  words: 4,
  components: 4,
  low: (s) => `bitcast<vec4<f32>>(words[at${s} + j])`,
  high: (s) => `bitcast<vec4<f32>>(words[at${s} + 4u + j])`,
};

const F16: GpuFormat = {
  ...plain,
  words: 2,
  components: 2,
  prelude: `
fn fourHalves(pair : vec2<i32>) -> vec4<f32> {
  let bits = bitcast<vec2<u32>>(pair);
  return vec4<f32>(unpack2x16float(bits.x), unpack2x16float(bits.y));
}`,
  low: (s) => `fourHalves(words[at${s} + j])`,
  high: (s) => `fourHalves(words[at${s} + 4u + j])`,
};

const BF16: GpuFormat = {
  ...plain,
  words: 2,
  components: 2,
  prelude: `
fn fourBrains(pair : vec2<i32>) -> vec4<f32> {
  let bits = vec4<i32>(pair.x << 16u, pair.x, pair.y << 16u, pair.y) & vec4<i32>(-65536);
  return bitcast<vec4<f32>>(bits);
}`,
  low: (s) => `fourBrains(words[at${s} + j])`,
  high: (s) => `fourBrains(words[at${s} + 4u + j])`,
};

const Q4_0: GpuFormat = {
  words: 4,
  halves: 1,
  halvesFirst: true,
  components: 1,
  placed: true,
  prelude: HALF + BYTES,
  open: (s, row, chunk) => `let c${s} = ${chunkIndex(row, chunk)}; let d${s} = half(c${s});`,
  low: (s) => `bytesOf(words[c${s} * 4u + j], 0u, 15)`,
  high: (s) => `bytesOf(words[c${s} * 4u + j], 4u, 15)`,
  scale: (s) => `d${s}`,
  offset: (s) => `(-8.0 * d${s})`,
};

const Q4_1: GpuFormat = {
  ...Q4_0,
  halves: 2,
  prelude: PAIR + BYTES,
  open: (s, row, chunk) => `let c${s} = ${chunkIndex(row, chunk)}; let dm${s} = pairOf(c${s});`,
  scale: (s) => `dm${s}.x`,
  offset: (s) => `dm${s}.y`,
};

/** Adds four of the 32 fifth bits, from bit `at` on, to four nibbles. */
const FIFTH = `
fn withFifth(nibbles : vec4<f32>, bits : i32, at : u32) -> vec4<f32> {
  let ones = vec4<f32>(vec4<i32>(bits >> at) & vec4<i32>(1, 2, 4, 8));
  return nibbles + ones * vec4<f32>(0x1p4, 0x1p11, 0x1p18, 0x1p25);
}`;

const Q5_0: GpuFormat = {
  words: 5, // 1 of fifth bits, 4 of nibbles
  halves: 1,
  halvesFirst: true,
  components: 1,
  placed: true,
  prelude: HALF + BYTES + FIFTH,
  open: (s, row, chunk) =>
    `let c${s} = ${chunkIndex(row, chunk)}; let h${s} = words[c${s} * 5u]; let d${s} = half(c${s});`,
  low: (s) => `withFifth(bytesOf(words[c${s} * 5u + 1u + j], 0u, 15), h${s}, 4u * j)`,
  high: (s) => `withFifth(bytesOf(words[c${s} * 5u + 1u + j], 4u, 15), h${s}, 16u + 4u * j)`,
  scale: (s) => `d${s}`,
  offset: (s) => `(-16.0 * d${s})`,
};

const Q5_1: GpuFormat = {
  ...Q5_0,
  halves: 2,
  prelude: PAIR + BYTES + FIFTH,
  open: (s, row, chunk) =>
    `let c${s} = ${chunkIndex(row, chunk)}; let h${s} = words[c${s} * 5u]; let dm${s} = pairOf(c${s});`,
  scale: (s) => `dm${s}.x`,
  offset: (s) => `dm${s}.y`,
};

const Q8_0: GpuFormat = {
  words: 8,
  halves: 1,
  halvesFirst: true,
  components: 1,
  placed: true,
  // The last byte has the word's sign; the others are made positive by adding 128.
  prelude: `${HALF}${BYTES}
fn signedBytes(word : i32) -> vec4<f32> {
  let bytes = vec4<i32>(word ^ 0x808080) & vec4<i32>(0xff, 0xff00, 0xff0000, -1 << 24);
  return vec4<f32>(bytes) - vec4<f32>(0x1p7, 0x1p15, 0x1p23, 0.0);
}`,
  open: (s, row, chunk) => `let c${s} = ${chunkIndex(row, chunk)}; let d${s} = half(c${s});`,
  low: (s) => `signedBytes(words[c${s} * 8u + j])`,
  high: (s) => `signedBytes(words[c${s} * 8u + 4u + j])`,
  scale: (s) => `d${s}`,
  offset: null,
};

/** Opens a chunk of a super-block of `words` words: block b, sub-block u of eight, first word at. */
const superBlock = (words: number) => (s: string, row: string, chunk: string) =>
  `let c${s} = ${chunkIndex(row, chunk)}; let b${s} = c${s} >> 3u; let u${s} = c${s} & 7u; let at${s} = b${s} * ${words}u;`;

/** The 6-bit scale (or min, given the mins' word) of sub-block u; quants.ts has the layout. */
const SCALE6 = `
fn scale6(low : i32, high : i32, nibble : u32, u : u32) -> f32 {
  let k = 8u * (u & 3u);
  let below = (low >> k) & 63;
  let above = ((high >> (k + nibble)) & 15) | (((low >> (k + 6u)) & 3) << 4u);
  return f32(select(above, below, u < 4u));
}`;

const scales6 = (s: string) =>
  `let dm${s} = pairOf(b${s}); let high${s} = words[at${s} + 2u];
   let d${s} = dm${s}.x * scale6(words[at${s}], high${s}, 0u, u${s});
   let m${s} = -dm${s}.y * scale6(words[at${s} + 1u], high${s}, 4u, u${s});
   let shift${s} = (u${s} & 1u) * 4u;`;

const Q4_K: GpuFormat = {
  words: 35, // 3 of scales and mins, 32 of nibbles
  halves: 2,
  halvesFirst: true,
  components: 1,
  placed: true,
  prelude: PAIR + BYTES + SCALE6,
  open: (s, row, chunk) =>
    `${superBlock(35)(s, row, chunk)} ${scales6(s)}
     let q${s} = at${s} + 3u + (u${s} >> 1u) * 8u;`,
  low: (s) => `bytesOf(words[q${s} + j], shift${s}, 15)`,
  high: (s) => `bytesOf(words[q${s} + 4u + j], shift${s}, 15)`,
  scale: (s) => `d${s}`,
  offset: (s) => `m${s}`,
};

/** Four nibbles of word `q` and their fifth bits, bit u of the bytes of word `h`. */
const fiveBits = (s: string, step: string) =>
  `(bytesOf(words[q${s} + ${step}], shift${s}, 15) + 16.0 * bytesOf(words[at${s} + 3u + ${step}], u${s}, 1))`;

const Q5_K: GpuFormat = {
  ...Q4_K,
  words: 43, // 3 of scales and mins, 8 of fifth bits, 32 of nibbles
  open: (s, row, chunk) =>
    `${superBlock(43)(s, row, chunk)} ${scales6(s)}
     let q${s} = at${s} + 11u + (u${s} >> 1u) * 8u;`,
  low: (s) => fiveBits(s, 'j'),
  high: (s) => fiveBits(s, '4u + j'),
};

// The types below have a scale for every 16 values, so it differs between low and high.

const sixBits = (s: string, step: string, scale: string) =>
  `(${scale} * (bytesOf(words[low${s} + ${step}], shift${s}, 15) + 16.0 * bytesOf(words[top${s} + ${step}], pair${s}, 3) - 32.0 * PLACES))`;

const Q6_K: GpuFormat = {
  words: 52, // 32 of low nibbles, 16 of high bit pairs, 4 of signed scales
  halves: 1,
  halvesFirst: false,
  components: 1,
  placed: true,
  prelude: `${HALF}${BYTES}
fn signedByte(word : i32, i : u32) -> f32 { return f32((word << (24u - 8u * i)) >> 24u); }`,
  open: (s, row, chunk) =>
    `${superBlock(52)(s, row, chunk)} let d${s} = half(b${s});
     let scales${s} = words[at${s} + 48u + (u${s} >> 1u)]; let first${s} = 2u * (u${s} & 1u);
     let dLow${s} = d${s} * signedByte(scales${s}, first${s});
     let dHigh${s} = d${s} * signedByte(scales${s}, first${s} + 1u);
     let low${s} = at${s} + (u${s} >> 2u) * 16u + (u${s} & 1u) * 8u; let shift${s} = ((u${s} >> 1u) & 1u) * 4u;
     let top${s} = at${s} + 32u + (u${s} >> 2u) * 8u; let pair${s} = (u${s} & 3u) * 2u;`,
  low: (s) => sixBits(s, 'j', `dLow${s}`),
  high: (s) => sixBits(s, '4u + j', `dHigh${s}`),
  scale: null,
  offset: null,
};

const Q2_K: GpuFormat = {
  words: 20, // 4 of (4-bit scale, 4-bit min), 16 of 2-bit values
  halves: 2,
  halvesFirst: false,
  components: 1,
  placed: true,
  prelude: PAIR + BYTES,
  open: (s, row, chunk) =>
    `${superBlock(20)(s, row, chunk)} let dm${s} = pairOf(b${s});
     let two${s} = words[at${s} + (u${s} >> 1u)] >> (16u * (u${s} & 1u));
     let dLow${s} = dm${s}.x * f32(two${s} & 15); let mLow${s} = dm${s}.y * f32((two${s} >> 4u) & 15);
     let dHigh${s} = dm${s}.x * f32((two${s} >> 8u) & 15); let mHigh${s} = dm${s}.y * f32((two${s} >> 12u) & 15);
     let q${s} = at${s} + 4u + (u${s} >> 2u) * 8u; let shift${s} = (u${s} & 3u) * 2u;`,
  low: (s) => `(dLow${s} * bytesOf(words[q${s} + j], shift${s}, 3) - mLow${s} * PLACES)`,
  high: (s) => `(dHigh${s} * bytesOf(words[q${s} + 4u + j], shift${s}, 3) - mHigh${s} * PLACES)`,
  scale: null,
  offset: null,
};

const threeBits = (s: string, step: string, scale: string) =>
  `(${scale} * (bytesOf(words[q${s} + ${step}], shift${s}, 3) + 4.0 * bytesOf(words[at${s} + ${step}], u${s}, 1) - 4.0 * PLACES))`;

const Q3_K: GpuFormat = {
  words: 27, // 8 of third bits, 16 of 2-bit values, 3 of 6-bit scales
  halves: 1,
  halvesFirst: false,
  components: 1,
  placed: true,
  prelude: `${HALF}${BYTES}
fn scale3(at : u32, g : u32) -> f32 {
  let low = (words[at + 24u + ((g >> 2u) & 1u)] >> (8u * (g & 3u) + 4u * (g >> 3u))) & 15;
  let top = (words[at + 26u] >> (8u * (g & 3u) + 2u * (g >> 2u))) & 3;
  return f32((low | (top << 4u)) - 32);
}`,
  open: (s, row, chunk) =>
    `${superBlock(27)(s, row, chunk)} let d${s} = half(b${s});
     let dLow${s} = d${s} * scale3(at${s}, 2u * u${s}); let dHigh${s} = d${s} * scale3(at${s}, 2u * u${s} + 1u);
     let q${s} = at${s} + 8u + (u${s} >> 2u) * 8u; let shift${s} = (u${s} & 3u) * 2u;`,
  low: (s) => threeBits(s, 'j', `dLow${s}`),
  high: (s) => threeBits(s, '4u + j', `dHigh${s}`),
  scale: null,
  offset: null,
};

/** Adding a type is one entry here and one decoder in quants.ts. */
export const GPU_FORMATS: Readonly<Record<GgmlType, GpuFormat>> = {
  F32,
  F16,
  BF16,
  Q4_0,
  Q4_1,
  Q5_0,
  Q5_1,
  Q8_0,
  Q2_K,
  Q3_K,
  Q4_K,
  Q5_K,
  Q6_K,
};
