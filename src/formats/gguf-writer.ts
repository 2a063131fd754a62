/** Writes GGUF version 3 files from typed metadata and tensors; the inverse of gguf.ts. */

import { LabError } from '../errors.ts';
import { concatBytes } from './bytes.ts';
import { byteLength, GGML_LAYOUTS, type GgmlType } from './quants.ts';

/** A metadata value with the type that it has on disk. */
export type GgufValue =
  | { readonly type: 'uint32' | 'int32' | 'float32' | 'uint64' | 'float64'; readonly value: number }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'strings'; readonly value: readonly string[] }
  | {
      readonly type: 'int8s' | 'int32s' | 'float32s' | 'float64s';
      readonly value: readonly number[];
    };

export interface GgufTensorData {
  readonly name: string;
  readonly type: GgmlType;
  /** The fastest axis first. */
  readonly shape: readonly number[];
  /** Encoded in `type`; its length must be that of the shape. */
  readonly data: Uint8Array;
}

const VALUE_TYPE_IDS = {
  int8: 1,
  uint32: 4,
  int32: 5,
  float32: 6,
  bool: 7,
  string: 8,
  array: 9,
  uint64: 10,
  float64: 12,
} as const;

const ALIGNMENT = 32;

/** A tensor as the header names it; the fastest axis first. */
export type GgufTensorInfo = Pick<GgufTensorData, 'name' | 'type' | 'shape'>;

/** The bytes of a GGUF file; keys and tensors keep their order. Throws `bad_input` on a bad size. */
export function writeGguf(
  metadata: Readonly<Record<string, GgufValue>>,
  tensors: readonly GgufTensorData[],
): Uint8Array {
  for (const tensor of tensors) checkSize(tensor);
  const { bytes, offsets, size } = writeGgufHeader(metadata, tensors);
  const file = new Uint8Array(size);
  file.set(bytes);
  tensors.forEach(({ data }, i) => {
    file.set(data, offsets[i]);
  });
  return file;
}

/** Everything before the tensors' data, padded up to it. */
export interface GgufHeader {
  readonly bytes: Uint8Array;
  /** Where each tensor's data begin, from the start of the file. */
  readonly offsets: readonly number[];
  /** Of the whole file, the last tensor's padding included. */
  readonly size: number;
}

/**
 * The header alone, for a file that is written tensor by tensor. `kept` are keys with their values as
 * another file has them, byte for byte; they come first. `alignment` must be what the keys say.
 */
export function writeGgufHeader(
  metadata: Readonly<Record<string, GgufValue>>,
  tensors: readonly GgufTensorInfo[],
  kept: readonly Uint8Array[] = [],
  alignment = ALIGNMENT,
): GgufHeader {
  const aligned = (bytes: number) => Math.ceil(bytes / alignment) * alignment;
  const header = byteWriter();
  const entries = Object.entries(metadata);
  header.raw(new TextEncoder().encode('GGUF'));
  header.u32(3);
  header.u64(tensors.length);
  header.u64(kept.length + entries.length);
  for (const bytes of kept) header.raw(bytes);
  for (const [key, value] of entries) {
    header.text(key);
    writeValue(header, value);
  }
  let dataBytes = 0;
  const starts = tensors.map(({ name, type, shape }) => {
    const start = dataBytes;
    header.text(name);
    header.u32(shape.length);
    for (const axis of shape) header.u64(axis);
    header.u32(GGML_LAYOUTS[type].id);
    header.u64(start);
    dataBytes += aligned(sizeOf(type, shape));
    return start;
  });
  const head = header.bytes();
  const dataOffset = aligned(head.length);
  const bytes = new Uint8Array(dataOffset);
  bytes.set(head);
  return {
    bytes,
    offsets: starts.map((start) => dataOffset + start),
    size: dataOffset + dataBytes,
  };
}

function sizeOf(type: GgmlType, shape: readonly number[]): number {
  const rows = shape.slice(1).reduce((product, axis) => product * axis, 1);
  return byteLength(type, shape[0] ?? 0) * rows;
}

function checkSize({ name, type, shape, data }: GgufTensorData): void {
  const expected = sizeOf(type, shape);
  if (data.length === expected) return;
  throw new LabError(
    'bad_input',
    `The tensor "${name}" of shape [${shape.join(', ')}] in ${type} takes ${expected} bytes; ` +
      `found ${data.length}.`,
    { name, expected, found: data.length },
  );
}

function writeValue(out: ByteWriter, value: GgufValue): void {
  switch (value.type) {
    case 'strings':
      writeList(out, 'string', value.value, out.text);
      return;
    case 'int8s':
      writeListHead(out, 'int8', value.value.length);
      out.raw(new Uint8Array(Int8Array.from(value.value).buffer));
      return;
    case 'int32s':
      writeList(out, 'int32', value.value, (number) => out.u32(number >>> 0));
      return;
    case 'float32s':
      writeList(out, 'float32', value.value, out.f32);
      return;
    case 'float64s':
      writeList(out, 'float64', value.value, out.f64);
      return;
    case 'bool':
      out.u32(VALUE_TYPE_IDS.bool);
      out.raw(Uint8Array.of(value.value ? 1 : 0));
      return;
    case 'string':
      out.u32(VALUE_TYPE_IDS.string);
      out.text(value.value);
      return;
    case 'uint32':
    case 'int32':
      out.u32(VALUE_TYPE_IDS[value.type]);
      out.u32(value.value >>> 0);
      return;
    case 'float32':
      out.u32(VALUE_TYPE_IDS.float32);
      out.f32(value.value);
      return;
    case 'uint64':
      out.u32(VALUE_TYPE_IDS.uint64);
      out.u64(value.value);
      return;
    case 'float64':
      out.u32(VALUE_TYPE_IDS.float64);
      out.f64(value.value);
      return;
    default:
      value satisfies never;
  }
}

function writeList<T>(
  out: ByteWriter,
  type: keyof typeof VALUE_TYPE_IDS,
  items: readonly T[],
  write: (item: T) => void,
): void {
  writeListHead(out, type, items.length);
  for (const item of items) write(item);
}

function writeListHead(out: ByteWriter, type: keyof typeof VALUE_TYPE_IDS, length: number): void {
  out.u32(VALUE_TYPE_IDS.array);
  out.u32(VALUE_TYPE_IDS[type]);
  out.u64(length);
}

interface ByteWriter {
  raw(bytes: Uint8Array): void;
  u32(value: number): void;
  u64(value: number): void;
  f32(value: number): void;
  f64(value: number): void;
  /** A length and UTF-8 bytes. */
  text(value: string): void;
  bytes(): Uint8Array;
}

function byteWriter(): ByteWriter {
  const parts: Uint8Array[] = [];
  const encoder = new TextEncoder();
  const raw = (bytes: Uint8Array) => {
    parts.push(bytes);
  };
  const view = (size: number, set: (view: DataView) => void) => {
    const bytes = new Uint8Array(size);
    set(new DataView(bytes.buffer));
    raw(bytes);
  };
  const u64 = (value: number) => view(8, (v) => v.setBigUint64(0, BigInt(value), true));
  return {
    raw,
    u64,
    u32: (value) => view(4, (v) => v.setUint32(0, value, true)),
    f32: (value) => view(4, (v) => v.setFloat32(0, value, true)),
    f64: (value) => view(8, (v) => v.setFloat64(0, value, true)),
    text(value) {
      const bytes = encoder.encode(value);
      u64(bytes.length);
      raw(bytes);
    },
    bytes: () => concatBytes(parts),
  };
}
