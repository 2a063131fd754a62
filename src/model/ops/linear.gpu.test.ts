/** Products with quantised matrices as WGSL: against sums over the decoded values, for every type. */

import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GGML_TYPES, type GgmlType } from '../../formats/quants.ts';
import { deriveRng } from '../../math/rng.ts';
import type { OpenBackend } from '../device.ts';
import { FIXED, useChoice, VARIANTS } from '../variants.ts';
import { uploadWeight } from '../weights.ts';
import { gatherRows } from './gather-rows.ts';
import { linear, linearBackward } from './linear.ts';
import { gpuBackend } from './program.ts';
import { distance, oddWeight, randomArray } from './testing.ts';
import { openGpu } from './testing-gpu.ts';

/** Sums of up to 768 products in float32, in another order than the expected ones in double. */
const TOLERANCE = 5e-6;

let opened: OpenBackend;
beforeAll(async () => {
  opened = await openGpu();
});
afterAll(() => opened.dispose());

/** Runs one case of a type under the choice in use: the product, its gradient, picked rows. */
async function check(type: GgmlType, number: number, purpose: string): Promise<void> {
  const rng = deriveRng(7, purpose, type, number);
  const odd = oddWeight(rng, type);
  const tokens = number % 3 === 0 ? 1 : 1 + rng.int(9);
  const x = randomArray(rng, tokens * odd.cols);
  const dy = randomArray(rng, tokens * odd.rows);
  const ids = Int32Array.from({ length: tokens }, () => rng.int(odd.rows));
  const w = uploadWeight('w', type, odd.rows, odd.cols, odd.bytes);
  const results = tf.tidy(() => [
    linear(tf.tensor2d(x, [tokens, odd.cols]), w),
    linearBackward(tf.tensor2d(dy, [tokens, odd.rows]), w),
    gatherRows(w, ids),
  ]);
  const [y, dx, rows] = await Promise.all(results.map((each) => each.data()));
  tf.dispose(results);
  w.dispose();
  const at = `case ${number}: ${type}, ${tokens} x ${odd.rows} x ${odd.cols}`;
  expect(distance(y ?? [], product(x, odd, tokens)), `linear, ${at}`).toBeLessThan(TOLERANCE);
  expect(distance(dx ?? [], gradient(dy, odd, tokens)), `backward, ${at}`).toBeLessThan(TOLERANCE);
  expect(distance(rows ?? [], picked(ids, odd)), `gather, ${at}`).toBeLessThan(1e-7);
}

describe.each(GGML_TYPES)('%s', (type) => {
  it('linear, linearBackward and gatherRows agree with the decoded values on 20 odd shapes', async () => {
    const before = tf.memory().numTensors;
    for (let number = 0; number < 20; number++) await check(type, number, 'linear');
    expect(tf.memory().numTensors).toBe(before);
    expect(opened.ledger?.livePurposes().get('weights')).toBeUndefined();
  });
});

/** One of each kind: plain numbers; scale and offset; scale alone; neither. */
const KINDS: readonly GgmlType[] = ['F32', 'Q4_1', 'Q8_0', 'Q6_K'];

// `halves` wants float16, which SwiftShader lacks: linear-tile.test.ts.
describe.each([
  ...(['wide', 'workgroup'] as const).map((matmul) => ({ ...FIXED, matmul })),
  ...VARIANTS.transpose.slice(1).map((transpose) => ({ ...FIXED, transpose })),
])('products $matmul, gradients $transpose', (choice) => {
  it('agree with the decoded values on 20 odd shapes', async () => {
    const { device } = gpuBackend();
    useChoice(device, choice);
    for (let number = 0; number < 20; number++) {
      await check(KINDS[number % KINDS.length] ?? 'F32', number, 'variants');
    }
    useChoice(device, FIXED);
  });
});

interface Decoded {
  readonly rows: number;
  readonly cols: number;
  readonly values: Float32Array;
}

function product(x: Float32Array, { rows, cols, values }: Decoded, tokens: number): Float64Array {
  const y = new Float64Array(tokens * rows);
  for (let t = 0; t < tokens; t++) {
    for (let r = 0; r < rows; r++) {
      for (let i = 0; i < cols; i++) {
        y[t * rows + r] =
          (y[t * rows + r] ?? 0) + (x[t * cols + i] ?? 0) * (values[r * cols + i] ?? 0);
      }
    }
  }
  return y;
}

function gradient(dy: Float32Array, { rows, cols, values }: Decoded, tokens: number): Float64Array {
  const dx = new Float64Array(tokens * cols);
  for (let t = 0; t < tokens; t++) {
    for (let r = 0; r < rows; r++) {
      for (let i = 0; i < cols; i++) {
        dx[t * cols + i] =
          (dx[t * cols + i] ?? 0) + (dy[t * rows + r] ?? 0) * (values[r * cols + i] ?? 0);
      }
    }
  }
  return dx;
}

function picked(ids: Int32Array, { cols, values }: Decoded): Float32Array {
  const out = new Float32Array(ids.length * cols);
  ids.forEach((id, t) => {
    out.set(values.subarray(id * cols, (id + 1) * cols), t * cols);
  });
  return out;
}
