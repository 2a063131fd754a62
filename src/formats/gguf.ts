/**
 * Reads the header of a GGUF file: metadata and where each tensor lies. Trusts nothing in the file;
 * reads no weights. Specification: ggml/docs/gguf.md, versions 2 and 3, little-endian.
 */

import { LabError } from '../errors.ts';
import type { Json } from '../records.ts';
import { joinShards } from './gguf-shards.ts';
import { GGML_LAYOUTS, GGML_TYPES, type GgmlType } from './quants.ts';
import type { ByteSource } from './source.ts';

/** Plain JSON: 64-bit integers past 2^53 and non-finite floats are strings. */
export type GgufMetadata = Readonly<Record<string, Json>>;

export interface GgufTensor {
  readonly name: string;
  readonly type: GgmlType;
  /** As in the file: the fastest axis first, so `[cols, rows]` for a matrix. */
  readonly shape: readonly number[];
  /** Values in a row, shape[0]; rows are contiguous and hold whole blocks. */
  readonly cols: number;
  /** Product of the other axes. */
  readonly rows: number;
  /** From the start of the file. */
  readonly offset: number;
  readonly bytes: number;
}

export interface GgufFile {
  readonly version: number;
  readonly metadata: GgufMetadata;
  readonly tensors: readonly GgufTensor[];
  readonly alignment: number;
  /** Where the tensor data begin; all that lies before is the header. */
  readonly dataOffset: number;
  /** Bytes [start, end) of each key with its value, so that a writer can keep them as they are. */
  readonly keyRanges: ReadonlyMap<string, readonly [start: number, end: number]>;
}

/** The first read; the header of a model with 49,152 tokens takes 1.8 MB, with 262,144 7 MB. */
const FIRST_READ_BYTES = 4 * 2 ** 20;
/** A header is a vocabulary and a few hundred names; past this the file is not a model. */
const MAX_HEADER_BYTES = 256 * 2 ** 20;
/** The longest known array is a merge list of about 514,000; boxed elements cost 8 to 50 bytes. */
const MAX_ARRAY_LENGTH = 4 * 2 ** 20;
/** No known key nests arrays at all; a bound keeps a crafted file from exhausting the stack. */
const MAX_ARRAY_DEPTH = 4;
/** The specification's limit on keys; tensor names are shorter still. */
const MAX_NAME_BYTES = 65535;
/** GGML_MAX_DIMS. */
const MAX_DIMS = 4;
/** Files use 32; larger than a memory page is a sign of a damaged value. */
const MAX_ALIGNMENT = 65536;
const DEFAULT_ALIGNMENT = 32;

/** Names of the type ids that ggml has or had, so that a message can say more than a number. */
const TYPE_NAMES: Readonly<Record<number, string>> = {
  4: 'Q4_2, removed from ggml',
  5: 'Q4_3, removed from ggml',
  9: 'Q8_1',
  15: 'Q8_K',
  16: 'IQ2_XXS',
  17: 'IQ2_XS',
  18: 'IQ3_XXS',
  19: 'IQ1_S',
  20: 'IQ4_NL',
  21: 'IQ3_S',
  22: 'IQ2_S',
  23: 'IQ4_XS',
  24: 'I8',
  25: 'I16',
  26: 'I32',
  27: 'I64',
  28: 'F64',
  29: 'IQ1_M',
  31: 'Q4_0_4_4, removed from ggml',
  32: 'Q4_0_4_8, removed from ggml',
  33: 'Q4_0_8_8, removed from ggml',
  34: 'TQ1_0',
  35: 'TQ2_0',
  36: 'IQ4_NL_4_4, removed from ggml',
  37: 'IQ4_NL_4_8, removed from ggml',
  38: 'IQ4_NL_8_8, removed from ggml',
  39: 'MXFP4',
};

const TYPE_OF_ID: ReadonlyMap<number, GgmlType> = new Map(
  GGML_TYPES.map((type) => [GGML_LAYOUTS[type].id, type]),
);

/**
 * Reads the header of `source`, or of each file that it is joined of. Rejects with `bad_input` for a
 * file that is no GGUF, is cut, contradicts itself or is one of several that are not all there, and
 * with `unsupported` for a version or tensor type that cannot be run.
 */
export async function readGguf(source: ByteSource): Promise<GgufFile> {
  const parts = source.parts ?? [source];
  const files: GgufFile[] = [];
  for (const part of parts) files.push(await readHeader(part));
  return joinShards(files, parts);
}

/** A text of the metadata, such as `general.name`; null where there is none under the key. */
export function metadataText(metadata: GgufMetadata, key: string): string | null {
  const value = metadata[key];
  return typeof value === 'string' ? value : null;
}

/** How many numbers the tensors hold together. */
export function countParameters({ tensors }: Pick<GgufFile, 'tensors'>): number {
  return tensors.reduce((sum, { rows, cols }) => sum + rows * cols, 0);
}

async function readHeader(source: ByteSource): Promise<GgufFile> {
  checkMagic(source, await source.read(0, Math.min(8, source.size)));
  for (let length = Math.min(FIRST_READ_BYTES, source.size); ; ) {
    const parsed = tryParse(await source.read(0, length), source);
    if (parsed !== null) return parsed;
    if (length === source.size) {
      throw bad(source, `the header does not end within the file's ${source.size} bytes. ${CUT}`);
    }
    if (length >= MAX_HEADER_BYTES) {
      throw bad(
        source,
        `the header takes more than ${MAX_HEADER_BYTES} bytes; expected a model file.`,
      );
    }
    length = Math.min(length * 2, source.size);
  }
}

const CUT = 'The file is cut or damaged; fetch it again.';

function bad(source: ByteSource, what: string, details = {}): LabError {
  return new LabError('bad_input', `${source.name}: ${what}`, { file: source.name, ...details });
}

function checkMagic(source: ByteSource, head: Uint8Array): void {
  const magic = [...head.subarray(0, 4)];
  if (head.length === 8 && String.fromCharCode(...magic) === 'GGUF') return;
  const shown = magic.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
  const text = String.fromCharCode(...magic.map((byte) => (byte > 31 && byte < 127 ? byte : 46)));
  throw bad(
    source,
    `not a GGUF file: it has ${source.size} bytes and begins with "${text}" (${shown}), ` +
      'expected "GGUF". ' +
      (text.startsWith('<')
        ? 'It looks like a web page: give the address of the file itself, its download link.'
        : 'Choose a model file whose name ends in .gguf.'),
  );
}

/** The parsed header, or null when it does not end within `bytes`. */
function tryParse(bytes: Uint8Array, source: ByteSource): GgufFile | null {
  try {
    return parseHeader(cursor(bytes, source), source);
  } catch (error) {
    if (error === NEED_MORE) return null;
    throw error;
  }
}

/** Thrown by a cursor at the end of what has been read so far; never leaves this file. */
const NEED_MORE = Symbol('the header goes on');

function parseHeader(at: Cursor, source: ByteSource): GgufFile {
  at.skip(4);
  const version = at.u32();
  if (version !== 2 && version !== 3) {
    const swapped = (version & 0xffff) === 0 && version !== 0;
    const what = swapped ? 'big-endian GGUF' : `GGUF version ${version}`;
    throw new LabError(
      'unsupported',
      `${source.name}: ${what}; expected version 2 or 3, little-endian. Convert the model again.`,
      { file: source.name, version },
    );
  }
  const tensorCount = at.count('tensor count');
  const keyCount = at.count('key count');
  const { metadata, keyRanges } = readMetadata(at, keyCount, source);
  const declared = readTensorInfos(at, tensorCount, source);
  const alignment = alignmentOf(metadata, source);
  const dataOffset = Math.ceil(at.offset() / alignment) * alignment;
  const tensors = declared.map((info) => placeTensor(info, dataOffset, alignment, source));
  checkOverlap(tensors, source);
  return { version, metadata, tensors, alignment, dataOffset, keyRanges };
}

/** All keys before any of them is interpreted: their order carries no meaning. */
function readMetadata(
  at: Cursor,
  count: number,
  source: ByteSource,
): Pick<GgufFile, 'metadata' | 'keyRanges'> {
  const values = new Map<string, Json>();
  const keyRanges = new Map<string, readonly [number, number]>();
  for (let i = 0; i < count; i++) {
    const start = at.offset();
    const key = at.name('key');
    if (values.has(key)) throw bad(source, `the key "${key}" occurs twice. ${CUT}`, { key });
    values.set(key, readValue(at, at.u32(), key, 0, source));
    keyRanges.set(key, [start, at.offset()]);
  }
  return { metadata: Object.fromEntries(values), keyRanges };
}

/** One value of GGUF metadata type `type`. */
function readValue(at: Cursor, type: number, key: string, depth: number, source: ByteSource): Json {
  switch (type) {
    case 0:
      return at.u8();
    case 1:
      return (at.u8() << 24) >> 24;
    case 2:
      return at.u16();
    case 3:
      return (at.u16() << 16) >> 16;
    case 4:
      return at.u32();
    case 5:
      return at.u32() | 0;
    case 6:
      return jsonNumber(at.f32());
    case 7:
      return at.u8() !== 0;
    case 8:
      return at.text(MAX_HEADER_BYTES, `the text of "${key}"`);
    case 9:
      return readArray(at, key, depth, source);
    case 10:
      return jsonInteger(at.u64());
    case 11:
      return jsonInteger(BigInt.asIntN(64, at.u64()));
    case 12:
      return jsonNumber(at.f64());
    default:
      throw bad(source, `the key "${key}" has value type ${type}; expected 0 to 12. ${CUT}`, {
        key,
        type,
      });
  }
}

function readArray(at: Cursor, key: string, depth: number, source: ByteSource): Json {
  if (depth === MAX_ARRAY_DEPTH) {
    throw bad(source, `the array "${key}" is nested more than ${MAX_ARRAY_DEPTH} deep. ${CUT}`);
  }
  const type = at.u32();
  const length = at.count(`length of "${key}"`);
  if (length > MAX_ARRAY_LENGTH) {
    throw bad(source, `the array "${key}" has ${length} elements; at most ${MAX_ARRAY_LENGTH}.`, {
      key,
      length,
    });
  }
  const values: Json[] = [];
  for (let i = 0; i < length; i++) values.push(readValue(at, type, key, depth + 1, source));
  return values;
}

/** JSON has no NaN, infinity or negative zero. */
function jsonNumber(value: number): Json {
  return Number.isFinite(value) ? value + 0 : String(value);
}

/** A number where a double holds it exactly, else its decimal digits. */
function jsonInteger(value: bigint): Json {
  const near = Number(value);
  return Number.isSafeInteger(near) ? near : String(value);
}

interface TensorInfo {
  readonly name: string;
  readonly typeId: number;
  readonly shape: readonly number[];
  /** From the start of the tensor data. */
  readonly offset: number;
}

function readTensorInfos(at: Cursor, count: number, source: ByteSource): TensorInfo[] {
  const infos: TensorInfo[] = [];
  const seen = new Set<string>();
  for (let i = 0; i < count; i++) {
    const name = at.name('tensor name');
    if (seen.has(name)) throw bad(source, `the tensor "${name}" occurs twice. ${CUT}`, { name });
    seen.add(name);
    const dims = at.u32();
    if (dims < 1 || dims > MAX_DIMS) {
      throw bad(source, `the tensor "${name}" has ${dims} axes; expected 1 to ${MAX_DIMS}.`, {
        name,
      });
    }
    const shape = Array.from({ length: dims }, () => at.count(`shape of "${name}"`));
    infos.push({ name, shape, typeId: at.u32(), offset: at.count(`offset of "${name}"`) });
  }
  return infos;
}

function alignmentOf(metadata: GgufMetadata, source: ByteSource): number {
  const value = metadata['general.alignment'] ?? DEFAULT_ALIGNMENT;
  const power = typeof value === 'number' && value > 0 && Number.isInteger(Math.log2(value));
  if (power && value <= MAX_ALIGNMENT) return value;
  throw bad(
    source,
    `general.alignment is ${JSON.stringify(value)}; expected a power of two up to ${MAX_ALIGNMENT}.`,
  );
}

/** Checks type, row size and place of one tensor. */
function placeTensor(
  info: TensorInfo,
  dataOffset: number,
  alignment: number,
  source: ByteSource,
): GgufTensor {
  const { name, typeId, shape } = info;
  const type = TYPE_OF_ID.get(typeId);
  if (type === undefined) {
    throw new LabError(
      'unsupported',
      `${source.name}: the tensor "${name}" has type id ${typeId} ` +
        `(${TYPE_NAMES[typeId] ?? 'unknown to this program'}); supported are ` +
        `${GGML_TYPES.join(', ')}. Choose a file in one of these quantisations.`,
      { file: source.name, tensor: name, typeId },
    );
  }
  const { blockSize, typeBytes } = GGML_LAYOUTS[type];
  const cols = shape[0] ?? 0;
  const values = shape.reduce((product, axis) => product * axis, 1);
  if (cols % blockSize !== 0) {
    throw bad(
      source,
      `the tensor "${name}" has rows of ${cols} values in ${type} (type id ${typeId}); ` +
        `${cols} is not a multiple of ${blockSize}. The file was written wrongly; convert it again.`,
      { tensor: name, typeId, cols, blockSize },
    );
  }
  const bytes = (values / blockSize) * typeBytes;
  const offset = dataOffset + info.offset;
  if (values === 0 || info.offset % alignment !== 0) {
    throw bad(
      source,
      `the tensor "${name}" has shape [${shape.join(', ')}] at data offset ${info.offset}; ` +
        `expected values, at a multiple of ${alignment}. ${CUT}`,
      { tensor: name },
    );
  }
  if (!(offset + bytes <= source.size)) {
    throw bad(
      source,
      `the tensor "${name}" ends at byte ${offset + bytes}, but the file has ${source.size}. ${CUT}`,
      { tensor: name, end: offset + bytes, size: source.size },
    );
  }
  return { name, type, shape, cols, rows: values / cols, offset, bytes };
}

function checkOverlap(tensors: readonly GgufTensor[], source: ByteSource): void {
  const ordered = tensors.toSorted((a, b) => a.offset - b.offset);
  ordered.forEach((tensor, i) => {
    const before = ordered[i - 1];
    if (before !== undefined && before.offset + before.bytes > tensor.offset) {
      throw bad(source, `the tensors "${before.name}" and "${tensor.name}" overlap. ${CUT}`);
    }
  });
}

/** Reads forward through the part of the header that is in memory. */
interface Cursor {
  offset(): number;
  skip(bytes: number): void;
  u8(): number;
  u16(): number;
  u32(): number;
  u64(): bigint;
  f32(): number;
  f64(): number;
  /** A 64-bit count that must be an exact double. */
  count(what: string): number;
  text(maxBytes: number, what: string): string;
  name(what: string): string;
}

function cursor(bytes: Uint8Array, source: ByteSource): Cursor {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // ignoreBOM keeps a leading U+FEFF: some vocabularies hold tokens that begin with it.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let offset = 0;
  const take = (length: number): number => {
    if (offset + length > bytes.length) throw NEED_MORE;
    offset += length;
    return offset - length;
  };
  const u64 = () => view.getBigUint64(take(8), true);
  const count = (what: string) => {
    const value = Number(u64());
    if (Number.isSafeInteger(value)) return value;
    throw bad(source, `the ${what} is ${value}; expected a count below 2^53. ${CUT}`);
  };
  const text = (maxBytes: number, what: string) => {
    const length = count(`length of ${what}`);
    if (length > maxBytes) {
      throw bad(source, `${what} takes ${length} bytes; at most ${maxBytes}. ${CUT}`);
    }
    const start = take(length);
    return decoder.decode(bytes.subarray(start, start + length));
  };
  return {
    offset: () => offset,
    skip: (length) => void take(length),
    u8: () => view.getUint8(take(1)),
    u16: () => view.getUint16(take(2), true),
    u32: () => view.getUint32(take(4), true),
    f32: () => view.getFloat32(take(4), true),
    f64: () => view.getFloat64(take(8), true),
    u64,
    count,
    text,
    name: (what) => text(MAX_NAME_BYTES, `a ${what}`),
  };
}
