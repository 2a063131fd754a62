/** Knows how a frozen matrix of the file becomes something that the ops can multiply with; not the ops. */

import { LabError } from '../errors.ts';
import { byteLength, type GgmlType } from '../formats/quants.ts';
import { onGpu } from './ops/host.ts';
import { simdKernels } from './simd/kernels.ts';
import { GpuWeight } from './weights-gpu.ts';
import { HostWeight } from './weights-host.ts';
import { keptType, SimdWeight } from './weights-simd.ts';

/** A frozen matrix W [rows, cols] (ggml: rows = outputs, cols = inputs). Owned by the model. */
export interface WeightMatrix {
  readonly name: string;
  readonly type: GgmlType;
  readonly rows: number;
  readonly cols: number;
  /** Bytes of the matrix as the file holds it. */
  readonly fileBytes: number;
  /** GPU bytes that it holds; 0 on wasm and cpu, where tf.memory() counts them. */
  readonly bytesOnDevice: number;
  /** Products on WASM do not round x; elsewhere they never do. */
  readonly exact?: boolean;
  /** For the ops only. */
  readonly storage: HostWeight | GpuWeight | SimdWeight;
  dispose(): void;
}

/**
 * Takes the file's bytes of one matrix of a model of `parameters` in all (unknown: a large one). On WebGPU
 * and wasm they are copied, still quantised but for small models on wasm; on cpu, and on wasm without
 * vector instructions, they are kept as they are (not copied) and decoded when first needed. Throws
 * `bad_input` when the size does not fit the type and shape, `unsupported` for a type without a decoder,
 * `limit` when a device limit is in the way.
 */
export function uploadWeight(
  name: string,
  type: GgmlType,
  rows: number,
  cols: number,
  bytes: Uint8Array,
  parameters = Number.POSITIVE_INFINITY,
): WeightMatrix {
  const fileBytes = rows * byteLength(type, cols);
  if (bytes.length !== fileBytes) {
    throw new LabError(
      'bad_input',
      `${name}: ${rows} x ${cols} values of ${type} take ${fileBytes} bytes; found ${bytes.length}. The file is damaged or cut: fetch it again.`,
      { name, type, expected: fileBytes, found: bytes.length },
    );
  }
  const storage = store(parameters, name, type, rows, cols, bytes);
  return {
    name,
    type,
    rows,
    cols,
    fileBytes,
    bytesOnDevice: storage.kind === 'gpu' ? storage.bytes : 0,
    storage,
    dispose: () => storage.dispose(),
  };
}

function store(
  parameters: number,
  ...matrix: ConstructorParameters<typeof GpuWeight>
): WeightMatrix['storage'] {
  if (onGpu()) return new GpuWeight(...matrix);
  if (simdKernels() === null) return new HostWeight(...matrix);
  const [, type] = matrix;
  return new SimdWeight(...matrix, keptType(type, parameters));
}
