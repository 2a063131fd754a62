/** Picks rows of a frozen matrix by id: the token embedding. */

import type * as tf from '@tensorflow/tfjs-core';
import type { WeightMatrix } from '../weights.ts';
import { idsBelow } from './check.ts';
import { allocate2D, view } from './host.ts';

/** w [rows, cols], ids [T] -> [T, cols], decoded. Throws `bad_input` for an id >= rows. Returns owned. */
export function gatherRows(w: WeightMatrix, ids: Int32Array): tf.Tensor2D {
  idsBelow(`gatherRows ${w.name}`, ids, w.rows);
  const out = allocate2D(ids.length, w.cols);
  const values = view(out);
  ids.forEach((id, t) => {
    w.storage.decodeRow(id, values.subarray(t * w.cols, (t + 1) * w.cols));
  });
  return out;
}
