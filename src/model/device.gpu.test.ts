/** The real device in Chromium: an error that nothing threw is told, and a new device can follow. */

import * as tf from '@tensorflow/tfjs-core';
import { expect, it } from 'vitest';
import { gpuBackend } from './ops/program.ts';
import { openGpu } from './ops/testing-gpu.ts';

it('a refused command ends the device with its reason, and the next one computes', async () => {
  const first = await openGpu();
  gpuBackend().device.createShaderModule({ code: 'fn main( {' });
  await gpuBackend().queue.onSubmittedWorkDone(); // commands are buffered until something waits

  expect(await first.lost).toMatchObject({ code: 'internal' });
  first.dispose();

  const second = await openGpu();
  const four = tf.tidy(() => tf.matMul(tf.ones([1, 4]), tf.ones([4, 1])));
  expect([...(await four.data())]).toEqual([4]);
  four.dispose();
  second.dispose();
  const first20ms = new Promise((resolve) => setTimeout(resolve, 20, 'nothing'));
  expect(await Promise.race([second.lost, first20ms])).toBe('nothing');
});
