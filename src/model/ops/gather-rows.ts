/** Picks rows of a frozen matrix by id: the token embedding. */

import * as tf from '@tensorflow/tfjs-core';
import type { WeightMatrix } from '../weights.ts';
import type { GpuWeight } from '../weights-gpu.ts';
import { idsBelow } from './check.ts';
import { allocate2D, view } from './host.ts';
import { sizesOf } from './linear.ts';
import { gatherKernel, rowForm } from './linear-kernels.ts';
import { gatherSimd } from './linear-simd.ts';
import { empty2D, runInto } from './program.ts';

/** w [rows, cols], ids [T] -> [T, cols], decoded. Throws `bad_input` for an id >= rows. Returns owned. */
export function gatherRows(w: WeightMatrix, ids: Int32Array): tf.Tensor2D {
  idsBelow(`gatherRows ${w.name}`, ids, w.rows);
  const { storage } = w;
  if (storage.kind === 'gpu') return gatherGpu(w, storage, ids);
  if (storage.kind === 'simd') return gatherSimd(w, storage, ids);
  const out = allocate2D(ids.length, w.cols);
  const values = view(out);
  ids.forEach((id, t) => {
    storage.decodeRow(id, values.subarray(t * w.cols, (t + 1) * w.cols));
  });
  return out;
}

function gatherGpu(w: WeightMatrix, stored: GpuWeight, ids: Int32Array): tf.Tensor2D {
  const kernel = gatherKernel(w.type, rowForm(w.cols));
  const out = empty2D(`rows of ${w.name}`, ids.length, w.cols);
  const idTensor = tf.tensor1d(ids, 'int32');
  for (const shard of stored.shards) {
    const uniforms = { ...sizesOf(w, ids.length), rows: shard.rows, width: 0, first: shard.first };
    const threads = { x: 4 * Math.ceil(w.cols / 32), y: ids.length };
    runInto(kernel, { inputs: [idTensor, ...shard.planes], uniforms, threads }, out);
  }
  idTensor.dispose();
  return out;
}
