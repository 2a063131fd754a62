/** Knows the shape rules that all ops share; throws LabError `internal`, since a caller made the mistake. */

import type * as tf from '@tensorflow/tfjs-core';
import { LabError } from '../../errors.ts';

/** Throws unless `found` equals `expected`; `what` names the op and the operand. */
export function sameShape(
  what: string,
  found: readonly number[],
  expected: readonly number[],
): void {
  if (found.length === expected.length && found.every((size, i) => size === expected[i])) return;
  throw new LabError(
    'internal',
    `${what} has shape [${found.join(', ')}]; expected [${expected.join(', ')}].`,
  );
}

/** The two dimensions of a matrix, named. */
export function dims(tensor: tf.Tensor2D): { readonly rows: number; readonly cols: number } {
  const [rows, cols] = tensor.shape;
  return { rows, cols };
}

/** Throws unless every id is an integer in [0, limit). */
export function idsBelow(what: string, ids: Int32Array, limit: number): void {
  for (const id of ids) {
    if (id < 0 || id >= limit) {
      throw new LabError('bad_input', `${what}: id ${id} is outside [0, ${limit}).`, { id, limit });
    }
  }
}
