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

  test('pulls by λ · F · (θ − θ*), F summed over updates, θ* the last', () => {
    const ewc = new Ewc();
    ewc.accept([Float32Array.of(2, -1)], [tf.tensor2d([[1, 2]])]);
    // By hand: F = [4 1], θ - θ* = [0.5 -1], λ = 10.
    expect(values(ewc.pull([tf.tensor2d([[1.5, 1]])], 10))).toEqual([[20, -10]]);
    ewc.accept([Float32Array.of(1, 0)], [tf.tensor2d([[1.5, 1]])]);
    // F = [5 1], θ - θ* = [1 1].
    expect(values(ewc.pull([tf.tensor2d([[2.5, 2]])], 2))).toEqual([[10, 2]]);
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
