/** The gradient of a product with quantised blocks on WASM, which rounds: by how much at most. */

import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, expect, it } from 'vitest';
import {
  BLOCK_GROUPS,
  type BlockType,
  emptyBlock,
  isBlockType,
  readBlock,
} from '../../formats/quant-blocks.ts';
import { GGML_LAYOUTS, GGML_TYPES } from '../../formats/quants.ts';
import { deriveRng } from '../../math/rng.ts';
import { uploadWeight } from '../weights.ts';
import { linearBackward } from './linear.ts';
import { forCases, type OddWeight, oddWeight, random2D } from './testing.ts';
import { openHost } from './testing-node.ts';

beforeAll(() => openHost('wasm'));

it.each(GGML_TYPES.filter(isBlockType))(
  "a gradient through %s errs by no more than dy · d rounded to 16 bits of 32 rows' largest",
  (type) => {
    forCases(`transposed ${type}`, 20, (rng) => {
      checkGradient(type, oddWeight(rng, type), random2D(rng, 1 + rng.int(6), 40));
    });
    // More rows than the kernel takes in one run.
    const rng = deriveRng(7, 'rows', type);
    let tall = oddWeight(rng, type, 1100);
    while (tall.rows <= 512) tall = oddWeight(rng, type, 1100);
    checkGradient(type, tall, random2D(rng, 2, tall.rows));
  },
);

/** Compares with sums in double; the columns of `wide` beyond the matrix's rows are left out. CONSUMES `wide`. */
function checkGradient(type: BlockType, odd: OddWeight, wide: tf.Tensor2D): void {
  const { rows, cols, values } = odd;
  const tokens = wide.shape[0];
  const w = uploadWeight('w', type, rows, cols, odd.bytes);
  const dyTensor = tf.slice(wide, [0, 0], [tokens, rows]);
  const dxTensor = linearBackward(dyTensor, w);
  const [dy, dx] = [dyTensor.dataSync(), dxTensor.dataSync()];
  const { group } = BLOCK_GROUPS[type];
  const { d, m } = scalesOf(type, odd);
  for (let t = 0; t < tokens; t++) {
    for (let i = 0; i < cols; i++) {
      let exact = 0;
      let allowed = 0;
      for (let first = 0; first < rows; first += 32) {
        let mostDy = 0;
        let mostD = 0;
        let integers = 0;
        for (let r = first; r < Math.min(first + 32, rows); r++) {
          const scale = (r * cols + i - (i % group)) / group;
          const [slope, value] = [dy[t * rows + r] ?? 0, values[r * cols + i] ?? 0];
          const [own, offset] = [d[scale] ?? 0, m[scale] ?? 0];
          mostDy = Math.max(mostDy, Math.abs(slope));
          mostD = Math.max(mostD, Math.abs(own));
          integers += own === 0 ? 0 : Math.abs((value - offset) / own);
          exact += value * slope;
          // float32: each product's own rounding, and those of its sums.
          allowed += (Math.abs(value) + 2 * Math.abs(offset)) * Math.abs(slope) * rows * 2 ** -24;
        }
        // Half a step of the 16 bits for each row, times its integer.
        allowed += integers * mostDy * mostD * (1.001 / 65534);
      }
      const error = Math.abs((dx[t * cols + i] ?? 0) - exact);
      expect(error, `token ${t}, column ${i}`).toBeLessThanOrEqual(allowed);
    }
  }
  tf.dispose([wide, dyTensor, dxTensor]);
  w.dispose();
}

/** d and m of each group of consecutive values. */
function scalesOf(type: BlockType, { bytes }: OddWeight): { d: number[]; m: number[] } {
  const { blockSize, typeBytes } = GGML_LAYOUTS[type];
  const { group, offsets } = BLOCK_GROUPS[type];
  const block = emptyBlock();
  const scales: { d: number[]; m: number[] } = { d: [], m: [] };
  for (let p = 0; p < bytes.length; p += typeBytes) {
    readBlock(type, bytes, p, block);
    for (let g = 0; g < blockSize / group; g++) {
      scales.d.push(block.d[g] ?? 0);
      scales.m.push(offsets ? (block.m[g] ?? 0) : 0);
    }
  }
  return scales;
}
