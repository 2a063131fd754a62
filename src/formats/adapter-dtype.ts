/** The number formats that adapters are saved in. Refuses values that a format cannot hold. */

import { LabError } from '../errors.ts';
import { dequantize, quantize } from './quants.ts';

/** As safetensors and GGUF both name them. */
export const adapterDtypes = ['F32', 'F16', 'BF16'] as const;
export type AdapterDtype = (typeof adapterDtypes)[number];

/**
 * The bytes of `values` in `dtype`, rounded to nearest. Throws `bad_input` naming `tensor` for a
 * value that is no finite number, or none any more in that format (float16 ends at 65504).
 */
export function encodeAdapter(
  dtype: AdapterDtype,
  values: Float32Array,
  tensor: string,
): Uint8Array {
  checkFinite(values, tensor);
  const bytes = quantize(dtype, values);
  if (dtype === 'F32') return bytes;
  const back = new Float32Array(values.length);
  dequantize(dtype, bytes, back);
  const at = back.findIndex((value) => !Number.isFinite(value));
  if (at < 0) return bytes;
  throw new LabError(
    'bad_input',
    `${tensor} holds ${values[at]}, which ${dtype} cannot hold. Save the adapter in F32.`,
    { tensor, dtype },
  );
}

/** Throws `bad_input` naming `tensor` when a value is NaN or infinite: such an adapter says nothing. */
export function checkFinite(values: Float32Array, tensor: string): void {
  const at = values.findIndex((value) => !Number.isFinite(value));
  if (at < 0) return;
  throw new LabError(
    'bad_input',
    `${tensor} holds ${values[at]} at place ${at}; expected finite numbers. The training that made it overflowed, or the file is damaged.`,
    { tensor, at },
  );
}
