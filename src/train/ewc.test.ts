import * as tf from '@tensorflow/tfjs-core';
import '@tensorflow/tfjs-backend-cpu';
import { beforeAll, describe, expect, test } from 'vitest';
import { Ewc } from './ewc.ts';

beforeAll(async () => {
  await tf.setBackend('cpu');
});

const values = (tensors: readonly tf.Tensor[] | null) =>
  tensors?.map((one) => [...one.dataSync()]) ?? null;

describe('elastic weight consolidation', () => {
  test('pulls nothing before the first update', async () => {
    const ewc = new Ewc();
    expect(ewc.pull([tf.tensor2d([[1, 2]])], 10)).toBeNull();
    expect(await ewc.export()).toBeNull();
  });

  test('pulls to each text’s own θ* by λ · F_k · (θ − θ*_k)', async () => {
    const ewc = new Ewc();
    ewc.accept([Float32Array.of(2, -1)], [tf.tensor2d([[1, 2]])]);
    // By hand: F_1 = [4 1], θ - θ*_1 = [0.5 -1], λ = 10.
    expect(values(ewc.pull([tf.tensor2d([[1.5, 1]])], 10))).toEqual([[20, -10]]);
    ewc.accept([Float32Array.of(1, 0)], [tf.tensor2d([[1.5, 1]])]);
    // F_2 = [1 0] around [1.5 1]. At [2.5 3]: 2 · (4 · 1.5 + 1 · 1) = 14, 2 · (1 · 1 + 0 · 2) = 2.
    const near = (found: number[][] | null, expected: readonly number[]) =>
      expected.forEach((x, j) => {
        expect(found?.[0]?.[j]).toBeCloseTo(x, 5);
      });
    near(values(ewc.pull([tf.tensor2d([[2.5, 3]])], 2)), [14, 2]);
    // At θ*_2 itself text 1 still pulls: 2 · 4 · 0.5, 2 · 1 · (1 - 2).
    near(values(ewc.pull([tf.tensor2d([[1.5, 1]])], 2)), [4, -2]);
    // Around the mean: (4 · 1 + 1 · 1.5) / 5, and 2, since text 2 does not lean on the other one.
    const data = await ewc.export();
    expect(data?.fisher).toEqual([Float32Array.of(5, 1)]);
    near(data?.anchor.map((one) => [...one]) ?? null, [1.1, 2]);
    ewc.dispose();
  });

  test('of what no text leans on pulls nothing', () => {
    const ewc = new Ewc();
    for (const theta of [1, 3]) ewc.accept([Float32Array.of(0)], [tf.tensor2d([[theta]])]);
    expect(values(ewc.pull([tf.tensor2d([[7]])], 10))).toEqual([[0]]);
    ewc.dispose();
  });

  test('comes back from plain data, forgets when restored to nothing, and leaks no tensor', async () => {
    const theta = tf.tensor2d([[1, 2]]);
    const before = tf.memory().numTensors;
    const ewc = new Ewc();
    ewc.accept([Float32Array.of(2, -1)], [theta]);
    const data = await ewc.export();
    expect(data).toEqual({ fisher: [Float32Array.of(4, 1)], anchor: [Float32Array.of(1, 2)] });
    ewc.restore(undefined, [theta]);
    expect(await ewc.export()).toBeNull();
    ewc.restore(data ?? undefined, [theta]);
    expect(await ewc.export()).toEqual(data);
    ewc.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });
});
