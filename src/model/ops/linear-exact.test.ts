/** The product for measuring on WASM: float32's own errors, over more rows than are decoded together. */

import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, expect, it } from 'vitest';
import type { GgmlType } from '../../formats/quants.ts';
import { deriveRng } from '../../math/rng.ts';
import { uploadWeight } from '../weights.ts';
import { linear } from './linear.ts';
import { oddWeight, random2D } from './testing.ts';
import { openHost } from './testing-node.ts';

beforeAll(() => openHost('wasm'));

it.each<GgmlType>(['Q4_1', 'Q8_0', 'Q6_K'])(
  '%s: x is not rounded, alone or beside others',
  (type) => {
    const rng = deriveRng(7, 'exact', type);
    let odd = oddWeight(rng, type, 300);
    while (odd.rows <= 128 || odd.rows % 8 === 0) odd = oddWeight(rng, type, 300);
    const { rows, cols, values } = odd;
    const w = { ...uploadWeight('w', type, rows, cols, odd.bytes), exact: true };
    const x = random2D(rng, 5, cols);
    const y = linear(x, w);
    const [xs, ys] = [x.dataSync(), y.dataSync()];
    for (let t = 0; t < 5; t++) {
      for (let r = 0; r < rows; r++) {
        let sum = 0;
        let size = 0;
        for (let i = 0; i < cols; i++) {
          const product = (xs[t * cols + i] ?? 0) * (values[r * cols + i] ?? 0);
          sum += product;
          size += Math.abs(product);
        }
        // A float32 sum of `cols` products; 16-bit x errs by a hundred times as much.
        expect(Math.abs((ys[t * rows + r] ?? 0) - sum)).toBeLessThanOrEqual(size * 2 ** -22);
      }
    }
    const last = tf.slice(x, [4, 0], [1, cols]);
    const alone = linear(last, w);
    expect(alone.dataSync()).toEqual(ys.slice(4 * rows));
    tf.dispose([x, y, last, alone]);
    w.dispose();
  },
);
