import { describe, expect, it } from 'vitest';
import { deriveRng } from '../math/rng.ts';
import { randomBlocks } from '../model/ops/testing.ts';
import { BLOCK_GROUPS, type BlockType, emptyBlock, readBlock } from './quant-blocks.ts';
import { dequantize, GGML_LAYOUTS } from './quants.ts';

const types = Object.keys(BLOCK_GROUPS) as BlockType[]; // the Record's own keys

describe.each(types)('blocks of %s as integers', (type) => {
  it('give the decoded values, bit for bit, by one product and one sum in float32', () => {
    const { blockSize, typeBytes } = GGML_LAYOUTS[type];
    const { group, offsets } = BLOCK_GROUPS[type];
    const bytes = randomBlocks(deriveRng(7, 'blocks', type), type, 20 * blockSize);
    const values = new Float32Array(20 * blockSize);
    dequantize(type, bytes, values);
    const block = emptyBlock();
    for (let i = 0; i < 20; i++) {
      readBlock(type, bytes, i * typeBytes, block);
      for (let j = 0; j < blockSize; j++) {
        const g = Math.floor(j / group);
        const scaled = Math.fround((block.d[g] ?? 0) * (block.q[j] ?? 0));
        const value = Math.fround(scaled + (block.m[g] ?? 0));
        // + 0: a negative zero of one form is a zero of the other.
        expect(value + 0).toBe((values[i * blockSize + j] ?? 0) + 0);
        if (!offsets) expect(block.m[g]).toBe(0);
      }
    }
  });
});
