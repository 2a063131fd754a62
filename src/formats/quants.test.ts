import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import q4k from '../../e2e/fixtures/cases/q4k.json' with { type: 'json' };
// Real blocks decoded by gguf-py's quants.dequantize.
import blocks from '../../e2e/fixtures/families/quant_blocks.json' with { type: 'json' };
import encoded from '../../e2e/fixtures/families/quant_encode.json' with { type: 'json' };
import { floatToHalf, halfAt } from './half.ts';
import { byteLength, dequantize, GGML_LAYOUTS, GGML_TYPES, quantize } from './quants.ts';

const halfToFloat = (half: number) => halfAt(Uint8Array.of(half & 255, half >> 8), 0);
const fromHex = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'));
const blockTypes = GGML_TYPES.flatMap((type) =>
  type in blocks ? [type as keyof typeof blocks] : [],
);

/** The float32 bit patterns, so that -0 and NaN count. */
const bits = (values: Float32Array) => [...new Uint32Array(values.buffer)];

describe.each(blockTypes)('%s', (type) => {
  const fixture = blocks[type];

  test('has the block size and bytes of gguf-py', () => {
    expect(GGML_LAYOUTS[type].blockSize).toBe(fixture.block_size);
    expect(GGML_LAYOUTS[type].typeBytes).toBe(fixture.type_size);
  });

  test('decodes real blocks bit for bit, one by one and together at an odd address', () => {
    fixture.hex.forEach((hex, i) => {
      const out = new Float32Array(fixture.block_size);
      dequantize(type, fromHex(hex), out);
      expect(bits(out)).toEqual(bits(Float32Array.from(fixture.values[i] ?? [])));
    });
    const all = fromHex(fixture.hex.join(''));
    const shifted = new Uint8Array(all.length + 3);
    shifted.set(all, 3);
    const out = new Float32Array(fixture.block_size * fixture.hex.length);
    dequantize(type, shifted.subarray(3), out);
    expect(bits(out)).toEqual(bits(Float32Array.from(fixture.values.flat())));
  });
});

test('all ten block formats were compared', () => {
  expect(blockTypes.length).toBe(10);
});

test('Q4_K sub-blocks 4 to 7 take the high bits of their scales from bytes 0 to 3 (B04)', () => {
  const out = new Float32Array(256);
  dequantize('Q4_K', fromHex(q4k.q4k.hex), out);
  expect([0, 32, 64, 96, 128, 160, 192, 224].map((i) => out[i])).toEqual([
    0.09375, -0.3125, 0.53125, 8.5625, 1.59375, 14.625, 2.375, 15.8125,
  ]);
  expect(out[255]).toBe(9.90625);
  expect(out.reduce((sum, value) => sum + value, 0)).toBe(1366.5);
  expect([...out]).toEqual(q4k.q4k.values);
});

test('BF16 is the upper half of float32', () => {
  const out = new Float32Array(3);
  dequantize('BF16', fromHex('803f' + '49c0' + '0080'), out); // IEEE bits 3f80, c049, 8000
  expect(bits(out)).toEqual([0x3f800000, 0xc0490000, 0x80000000]);
});

test('float16 has the values of IEEE 754 at its edges', () => {
  const edges: [number, number][] = [
    [0x0000, 0],
    [0x0001, 2 ** -24],
    [0x03ff, 0.00006097555160522461],
    [0x0400, 0.00006103515625],
    [0x3c00, 1],
    [0x3555, 0.333251953125],
    [0x7bff, 65504],
    [0x7c00, Infinity],
    [0xfc00, -Infinity],
    [0xc000, -2],
  ];
  for (const [half, value] of edges) {
    expect(halfToFloat(half)).toBe(value);
    expect(floatToHalf(value)).toBe(half);
  }
  expect(halfToFloat(0x7e00)).toBeNaN();
});

test('every float16 survives the way to float32 and back', () => {
  const halves = Array.from({ length: 65536 }, (_, half) => half);
  const lost = halves.filter((half) => {
    const value = halfToFloat(half);
    return !Number.isNaN(value) && floatToHalf(value) !== half;
  });
  expect(lost).toEqual([]);
});

test('float16 rounds to nearest, ties to even, and overflows at 65520', () => {
  expect(floatToHalf(1 + 2 ** -11)).toBe(0x3c00);
  expect(floatToHalf(1 + 3 * 2 ** -11)).toBe(0x3c02);
  expect(floatToHalf(1 + 2 ** -11 + 2 ** -20)).toBe(0x3c01);
  expect(floatToHalf(2 ** -25)).toBe(0);
  expect(floatToHalf(1.5 * 2 ** -24)).toBe(2);
  expect(floatToHalf(65519)).toBe(0x7bff);
  expect(floatToHalf(65520)).toBe(0x7c00);
});

describe.each(['Q8_0', 'F16', 'BF16'] as const)('quantize %s', (type) => {
  test('gives the bytes of gguf-py', () => {
    const fixture = encoded[type];
    const values = new Float32Array(fromHex(encoded.values_f32_hex).buffer);
    expect(Buffer.from(quantize(type, values)).toString('hex')).toBe(fixture);
  });
});

test('a Q8_0 value is off by at most half a step', () => {
  fc.assert(
    fc.property(
      fc.array(fc.float({ min: -100, max: 100, noNaN: true }), { minLength: 32, maxLength: 32 }),
      (list) => {
        const values = Float32Array.from(list);
        const out = new Float32Array(32);
        dequantize('Q8_0', quantize('Q8_0', values), out);
        const largest = Math.max(...list.map(Math.abs));
        // Half a step of 1/127, and the float16 rounding (or underflow) of the step itself.
        const tolerance = (largest / 127) * 0.5 + largest * 2 ** -11 + 127 * 2 ** -25;
        values.forEach((value, i) => {
          expect(Math.abs(value - (out[i] ?? NaN))).toBeLessThanOrEqual(tolerance);
        });
      },
    ),
  );
});

test('a length that is no whole number of blocks is refused with both numbers', () => {
  expect(() => byteLength('Q4_K', 72)).toThrow(/72 values.*Q4_K.*multiple of 256/);
  expect(() => dequantize('Q8_0', new Uint8Array(33), new Float32Array(32))).toThrow(/34.*33/);
});
