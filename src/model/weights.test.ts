/** Frozen matrices on wasm and cpu: the products against decode + tf.matMul, and who owns what memory. */

import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { BLOCK_GROUPS, isBlockType } from '../formats/quant-blocks.ts';
import { GGML_TYPES, type GgmlType } from '../formats/quants.ts';
import { deriveRng } from '../math/rng.ts';
import { gatherRows } from './ops/gather-rows.ts';
import { linear, linearBackward, linearReference } from './ops/linear.ts';
import { distance, forCases, oddWeight, random2D, randomBlocks } from './ops/testing.ts';
import { openHost } from './ops/testing-node.ts';
import { uploadWeight } from './weights.ts';
import { HostWeight } from './weights-host.ts';

const TOLERANCE = 2e-5; // float32 sums in another order

describe.each(['wasm', 'cpu'] as const)('on %s', (backend) => {
  beforeAll(() => openHost(backend));

  it.each(GGML_TYPES)(
    'a product with %s equals decode + matMul on 20 odd shapes, and so does its gradient where nothing is rounded',
    (type) => {
      const before = tf.memory().numTensors;
      forCases(`linear ${type}`, 20, (rng) => {
        const odd = oddWeight(rng, type);
        const w = uploadWeight('w', type, odd.rows, odd.cols, odd.bytes);
        tf.tidy(() => {
          const decoded = tf.tensor2d(odd.values, [odd.rows, odd.cols]);
          const rows = 1 + rng.int(6);
          const x = asSixteenBits(random2D(rng, rows, odd.cols), type);
          const dy = random2D(rng, rows, odd.rows);
          const y = linear(x, w);
          expect(distance(y.dataSync(), linearReference(x, decoded).dataSync())).toBeLessThan(
            TOLERANCE,
          );
          if (backend === 'wasm' && isBlockType(type)) return;
          const dx = tf.grad((each) => linearReference(each as tf.Tensor2D, decoded))(x, dy);
          expect(distance(linearBackward(dy, w).dataSync(), dx.dataSync())).toBeLessThan(TOLERANCE);
        });
        w.dispose();
      });
      expect(tf.memory().numTensors).toBe(before);
    },
  );

  it.each(['Q4_1', 'Q8_0', 'Q6_K'] as const)(
    'a product with %s errs by no more than the rounding of x to 16 bits of its block',
    (type) => {
      forCases(`rounding ${type}`, 20, (rng) => {
        const { rows, cols, bytes, values } = oddWeight(rng, type);
        const w = uploadWeight('w', type, rows, cols, bytes);
        tf.tidy(() => {
          const x = random2D(rng, 3, cols);
          const [xs, ys] = [x.dataSync(), linear(x, w).dataSync()];
          for (let t = 0; t < 3; t++) {
            for (let r = 0; r < rows; r++) {
              let exact = 0;
              let allowed = 0;
              for (let i = 0; i < cols; i++) {
                const value = values[r * cols + i] ?? 0;
                exact += value * (xs[t * cols + i] ?? 0);
                // |x| < 1, so half a step is below 1 / 65534; the rest is float32 summation.
                allowed += Math.abs(value) * (1 / 65534 + cols * 2 ** -24);
              }
              expect(Math.abs((ys[t * rows + r] ?? 0) - exact)).toBeLessThanOrEqual(allowed);
            }
          }
        });
        w.dispose();
      });
    },
  );

  it.each(['Q4_1', 'Q8_0', 'Q6_K'] as const)(
    "a small model's product with %s errs by float32 sums alone",
    (type) => {
      forCases(`small ${type}`, 20, (rng) => {
        const { rows, cols, bytes, values } = oddWeight(rng, type);
        const w = uploadWeight('w', type, rows, cols, bytes, 2 ** 18);
        tf.tidy(() => {
          const x = random2D(rng, 1 + rng.int(6), cols);
          const dy = random2D(rng, x.shape[0], rows);
          const decoded = tf.tensor2d(values, [rows, cols]);
          const f = (each: tf.Tensor) => linearReference(each as tf.Tensor2D, decoded);
          const y = linear(x, w).dataSync();
          expect(distance(y, f(x).dataSync())).toBeLessThan(TOLERANCE);
          const dx = linearBackward(dy, w).dataSync();
          expect(distance(dx, tf.grad(f)(x, dy).dataSync())).toBeLessThan(TOLERANCE);
          const ids = Int32Array.of(rows - 1, 0);
          const last = values.slice((rows - 1) * cols);
          expect(gatherRows(w, ids).dataSync().slice(0, cols)).toEqual(last);
        });
        w.dispose();
      });
    },
  );

  it('gathered rows are the decoded rows, bit for bit; an id outside is refused', () => {
    const odd = oddWeight(deriveRng(7, 'gather'), 'Q4_1');
    const w = uploadWeight('embedding', 'Q4_1', odd.rows, odd.cols, odd.bytes);
    const last = odd.rows - 1;
    const rows = gatherRows(w, Int32Array.of(last, 0));
    expect(rows.dataSync().slice(0, odd.cols)).toEqual(odd.values.slice(last * odd.cols));
    expect(rows.dataSync().slice(odd.cols)).toEqual(odd.values.slice(0, odd.cols));
    expect(() => gatherRows(w, Int32Array.of(odd.rows))).toThrow(/embedding: id \d+ is outside/);
    rows.dispose();
    w.dispose();
  });

  it.each(GGML_TYPES)('a row of a product with %s has the same bits in any company', (type) => {
    const rng = deriveRng(7, 'bits', type);
    const w = uploadWeight('w', type, 37, 256, randomBlocks(rng, type, 37 * 256));
    tf.tidy(() => {
      const x = random2D(rng, 64, 256);
      const together = linear(x, w).dataSync();
      for (const count of [1, 2, 3, 5]) {
        const alone = linear(tf.slice(x, [0, 0], [count, 256]), w).dataSync();
        expect(alone).toEqual(together.slice(0, count * 37));
      }
    });
    w.dispose();
  });

  it('what is made is made once and freed by dispose', () => {
    const before = tf.memory();
    const w = uploadWeight('w', 'F32', 3, 5, new Uint8Array(60));
    const counts = [1, 2, 3].map(() => {
      tf.tidy(() => void linearBackward(linear(tf.zeros([2, 5]), w), w));
      return tf.memory().numTensors;
    });
    expect(new Set(counts).size).toBe(1);
    w.dispose();
    expect(tf.memory().numBytes).toBe(before.numBytes);
  });

  it('bytes that do not fit the shape are refused with both numbers', () => {
    expect(() => uploadWeight('blk.0.w', 'Q8_0', 2, 32, new Uint8Array(67))).toThrow(
      /blk\.0\.w: 2 x 32 values of Q8_0 take 68 bytes; found 67/,
    );
  });
});

/** x [T, cols] rounded to 16 bits of the largest |x| of each block: what the vector kernels keep. */
function asSixteenBits(x: tf.Tensor2D, type: GgmlType): tf.Tensor2D {
  if (!isBlockType(type)) return x;
  const { group } = BLOCK_GROUPS[type];
  const values = Float32Array.from(x.dataSync());
  const [, cols] = x.shape;
  for (let row = 0; row < values.length; row += cols) {
    for (let first = 0; first < cols; first += group) {
      const block = values.subarray(row + first, row + Math.min(first + group, cols));
      const most = block.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      for (let i = 0; i < block.length; i++) {
        block[i] = (Math.round(((block[i] ?? 0) / most) * 32767) * most) / 32767;
      }
    }
  }
  return tf.tensor2d(values, x.shape);
}

it('a matrix beyond the end of the wasm heap is refused before anything is allocated', async () => {
  await openHost('wasm');
  const before = tf.memory().numBytes;
  const w = new HostWeight('big', 'F32', 2 ** 20, 2 ** 10, new Uint8Array());
  expect(() => w.transposed()).toThrow(/big: .* more than 3489660928/);
  expect(tf.memory().numBytes).toBe(before);
});
