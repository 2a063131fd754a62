/**
 * One growing array of rows that ops write in place: keys or values of one layer. On WebGPU it is a
 * buffer of its own, since tfjs's pool would keep each smaller one that it outgrew.
 */

import * as tf from '@tensorflow/tfjs-core';
import { onGpu } from './ops/host.ts';
import { gpuBackend, refuseBeyondBinding, submitRecorded } from './ops/program.ts';

export interface CacheRows {
  readonly tensor: tf.Tensor2D; // [capacity, width], zeros where nothing was written
  /** The same rows with room for more; this one is given back. */
  grown(capacity: number): CacheRows;
  dispose(): void;
}

/** Throws `limit` when they cannot be bound. */
export function cacheRows(capacity: number, width: number): CacheRows {
  return onGpu()
    ? gpuRows(capacity, width)
    : hostRows(tf.keep(tf.zeros<tf.Rank.R2>([capacity, width])));
}

function hostRows(tensor: tf.Tensor2D): CacheRows {
  return {
    tensor,
    grown(capacity) {
      const [old, width] = tensor.shape;
      const more = tf.tidy(() =>
        tf.concat([tensor, tf.zeros<tf.Rank.R2>([capacity - old, width])]),
      );
      tensor.dispose();
      return hostRows(tf.keep(more));
    },
    dispose: () => tensor.dispose(),
  };
}

function gpuRows(capacity: number, width: number): CacheRows {
  const size = 4 * capacity * width;
  refuseBeyondBinding(`Keys of one layer for ${capacity} tokens`, size);
  const backend = gpuBackend();
  const buffer = backend.device.createBuffer({
    label: 'kv',
    size,
    usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC,
  });
  const shape = [capacity, width];
  const tensor = backend.createTensorFromGPUData({ buffer, zeroCopy: true }, shape, 'float32');
  const dispose = () => {
    submitRecorded(); // kernels that write or read the rows may still be recorded
    tensor.dispose();
    buffer.destroy();
  };
  return {
    tensor: tf.keep(tensor) as tf.Tensor2D, // two dimensions, above
    grown(more) {
      const larger = gpuRows(more, width);
      submitRecorded();
      const encoder = backend.device.createCommandEncoder();
      encoder.copyBufferToBuffer(buffer, 0, bufferOf(larger), 0, size);
      backend.device.queue.submit([encoder.finish()]);
      dispose();
      return larger;
    },
    dispose,
  };
}

function bufferOf({ tensor }: CacheRows): GPUBuffer {
  const { resource } = gpuBackend().tensorMap.get(tensor.dataId);
  return resource as GPUBuffer; // rows are float32 in a buffer of our own
}
