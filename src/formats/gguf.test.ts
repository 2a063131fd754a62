import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
// Hand-made broken and odd files; base64.
import bad from '../../e2e/fixtures/cases/gguf_bad.json' with { type: 'json' };
import { LabError, toWire } from '../errors.ts';
import { readGguf } from './gguf.ts';
import { type GgufTensorData, type GgufValue, writeGguf } from './gguf-writer.ts';
import { dequantize } from './quants.ts';
import { type ByteSource, blobSource, bytesSource } from './source.ts';

const fixture = (path: string) =>
  new Uint8Array(readFileSync(new URL(`../../e2e/fixtures/${path}`, import.meta.url)));
const fromBase64 = (text: string) => new Uint8Array(Buffer.from(text, 'base64'));
const read = (bytes: Uint8Array) => readGguf(bytesSource(bytes, 'model.gguf'));

/** The error of a promise that must reject. */
async function failure(promise: Promise<unknown>): Promise<LabError> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error instanceof LabError) return error;
  throw new Error(`expected a LabError, found ${String(error)}`);
}

describe('a file that gguf-py wrote (scripts/make-format-fixtures.py)', () => {
  const bytes = fixture('cases/gguf_py.gguf');

  test('gives every kind of metadata value', async () => {
    const { version, metadata } = await read(bytes);
    expect(version).toBe(3);
    expect(metadata).toEqual({
      'general.architecture': 'llama',
      'a.uint32': 4294967295,
      'a.int32': -5,
      'a.float32': Math.fround(0.1),
      'a.uint64': 2 ** 40 + 1,
      'a.float64': 0.1,
      'a.bool': true,
      'a.string': '\ufeffdé 🙂',
      'a.strings': ['', 'Ġa', '▁b'],
      'a.int32s': [1, -1, 3],
      'a.float32s': [0.5, -1.25],
    });
  });

  test('gives tensors as rows and columns at absolute offsets', async () => {
    const { tensors, dataOffset } = await read(bytes);
    expect(dataOffset).toBe(512);
    expect(tensors).toEqual([
      { name: 'one', type: 'F32', shape: [3, 2], cols: 3, rows: 2, offset: 512, bytes: 24 },
      { name: 'two', type: 'Q8_0', shape: [32, 2], cols: 32, rows: 2, offset: 544, bytes: 68 },
    ]);
    const one = new Float32Array(6);
    dequantize('F32', bytes.subarray(512, 536), one);
    expect([...one]).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test('is written by us byte for byte', () => {
    const metadata: Record<string, GgufValue> = {
      'general.architecture': { type: 'string', value: 'llama' },
      'a.uint32': { type: 'uint32', value: 4294967295 },
      'a.int32': { type: 'int32', value: -5 },
      'a.float32': { type: 'float32', value: 0.1 },
      'a.uint64': { type: 'uint64', value: 2 ** 40 + 1 },
      'a.float64': { type: 'float64', value: 0.1 },
      'a.bool': { type: 'bool', value: true },
      'a.string': { type: 'string', value: '\ufeffdé 🙂' },
      'a.strings': { type: 'strings', value: ['', 'Ġa', '▁b'] },
      'a.int32s': { type: 'int32s', value: [1, -1, 3] },
      'a.float32s': { type: 'float32s', value: [0.5, -1.25] },
    };
    const tensors: GgufTensorData[] = [
      { name: 'one', type: 'F32', shape: [3, 2], data: bytes.slice(512, 536) },
      { name: 'two', type: 'Q8_0', shape: [32, 2], data: bytes.slice(544, 612) },
    ];
    const ours = writeGguf(metadata, tensors);
    expect(Buffer.from(ours).equals(Buffer.from(bytes))).toBe(true);
  });

  test('is refused when it is cut anywhere', async () => {
    const error = await failure(read(bytes.subarray(0, 600)));
    expect(error.code).toBe('bad_input');
    expect(error.message).toMatch(/"two" ends at byte 612, but the file has 600.*fetch it again/);
    for (let length = 0; length < 612; length += 7) {
      expect((await failure(read(bytes.subarray(0, length)))).code).toBe('bad_input');
    }
  });
});

test('a real 20-tensor model is read through a Blob, header only', async () => {
  const reads: number[] = [];
  const blob = blobSource(new Blob([fixture('engine/tiny.gguf')]), 'tiny.gguf');
  const counting: ByteSource = {
    ...blob,
    read: (offset, length) => {
      reads.push(offset + length);
      return blob.read(offset, length);
    },
  };
  const { metadata, tensors } = await readGguf(counting);
  expect(tensors.length).toBe(20);
  expect(metadata['llama.attention.head_count_kv']).toBe(2);
  // gguf-py's GGUFReader gives these places.
  expect(tensors.slice(0, 4).map((t) => [t.name, t.rows, t.cols, t.offset])).toEqual([
    ['token_embd.weight', 48, 16, 2784],
    ['blk.0.attn_q.weight', 16, 16, 5856],
    ['blk.0.attn_k.weight', 8, 16, 6880],
    ['blk.0.attn_v.weight', 8, 16, 7392],
  ]);
  expect(reads.length).toBe(2);
});

test('a header larger than the first read is read on', async () => {
  const words = Array.from({ length: 300_000 }, (_, i) => `a token of number ${i}`);
  const bytes = writeGguf({ words: { type: 'strings', value: words } }, []);
  expect(bytes.length).toBeGreaterThan(5 * 2 ** 20);
  const { metadata } = await read(bytes);
  expect(JSON.stringify(metadata.words) === JSON.stringify(words)).toBe(true);
});

test('keys before general.architecture and 64-bit values are read (B08)', async () => {
  const { metadata } = await read(fromBase64(bad.key_order));
  expect(metadata).toEqual({
    'llama.context_length': 4096,
    'llama.block_count': 2,
    'llama.rope.scale': 2.5,
    'general.architecture': 'llama',
  });
});

test('metadata survives JSON and structured clone, whatever the numbers (B08)', async () => {
  const bytes = writeGguf(
    {
      huge: { type: 'uint64', value: 2 ** 63 },
      nan: { type: 'float32', value: NaN },
      low: { type: 'float64', value: -Infinity },
      zero: { type: 'float32', value: -0 },
      ['__proto__']: { type: 'bool', value: true },
    },
    [],
  );
  const { metadata } = await read(bytes);
  expect(metadata.huge).toBe('9223372036854775808');
  expect(metadata.nan).toBe('NaN');
  expect(metadata.low).toBe('-Infinity');
  expect(Object.hasOwn(metadata, '__proto__')).toBe(true);
  expect(JSON.parse(JSON.stringify(metadata))).toStrictEqual(metadata);
  expect(structuredClone(metadata)).toStrictEqual(metadata);
});

test('an unknown tensor type names the tensor, the id and what is supported (B06)', async () => {
  const error = await failure(read(fromBase64(bad.type39)));
  expect(error.code).toBe('unsupported');
  expect(error.message).toContain('blk.0.ffn_down.weight');
  expect(error.message).toContain('type id 39 (MXFP4)');
  expect(error.message).toContain('F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0');
  expect(toWire(error).details).toMatchObject({ typeId: 39 });
});

test('a row that does not fill blocks names both numbers (B06)', async () => {
  const error = await failure(read(fromBase64(bad.q4k_row72)));
  expect(error.code).toBe('bad_input');
  expect(error.message).toMatch(/blk\.0\.attn_q\.weight.*72 is not a multiple of 256/);
});

test('a file that is something else is refused by what it begins with', async () => {
  const html = new TextEncoder().encode('<!DOCTYPE html><title>404</title>');
  const { message } = await failure(read(html));
  expect(message).toMatch(/33 bytes and begins with "<!DO"/);
  expect(message).toContain('give the address of the file itself');
  expect((await failure(read(new Uint8Array(0)))).message).toMatch(/0 bytes/);
});

test('version 1 and big-endian files are refused by name', async () => {
  const one = fromBase64(bad.key_order);
  one[4] = 1;
  expect((await failure(read(one))).message).toMatch(/GGUF version 1; expected version 2 or 3/);
  const big = fromBase64(bad.key_order);
  big.set([0, 0, 0, 3], 4);
  expect((await failure(read(big))).message).toMatch(/big-endian/);
});

test('a repeated key or tensor, an overlap and a bad alignment are refused', async () => {
  const tensor = (name: string): GgufTensorData => ({
    name,
    type: 'F32',
    shape: [8],
    data: new Uint8Array(32),
  });
  const twice = writeGguf({}, [tensor('a'), tensor('a')]);
  expect((await failure(read(twice))).message).toMatch(/tensor "a" occurs twice/);
  const keys = writeGguf(
    { 'k.a': { type: 'bool', value: true }, 'k.b': { type: 'bool', value: true } },
    [],
  );
  keys[keys.indexOf('b'.charCodeAt(0), 24)] = 'a'.charCodeAt(0);
  expect((await failure(read(keys))).message).toMatch(/key "k.a" occurs twice/);
  const alignment = writeGguf({ 'general.alignment': { type: 'uint32', value: 24 } }, []);
  expect((await failure(read(alignment))).message).toMatch(/alignment is 24; expected a power/);
  const overlap = writeGguf({}, [tensor('a'), tensor('b')]);
  overlap[24 + 2 * 33 - 8] = 0; // the second tensor's offset, 32
  expect((await failure(read(overlap))).message).toMatch(/"a" and "b" overlap/);
});

test('damage anywhere ends in a LabError or a header, never in another failure', async () => {
  const good = fixture('cases/gguf_py.gguf');
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(511), fc.nat(255)), { minLength: 1, maxLength: 8 }),
      async (edits) => {
        const bytes = good.slice();
        for (const [at, value] of edits) bytes[at] = value;
        const outcome = await read(bytes).then(
          () => null,
          (thrown: unknown) => thrown,
        );
        if (outcome !== null) expect(outcome).toBeInstanceOf(LabError);
      },
    ),
    { numRuns: 500 },
  );
});
