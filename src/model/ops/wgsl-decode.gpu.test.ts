/** Decoding on the GPU: the values of gguf-py, bit for bit. */

import { afterAll, beforeAll, expect, it } from 'vitest';
import q4k from '../../../e2e/fixtures/cases/q4k.json' with { type: 'json' };
// Real blocks decoded by gguf-py's quants.dequantize.
import blocks from '../../../e2e/fixtures/families/quant_blocks.json' with { type: 'json' };
import { GGML_TYPES, type GgmlType } from '../../formats/quants.ts';
import type { OpenBackend } from '../device.ts';
import { uploadWeight } from '../weights.ts';
import { gatherRows } from './gather-rows.ts';
import { openGpu } from './testing-gpu.ts';

let opened: OpenBackend;
beforeAll(async () => {
  opened = await openGpu();
});
afterAll(() => opened.dispose());

const blockTypes = GGML_TYPES.flatMap((type) =>
  type in blocks ? [type as keyof typeof blocks] : [],
);

const fromHex = (hex: string) =>
  Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));

/** The float32 bit patterns; a zero counts as itself whatever its sign, which WGSL leaves open. */
const bits = (values: Float32Array) => [...new Uint32Array(values.map((x) => x + 0).buffer)];

async function decoded(type: GgmlType, hex: readonly string[], cols: number) {
  const w = uploadWeight('w', type, hex.length, cols, fromHex(hex.join('')));
  const rows = gatherRows(
    w,
    Int32Array.from(hex, (_, i) => i),
  );
  const values = Float32Array.from(await rows.data());
  rows.dispose();
  w.dispose();
  return values;
}

it.each(blockTypes)('%s has the bits of gguf-py on real blocks, one a row', async (type) => {
  const { hex, values, block_size } = blocks[type];
  const expected = Float32Array.from(values.flat());
  expect(bits(await decoded(type, hex, block_size))).toEqual(bits(expected));
});

it('all ten block formats were compared', () => {
  expect(blockTypes.length).toBe(10);
});

it('Q4_K takes the high bits of its last scales from bytes 0 to 3 (B04)', async () => {
  const found = await decoded('Q4_K', [q4k.q4k.hex], 256);
  expect([...found]).toEqual(q4k.q4k.values);
});
