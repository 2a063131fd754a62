/** Frozen matrices in GPU memory: how many bytes, split where a binding ends, refused where it cannot be. */

import * as tf from '@tensorflow/tfjs-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { byteLength, type GgmlType } from '../formats/quants.ts';
import { deriveRng } from '../math/rng.ts';
import type { OpenBackend } from './device.ts';
import { crossEntropyBackward } from './ops/cross-entropy.ts';
import { gatherRows } from './ops/gather-rows.ts';
import { linear, linearBackward } from './ops/linear.ts';
import { gpuBackend, refuseBeyondBinding } from './ops/program.ts';
import { distance, random2D, randomBlocks } from './ops/testing.ts';
import { openGpu } from './ops/testing-gpu.ts';
import { uploadWeight } from './weights.ts';

let opened: OpenBackend;
beforeAll(async () => {
  opened = await openGpu();
});
afterAll(() => opened.dispose());
afterEach(() => setBindingLimit(null));

/** Pretends to another adapter; null gives the real one back. */
function setBindingLimit(bytes: number | null): void {
  const { device } = gpuBackend();
  Reflect.deleteProperty(device, 'limits');
  if (bytes === null) return;
  const { maxBufferSize, maxComputeWorkgroupsPerDimension } = device.limits;
  const limits = {
    maxStorageBufferBindingSize: bytes,
    maxBufferSize,
    maxComputeWorkgroupsPerDimension,
  };
  Object.defineProperty(device, 'limits', { value: limits, configurable: true });
}

it.each(['F32', 'F16', 'Q8_0', 'Q4_0', 'Q4_1', 'Q5_0', 'Q4_K', 'Q6_K'] satisfies GgmlType[])(
  '%s takes the bytes of the file on the GPU, and none after dispose',
  async (type) => {
    const bytes = randomBlocks(deriveRng(7, 'bytes', type), type, 33 * 768);
    const w = uploadWeight('blk.0.attn_q', type, 33, 768, bytes);
    // The products make no copy either; one type stands for all, whose kernels differ in decoding alone.
    if (type === 'Q4_1') tf.tidy(() => linearBackward(linear(tf.ones([2, 768]), w), w));
    const live = opened.ledger?.livePurposes().get('weights')?.bytes ?? 0;
    expect(live).toBe(w.bytesOnDevice);
    expect(live).toBeGreaterThanOrEqual(byteLength(type, 33 * 768));
    expect(live).toBeLessThanOrEqual(1.05 * byteLength(type, 33 * 768));
    w.dispose();
    expect(opened.ledger?.livePurposes().get('weights')).toBeUndefined();
  },
);

it('a matrix larger than a binding is split by rows, and the products are the same (B41)', async () => {
  const rng = deriveRng(7, 'split');
  const bytes = randomBlocks(rng, 'Q8_0', 75 * 96);
  const x = random2D(rng, 3, 96);
  const dy = random2D(rng, 3, 75);
  const ids = Int32Array.of(74, 0, 40);
  const results = async () => {
    const w = uploadWeight('token_embd', 'Q8_0', 75, 96, bytes);
    const tensors = tf.tidy(() => [linear(x, w), linearBackward(dy, w), gatherRows(w, ids)]);
    const values = await Promise.all(tensors.map((tensor) => tensor.data()));
    tf.dispose(tensors);
    const shards = w.storage.kind === 'gpu' ? w.storage.shards.length : 0;
    w.dispose();
    return { shards, values };
  };
  const whole = await results();
  setBindingLimit(4800); // 50 rows of 96 bytes of words; all operands fit
  const split = await results();
  expect(whole.shards).toBe(1);
  expect(split.shards).toBe(2);
  whole.values.forEach((value, i) => {
    expect(distance(split.values[i] ?? [], value), `result ${i}`).toBeLessThan(1e-6);
  });
  tf.dispose([x, dy]);
});

it('what cannot be split is refused before it is allocated, with both numbers (B41)', () => {
  setBindingLimit(134_217_728);
  const before = opened.ledger?.made;
  expect(() => refuseBeyondBinding('logits', 682 * 49152 * 4)).not.toThrow();
  // 128 MiB of logits would prove no more than their shape does.
  const logits = { shape: [683, 49152], size: 683 * 49152 } as unknown as tf.Tensor2D;
  const labels = new Int32Array(683);
  expect(() => crossEntropyBackward(logits, labels, new Float32Array(683))).toThrow(
    /134283264 bytes does not fit .* 134217728/,
  );
  expect(() => uploadWeight('w', 'F32', 2, 2 ** 25, new Uint8Array(2 ** 28))).toThrow(
    /two rows take 268435456 bytes, more than .* 134217728/,
  );
  expect(opened.ledger?.made).toEqual(before);
});

it('weights freed while kernels that read them are still recorded do no harm', async () => {
  const w = uploadWeight('w', 'F32', 1, 4, new Uint8Array(new Float32Array([1, 2, 3, 4]).buffer));
  const y = tf.tidy(() => linear(tf.ones([1, 4]), w));
  w.dispose();
  expect([...(await y.data())]).toEqual([10]);
  y.dispose();
});
