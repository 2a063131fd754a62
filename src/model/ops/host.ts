/** Knows how an op reads and makes tensors in host memory (wasm heap or plain arrays); not what any op computes. */

import type { BackendWasm } from '@tensorflow/tfjs-backend-wasm';
import * as tf from '@tensorflow/tfjs-core';
import { LabError } from '../../errors.ts';

/** True where ops run as WGSL programs; elsewhere their loops run over the tensor's own memory. */
export function onGpu(): boolean {
  return tf.getBackend() === 'webgpu';
}

/**
 * The float32 tensor's own memory, not a copy. A wasm heap that grows detaches every view: allocate
 * all outputs of an op first, take the views afterwards, keep none.
 */
export function view(tensor: tf.Tensor): Float32Array {
  const backend: unknown = tf.backend();
  const name = tf.getBackend();
  if (name === 'wasm') {
    // tfjs types the registered backend as its base class; the name says which one it is.
    const heap = (backend as BackendWasm).typedArrayFromHeap(tensor);
    if (heap instanceof Float32Array) return heap;
  } else if (name === 'cpu') {
    const values = tensor.dataSync();
    if (values instanceof Float32Array) return values;
  }
  throw new LabError(
    'internal',
    `A host op wants a float32 tensor on wasm or cpu; found ${tensor.dtype} on ${name}.`,
  );
}

/** A tensor whose contents are undefined (wasm) or zero (cpu) until the op writes every element. */
export function allocate1D(length: number): tf.Tensor1D {
  return allocate([length]) as tf.Tensor1D; // the shape has one dimension
}

/** As {@link allocate1D}, in two dimensions. */
export function allocate2D(rows: number, cols: number): tf.Tensor2D {
  return allocate([rows, cols]) as tf.Tensor2D; // the shape has two dimensions
}

function allocate(shape: number[]): tf.Tensor {
  if (tf.getBackend() === 'wasm') {
    const backend: unknown = tf.backend();
    const info = (backend as BackendWasm).makeOutput(shape, 'float32');
    return tf.engine().makeTensorFromTensorInfo(info);
  }
  return tf.tensor(new Float32Array(tf.util.sizeFromShape(shape)), shape, 'float32');
}
