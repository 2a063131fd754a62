/**
 * Reads and writes safetensors: a JSON header, then the tensors' bytes. Trusts nothing in the file;
 * knows nothing of what the tensors are for. Layout as the safetensors specification has it.
 */

import { LabError, messageOf } from '../errors.ts';
import type { Json } from '../records.ts';
import { type AdapterDtype, encodeAdapter } from './adapter-dtype.ts';
import { concatBytes } from './bytes.ts';
import { repeatedName } from './json-syntax.ts';
import { dequantize } from './quants.ts';

/** A tensor as float32, whatever it is on disk. */
export interface FloatTensor {
  /** The slowest axis first, as PyTorch prints it. */
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

export interface Safetensors {
  readonly tensors: ReadonlyMap<string, FloatTensor>;
  readonly metadata: Readonly<Record<string, string>>;
}

/** The types that adapters come in, with the bytes of a value. */
const DTYPE_BYTES = { F32: 4, F16: 2, BF16: 2 } as const;
type Dtype = keyof typeof DTYPE_BYTES;

/**
 * The specification allows 100 MB; the header of an adapter on every projection of 126 layers has 0.3 MB. One of 100 MB
 * that names a million empty tensors, or is nothing but brackets, takes a minute to read.
 */
const MAX_HEADER_BYTES = 8_000_000;

/**
 * All tensors of a file. Throws `bad_input` for a header that does not parse or says a thing twice, for
 * tensors that overlap, leave holes or do not fit their shapes, and for a short or long data area;
 * `unsupported` for types other than F32, F16 and BF16.
 */
export function readSafetensors(bytes: Uint8Array, name = 'The safetensors file'): Safetensors {
  const { header, dataStart } = readHeader(bytes, name);
  const data = bytes.subarray(dataStart);
  const entries = Object.entries(header)
    .filter(([key]) => key !== '__metadata__')
    .map(([key, value]) => readEntry(key, value, name));
  checkPlaces(entries, data.length, name);
  const tensors = new Map<string, FloatTensor>();
  for (const { key, dtype, shape, start, end } of entries) {
    const values = new Float32Array((end - start) / DTYPE_BYTES[dtype]);
    // Decodes byte by byte: data may begin at any address, where no typed view can be made.
    dequantize(dtype, data.subarray(start, end), values);
    tensors.set(key, { shape, values });
  }
  return { tensors, metadata: readStrings(header.__metadata__, name) };
}

/**
 * A file of tensors in the order of the map: the header padded with spaces to a multiple of 8, data
 * contiguous. Throws `bad_input` when a shape does not fit its values, or `dtype` cannot hold one.
 */
export function writeSafetensors(
  tensors: ReadonlyMap<string, FloatTensor>,
  metadata: Readonly<Record<string, string>> = { format: 'pt' },
  dtype: AdapterDtype = 'F32',
): Uint8Array {
  const header: [string, Json][] = [['__metadata__', { ...metadata }]];
  const parts: Uint8Array[] = [];
  let end = 0;
  for (const [key, { shape, values }] of tensors) {
    if (sizeOf(shape) !== values.length) {
      throw bad(
        `The tensor "${key}" of shape [${shape.join(', ')}] has ${values.length} values; ` +
          `expected ${sizeOf(shape)}.`,
      );
    }
    const bytes = encodeAdapter(dtype, values, key);
    header.push([key, { dtype, shape, data_offsets: [end, end + bytes.length] }]);
    parts.push(bytes);
    end += bytes.length;
  }
  const text = new TextEncoder().encode(JSON.stringify(Object.fromEntries(header)));
  const headerBytes = Math.ceil(text.length / 8) * 8;
  const start = new Uint8Array(8 + headerBytes).fill(0x20);
  new DataView(start.buffer).setBigUint64(0, BigInt(headerBytes), true);
  start.set(text, 8);
  return concatBytes([start, ...parts]);
}

function bad(message: string): LabError {
  return new LabError('bad_input', message);
}

function readHeader(bytes: Uint8Array, name: string): { header: JsonObject; dataStart: number } {
  if (bytes.length < 8) {
    throw bad(`${name} has ${bytes.length} bytes; expected at least the 8 of a header length.`);
  }
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true));
  if (length > MAX_HEADER_BYTES && 8 + length <= bytes.length) {
    throw new LabError(
      'limit',
      `${name} has a header of ${length} bytes; one of an adapter may have ${MAX_HEADER_BYTES}.`,
    );
  }
  if (8 + length > bytes.length) {
    throw bad(
      `${name} announces a header of ${length} bytes, but has ${bytes.length} bytes. ` +
        'It is cut, or no safetensors file; fetch it again.',
    );
  }
  const header = parseObject(bytes.subarray(8, 8 + length), name);
  return { header, dataStart: 8 + length };
}

type JsonObject = { readonly [key: string]: Json };

function parseObject(bytes: Uint8Array, name: string): JsonObject {
  let text: string;
  let header: Json;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    header = JSON.parse(text);
  } catch (error) {
    const reason = messageOf(error);
    const nul = bytes.at(-1) === 0 ? ' It is padded with NUL bytes; expected spaces.' : '';
    throw bad(`${name}: the header is no JSON (${reason}).${nul}`);
  }
  if (!isObject(header)) throw bad(`${name}: the header is no JSON object.`);
  const twice = repeatedName(text);
  if (twice === null) return header;
  throw bad(`${name}: the header names "${twice}" twice; expected each name once.`);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** One tensor's declaration, its offsets counted from the start of the data area. */
interface Entry {
  readonly key: string;
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  readonly start: number;
  readonly end: number;
}

function readEntry(key: string, value: Json, name: string): Entry {
  const { dtype, shape, data_offsets: offsets } = isObject(value) ? value : {};
  if (typeof dtype !== 'string' || !isCounts(shape) || !isCounts(offsets)) {
    throw bad(`${name}: the tensor "${key}" lacks a dtype, a shape or data_offsets.`);
  }
  if (!isDtype(dtype)) {
    throw new LabError(
      'unsupported',
      `${name}: the tensor "${key}" is of type ${dtype}; supported are ` +
        `${Object.keys(DTYPE_BYTES).join(', ')}. Save it in one of these.`,
      { tensor: key, dtype },
    );
  }
  const [start, end] = offsets;
  const expected = sizeOf(shape) * DTYPE_BYTES[dtype];
  if (
    offsets.length !== 2 ||
    start === undefined ||
    end === undefined ||
    end - start !== expected
  ) {
    throw bad(
      `${name}: the tensor "${key}" of shape [${shape.join(', ')}] in ${dtype} takes ${expected} ` +
        `bytes, but its data_offsets are [${offsets.join(', ')}].`,
    );
  }
  return { key, dtype, shape, start, end };
}

function isDtype(dtype: string): dtype is Dtype {
  return Object.hasOwn(DTYPE_BYTES, dtype);
}

function isCounts(value: Json | undefined): value is readonly number[] {
  return (
    Array.isArray(value) &&
    value.every((item) => typeof item === 'number' && Number.isSafeInteger(item) && item >= 0)
  );
}

function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, axis) => product * axis, 1);
}

/** The header's order carries no meaning; by offset the tensors must fill the data area exactly. */
function checkPlaces(entries: readonly Entry[], dataBytes: number, name: string): void {
  let end = 0;
  for (const entry of entries.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    if (entry.start !== end) {
      const what = entry.start < end ? 'overlaps the one before' : 'leaves a hole before it';
      throw bad(
        `${name}: the tensor "${entry.key}" begins at data byte ${entry.start} and ${what}; ` +
          `expected ${end}.`,
      );
    }
    end = entry.end;
  }
  if (end !== dataBytes) {
    throw bad(
      `${name}: the tensors take ${end} bytes, but the data area has ${dataBytes}. ` +
        'The file is cut or damaged; fetch it again.',
    );
  }
}

function readStrings(value: Json | undefined, name: string): Readonly<Record<string, string>> {
  if (value === undefined || value === null) return {};
  const entries = isObject(value) ? Object.entries(value) : [['', null] as const];
  const texts = entries.flatMap(([key, item]) => (typeof item === 'string' ? [[key, item]] : []));
  if (texts.length === entries.length) return Object.fromEntries(texts);
  throw bad(`${name}: __metadata__ holds something other than texts.`);
}
