/**
 * Merges an adapter into its base and writes the sum as a GGUF of F16 or Q8_0, block by block, with
 * what the new number format cost. Works on bytes: no device, and never more than a block of rows.
 */

import { LabError, throwIfAborted } from '../errors.ts';
import type { GgufFile, GgufTensor } from '../formats/gguf.ts';
import { type GgufValue, writeGgufHeader } from '../formats/gguf-writer.ts';
import { byteLength, dequantize, GGML_LAYOUTS, quantize } from '../formats/quants.ts';
import type { ByteSource } from '../formats/source.ts';
import type { AdapterData, LoraModuleData } from '../records.ts';
import { ggufTensorName } from './lora-gguf.ts';
import { nextMacrotask } from './macrotask.ts';

/** What a merged model's matrices can be stored as. */
export const mergeTypes = ['F16', 'Q8_0'] as const;
export type MergeType = (typeof mergeTypes)[number];

/** One adapted matrix after the merge. Norms are Frobenius's. */
export interface MergedTensor {
  readonly tensor: string;
  /** F16 where a row does not fill whole Q8_0 blocks. */
  readonly type: MergeType;
  /** ‖ΔW‖: what the adapter changes. */
  readonly change: number;
  /** ‖stored − (W + ΔW)‖: what the number format loses. */
  readonly error: number;
}

export interface MergeReport {
  readonly type: MergeType;
  readonly bytes: number;
  /** The adapted matrices. */
  readonly tensors: readonly MergedTensor[];
  readonly change: number;
  readonly error: number;
  /** error / change of all of them: near or above 1 the format drowns what was learned. */
  readonly errorShare: number;
  /** Matrices without an adapter that had to change their format, and what that lost. */
  readonly converted: { readonly tensors: number; readonly error: number };
}

/** llama.cpp's `LLAMA_FTYPE` of a file whose matrices are mostly of that type. */
const FILE_TYPES = { F16: 1, Q8_0: 7 } as const satisfies Record<MergeType, number>;
/** Values in memory at a time, as float32: 16 MiB. */
const BLOCK_VALUES = 4 * 2 ** 20;
const REPLACED = ['general.file_type', 'general.quantization_version'];

/**
 * Yields the merged file part by part, in order; the report comes at the end. Keys and vectors are
 * kept byte for byte, and so is every matrix that has no adapter and the wanted type already. Throws
 * `bad_input` for a module that the base has no matrix for, `aborted` on the signal.
 */
export async function* mergeAdapter(
  base: GgufFile,
  source: ByteSource,
  adapter: AdapterData,
  type: MergeType,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, MergeReport, void> {
  const modules = placeModules(base, adapter);
  const plans = base.tensors.map((tensor) => ({ tensor, type: typeFor(tensor, type) }));
  const header = writeGgufHeader(
    {
      'general.file_type': { type: 'uint32', value: FILE_TYPES[type] },
      'general.quantization_version': { type: 'uint32', value: 2 },
    } satisfies Record<string, GgufValue>,
    plans.map((plan) => ({ name: plan.tensor.name, shape: plan.tensor.shape, type: plan.type })),
    await keptKeys(base, source),
    base.alignment,
  );
  yield header.bytes;
  const merged: MergedTensor[] = [];
  let written = header.bytes.length;
  let [converted, convertedError] = [0, 0];
  for (const [i, plan] of plans.entries()) {
    const { tensor } = plan;
    const module = modules.get(tensor.name);
    let [change, error] = [0, 0];
    const rows = Math.max(1, Math.floor(BLOCK_VALUES / tensor.cols));
    for (let row = 0; row < tensor.rows; row += rows) {
      await nextMacrotask();
      throwIfAborted(signal);
      const count = Math.min(rows, tensor.rows - row);
      const bytes = await readRows(source, tensor, row, count);
      if (module === undefined && plan.type === tensor.type) {
        written += bytes.length;
        yield bytes;
        continue;
      }
      const values = new Float32Array(count * tensor.cols);
      dequantize(tensor.type, bytes, values);
      if (module !== undefined) change += addChange(values, module, row, count);
      const stored = quantize(plan.type as MergeType, values); // a matrix: typeFor gave a MergeType
      error += squaredError(plan.type as MergeType, stored, values);
      written += stored.length;
      yield stored;
    }
    if (module !== undefined) {
      const numbers = { change: Math.sqrt(change), error: Math.sqrt(error) };
      merged.push({ tensor: tensor.name, type: plan.type as MergeType, ...numbers });
    } else if (plan.type !== tensor.type) {
      converted++;
      convertedError += error;
    }
    const padding = (header.offsets[i + 1] ?? header.size) - written;
    if (padding > 0) yield new Uint8Array(padding);
    written += padding;
  }
  const change = Math.hypot(...merged.map((tensor) => tensor.change));
  const error = Math.hypot(...merged.map((tensor) => tensor.error));
  return {
    type,
    bytes: header.size,
    tensors: merged,
    change,
    error,
    errorShare: change === 0 ? 0 : error / change,
    converted: { tensors: converted, error: Math.sqrt(convertedError) },
  };
}

/** Vectors keep their type; a matrix whose rows do not fill whole blocks becomes F16. */
function typeFor({ type: present, shape, cols }: GgufTensor, wanted: MergeType) {
  if (shape.length < 2) return present;
  return cols % GGML_LAYOUTS[wanted].blockSize === 0 ? wanted : 'F16';
}

function placeModules(base: GgufFile, adapter: AdapterData): ReadonlyMap<string, LoraModuleData> {
  const tensors = new Map(base.tensors.map((tensor) => [tensor.name, tensor]));
  return new Map(
    adapter.modules.map((module) => {
      const name = ggufTensorName(module.layer, module.target);
      const tensor = tensors.get(name);
      if (tensor?.cols === module.inputs && tensor.rows === module.outputs) return [name, module];
      throw new LabError(
        'bad_input',
        `The adapter changes ${name} (${module.inputs} inputs, ${module.outputs} outputs), where the base has ${tensor ? `[${tensor.shape.join(', ')}]` : 'no such matrix'}. Open the model that it was trained on.`,
        { tensor: name },
      );
    }),
  );
}

async function keptKeys(base: GgufFile, source: ByteSource): Promise<Uint8Array[]> {
  const kept: Uint8Array[] = [];
  for (const [key, [start, end]] of base.keyRanges) {
    if (!REPLACED.includes(key)) kept.push(await source.read(start, end - start));
  }
  return kept;
}

function readRows(
  source: ByteSource,
  { type, cols, offset }: GgufTensor,
  row: number,
  count: number,
): Promise<Uint8Array> {
  const rowBytes = byteLength(type, cols);
  return source.read(offset + row * rowBytes, count * rowBytes);
}

/** Adds rows [from, from + count) of scale · B A to `values`; the sum of the squares added. */
function addChange(
  values: Float32Array,
  { inputs, outputs, rank, scale, aT, bT }: LoraModuleData,
  from: number,
  count: number,
): number {
  let sum = 0;
  const change = new Float64Array(inputs);
  for (let row = 0; row < count; row++) {
    change.fill(0);
    for (let r = 0; r < rank; r++) {
      const b = scale * (bT[r * outputs + from + row] ?? 0);
      for (let i = 0; i < inputs; i++) change[i] = (change[i] ?? 0) + b * (aT[i * rank + r] ?? 0);
    }
    for (let i = 0; i < inputs; i++) {
      const delta = change[i] ?? 0;
      sum += delta * delta;
      values[row * inputs + i] = (values[row * inputs + i] ?? 0) + delta;
    }
  }
  return sum;
}

function squaredError(type: MergeType, stored: Uint8Array, values: Float32Array): number {
  const back = new Float32Array(values.length);
  dequantize(type, stored, back);
  return back.reduce((sum, value, i) => sum + (value - (values[i] ?? 0)) ** 2, 0);
}
