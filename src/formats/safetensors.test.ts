import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LabError } from '../errors.ts';
import { type FloatTensor, readSafetensors, writeSafetensors } from './safetensors.ts';

/** A hand-made file: any header text, then any data. */
function file(header: string, data: Uint8Array): Uint8Array {
  const text = new TextEncoder().encode(header);
  const bytes = new Uint8Array(8 + text.length + data.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(text.length), true);
  bytes.set(text, 8);
  bytes.set(data, 8 + text.length);
  return bytes;
}
const headerLength = (bytes: Uint8Array) =>
  Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
const entry = (shape: number[], from: number, to: number, dtype = 'F32') =>
  `{"dtype":"${dtype}","shape":${JSON.stringify(shape)},"data_offsets":[${from},${to}]}`;

test('data that begins at an odd address is read (B23)', () => {
  const odd = Buffer.from(
    'SwAAAAAAAAB7IngubG9yYV9BLndlaWdodCI6eyJkdHlwZSI6IkYzMiIsInNoYXBlIjpbMiwyXSwiZGF0YV9vZmZzZXRzIjpbMCwxNl19fSAgICAAAMA/AAAAwAAAgD4AAABB',
    'base64',
  );
  expect(8 + headerLength(odd)).toBe(83);
  const { tensors } = readSafetensors(odd);
  expect([...tensors.keys()]).toEqual(['x.lora_A.weight']);
  expect(tensors.get('x.lora_A.weight')).toEqual({
    shape: [2, 2],
    values: Float32Array.of(1.5, -2, 0.25, 8),
  });
});

test("the safetensors library's own file is read, F16 and empty tensors too", () => {
  const bytes = readFileSync(
    new URL('../../e2e/fixtures/cases/python.safetensors', import.meta.url),
  );
  const { tensors, metadata } = readSafetensors(bytes);
  expect(metadata).toEqual({ format: 'pt' });
  expect(Object.fromEntries(tensors)).toEqual({
    b: { shape: [2, 2], values: Float32Array.of(1.5, -2, 0.25, 8) },
    a: { shape: [3], values: Float32Array.of(0.5, -1, 65504) },
    c: { shape: [0, 3], values: new Float32Array(0) },
  });
});

test('a header that says a thing twice is refused: readers would take different ones', () => {
  const data = new Uint8Array(8);
  const [flat, square] = [entry([2], 0, 8), entry([1, 2], 0, 8)];
  const twice = [
    `{"x":${flat},"x":${square}}`,
    `{"x":${flat},"\\u0078":${square}}`,
    `{"x":${flat.replace('"shape"', '"dtype":"F32","shape"')}}`,
    `{"__metadata__":{"x":"1","x":"2"},"y":${flat}}`,
  ];
  for (const header of twice) {
    expect(() => readSafetensors(file(header, data))).toThrow(/names "(x|dtype)" twice/);
  }
  const once = `{"__metadata__":{"x":"{\\"x\\": 1}","y":"x"},"x":${flat}}`;
  expect(readSafetensors(file(once, data)).metadata).toEqual({ x: '{"x": 1}', y: 'x' });
});

test('a header that no adapter has is refused by its length, before it is read', () => {
  const began = performance.now();
  for (const content of [' '.repeat(8e6 - 1), `{"a":"${'x'.repeat(9e6)}"}`, '['.repeat(4e7)]) {
    expect(() => readSafetensors(file(`{}${content}`, new Uint8Array(0)), 'x')).toThrow(
      /^x has a header of \d+ bytes; one of an adapter may have 8000000\.$/,
    );
  }
  expect(performance.now() - began).toBeLessThan(5000);
  expect(readSafetensors(file(`{}${' '.repeat(7e6)}`, new Uint8Array(0))).tensors.size).toBe(0);
});

test('BF16 is read as the upper half of float32', () => {
  const bytes = file(`{"x":${entry([2], 0, 4, 'BF16')}}`, Uint8Array.of(0x80, 0x3f, 0x49, 0xc0));
  expect(readSafetensors(bytes).tensors.get('x')?.values).toEqual(Float32Array.of(1, -3.140625));
});

test('a written header is padded with spaces to a multiple of 8, its metadata texts (B23)', () => {
  for (const name of ['a', 'ab', 'abc', 'abcd', 'abcde', 'abcdef', 'abcdefg', 'abcdefgh']) {
    const bytes = writeSafetensors(new Map([[name, { shape: [1], values: Float32Array.of(1) }]]));
    const length = headerLength(bytes);
    expect(length % 8).toBe(0);
    const header = new TextDecoder().decode(bytes.subarray(8, 8 + length));
    expect(header).toMatch(/^\{.*\} {0,7}$/);
    expect(JSON.parse(header)).toEqual({
      __metadata__: { format: 'pt' },
      [name]: { dtype: 'F32', shape: [1], data_offsets: [0, 4] },
    });
    expect(bytes.length).toBe(8 + length + 4);
  }
});

test('what is written is read back, whatever names, shapes and values', () => {
  const tensor = fc.tuple(fc.nat(4), fc.nat(4)).chain(([rows, cols]) =>
    fc
      .array(fc.float({ noNaN: true, noDefaultInfinity: true }), {
        minLength: rows * cols,
        maxLength: rows * cols,
      })
      .map((list): FloatTensor => ({ shape: [rows, cols], values: Float32Array.from(list) })),
  );
  const names = fc.string({ unit: 'grapheme' }).filter((name) => name !== '__metadata__');
  fc.assert(
    fc.property(fc.array(fc.tuple(names, tensor)), (list) => {
      const tensors = new Map(list);
      expect(readSafetensors(writeSafetensors(tensors)).tensors).toEqual(tensors);
    }),
  );
});

test('the order of the header need not be that of the data (B23)', () => {
  const data = new Uint8Array(Float32Array.of(1, 2, 3).buffer);
  const bytes = file(`{"late":${entry([1], 8, 12)},"early":${entry([2], 0, 8)}}`, data);
  const { tensors } = readSafetensors(bytes);
  expect(tensors.get('late')?.values).toEqual(Float32Array.of(3));
  expect(tensors.get('early')?.values).toEqual(Float32Array.of(1, 2));
});

test.each([
  ['padding with NUL', `{"x":${entry([1], 0, 4)}}\0\0`, 4, /NUL bytes; expected spaces/],
  ['overlap', `{"x":${entry([2], 0, 8)},"y":${entry([2], 4, 12)}}`, 12, /"y".*overlaps/],
  ['a hole', `{"x":${entry([1], 0, 4)},"y":${entry([1], 8, 12)}}`, 12, /"y".*hole.*expected 4/],
  ['a short data area', `{"x":${entry([2], 0, 8)}}`, 7, /take 8 bytes.*has 7.*cut or damaged/],
  ['a long data area', `{"x":${entry([2], 0, 8)}}`, 9, /take 8 bytes.*has 9/],
  ['a shape that does not fit', `{"x":${entry([3], 0, 8)}}`, 8, /\[3\] in F32 takes 12.*\[0, 8\]/],
  ['metadata that is no text', `{"__metadata__":{"n":1},"x":${entry([1], 0, 4)}}`, 4, /texts/],
  ['a list', '[]', 0, /no JSON object/],
  ['a missing shape', '{"x":{"dtype":"F32","data_offsets":[0,4]}}', 4, /"x" lacks/],
])('%s is refused', (_, header, dataBytes, message) => {
  expect(() => readSafetensors(file(header, new Uint8Array(dataBytes)))).toThrow(message);
});

test('an unknown type is unsupported and named', () => {
  const bytes = file(`{"x":${entry([4], 0, 4, 'I8')}}`, new Uint8Array(4));
  expect(() => readSafetensors(bytes)).toThrow(/"x" is of type I8; supported are F32, F16, BF16/);
});

test('a file that is cut, or none, ends in a LabError', () => {
  const bytes = writeSafetensors(new Map([['x', { shape: [2], values: Float32Array.of(1, 2) }]]));
  for (let length = 0; length < bytes.length; length++) {
    expect(() => readSafetensors(bytes.subarray(0, length))).toThrow(LabError);
  }
  expect(() => readSafetensors(new Uint8Array(16).fill(255))).toThrow(/announces a header/);
  const early = file('{}', new Uint8Array(0));
  early[0] = 3;
  expect(() => readSafetensors(early)).toThrow(/header of 3 bytes, but has 10/);
});

test('a shape that does not fit its values is not written', () => {
  const tensors = new Map([['x', { shape: [3], values: Float32Array.of(1, 2) }]]);
  expect(() => writeSafetensors(tensors)).toThrow(/"x" of shape \[3\] has 2 values; expected 3/);
});
