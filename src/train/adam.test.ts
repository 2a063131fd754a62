import * as tf from '@tensorflow/tfjs-core';
import '@tensorflow/tfjs-backend-cpu';
import { beforeAll, describe, expect, it } from 'vitest';
import { Adam } from './adam.ts';

beforeAll(async () => {
  await tf.setBackend('cpu');
});

describe('Adam', () => {
  it("takes PyTorch's first step, and a zero gradient moves nothing (B32)", async () => {
    using adam = new Adam([{ shape: [1, 3] }]);
    const [next] = adam.update([tf.tensor2d([[0, 0, 0]])], [tf.tensor2d([[0, 0.02, -3]])], 1e-3);
    const found = [...((await next?.data()) ?? [])];
    // numpy: -lr · g / (|g| + 1e-8) at the first step
    const expected = [0, -9.999995e-4, 9.99999997e-4];
    expected.forEach((value, i) => {
      expect(Math.abs((found[i] ?? Number.NaN) - value)).toBeLessThan(1e-9);
    });
    const { m, v, step } = await adam.export();
    expect(step).toBe(1);
    for (const array of [...m, ...v]) {
      expect(array).toBeInstanceOf(Float32Array);
      expect([...array].every(Number.isFinite)).toBe(true);
    }
  });

  it('keeps unused rows at zero over many steps', async () => {
    using adam = new Adam([{ shape: [2, 2] }]);
    let parameter = tf.tensor2d([
      [1, 1],
      [0, 0],
    ]);
    const gradient = tf.tensor2d([
      [0.5, -0.5],
      [0, 0],
    ]);
    for (let i = 0; i < 20; i++) {
      const [next] = adam.update([parameter], [gradient], 1e-2);
      parameter.dispose();
      if (next === undefined) throw new Error('no parameter');
      parameter = next;
    }
    const values = [...(await parameter.data())];
    // A constant gradient moves by lr a step: 20 · 0.01.
    expect(values[0]).toBeCloseTo(0.8, 5);
    expect(values[1]).toBeCloseTo(1.2, 5);
    expect(values.slice(2)).toEqual([0, 0]);
  });
});
