/**
 * The product with integers kept as float16, on adapters without float16 too: there its text runs with f32 in
 * that place, so that all but the numbers' width is tested. Against sums over the decoded values.
 */

import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { GgmlType } from '../../formats/quants.ts';
import { deriveRng } from '../../math/rng.ts';
import type { OpenBackend } from '../device.ts';
import { uploadWeight } from '../weights.ts';
import { sizesOf } from './linear.ts';
import { halvesTileKernel, holdsHalves } from './linear-tile.ts';
import { gpuBackend, type Kernel, run2D } from './program.ts';
import { distance, oddWeight, random2D } from './testing.ts';
import { openGpu } from './testing-gpu.ts';

let opened: OpenBackend;
beforeAll(async () => {
  opened = await openGpu();
});
afterAll(() => opened.dispose());

function runnable(kernel: Kernel): Kernel {
  if (gpuBackend().device.features.has('shader-f16')) return kernel;
  const wide = (text: string) => text.replace('enable f16;', '').replaceAll('f16', 'f32');
  const { prelude = '', body } = kernel;
  // The decoders' own functions say float16 in their names.
  const plain = prelude.replaceAll('unpack2x16float', 'UNPACK');
  return {
    ...kernel,
    key: `${kernel.key}_wide`,
    prelude: wide(plain).replaceAll('UNPACK', 'unpack2x16float'),
    body: () => wide(body()),
  };
}

// With scale and offset; types with one of them, or neither, only leave terms out.
const type: GgmlType = 'Q4_1';

it(`${type}, tiles that reach over each edge`, async () => {
  expect(holdsHalves(type)).toBe(true);
  const rng = deriveRng(7, 'halves', type);
  let odd = oddWeight(rng, type);
  while (odd.cols > 96 || odd.rows < 33) odd = oddWeight(rng, type, 40);
  const tokens = 33;
  const x = random2D(rng, tokens, odd.cols);
  const w = uploadWeight('w', type, odd.rows, odd.cols, odd.bytes);
  if (w.storage.kind !== 'gpu') throw new Error('The matrix is not on the GPU.');
  const [shard] = w.storage.shards;
  if (shard === undefined || w.storage.shards.length > 1) throw new Error('One shard is expected.');
  const y = run2D(
    runnable(halvesTileKernel(type)),
    {
      inputs: [x, ...shard.planes],
      uniforms: { ...sizesOf(w, tokens), rows: w.rows, width: w.rows, first: 0 },
      threads: { x: 64 * Math.ceil(w.rows / 32), y: Math.ceil(tokens / 32) },
    },
    tokens,
    w.rows,
  );
  const found = await y.data();
  const xs = await x.data();
  tf.dispose([x, y]);
  w.dispose();
  const expected = Float64Array.from({ length: tokens * odd.rows }, (_, at) => {
    const [t, r] = [Math.floor(at / odd.rows), at % odd.rows];
    let sum = 0;
    for (let i = 0; i < odd.cols; i++) {
      sum += (xs[t * odd.cols + i] ?? 0) * (odd.values[r * odd.cols + i] ?? 0);
    }
    return sum;
  });
  // As for every product: float32 sums in another order. Float16 adds nothing, since W's integers are exact there.
  expect(distance(found, expected)).toBeLessThan(5e-6);
});
