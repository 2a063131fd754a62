/** A learner snapshot, or an adapter alone, as one safetensors file, bit for bit, in the engine's own row order. */

import { type LoraTarget, loraTargets } from '../config.ts';
import { LabError } from '../errors.ts';
import type { AdapterData, Json, LearnerSnapshot, LoraModuleData } from '../records.ts';
import { parseJson } from './json-syntax.ts';
import { type FloatTensor, readSafetensors, writeSafetensors } from './safetensors.ts';

const SNAPSHOT = 'attt-learner-snapshot';
const ADAPTER = 'attt-adapter';
const whats = { [SNAPSHOT]: 'learner snapshot', [ADAPTER]: 'adapter of a notebook' };

/**
 * Tensors `layers.N.<target>.aT` [inputs, rank] and `.bT` [rank, outputs] (A and B transposed, rows of
 * q and k as GGUF has them), and Adam's moments `adam.m.<i>` and `adam.v.<i>` in the order of these
 * parameters. The metadata holds the sizes, the scale and Adam's step count.
 */
export function writeSnapshot({ adapter, optimiser }: LearnerSnapshot): Uint8Array {
  const tensors = tensorsOf(adapter);
  optimiser.m.forEach((values, i) => {
    tensors.set(`adam.m.${i}`, { shape: [values.length], values });
  });
  optimiser.v.forEach((values, i) => {
    tensors.set(`adam.v.${i}`, { shape: [values.length], values });
  });
  return writeSafetensors(tensors, {
    ...headOf(SNAPSHOT, adapter),
    adam_step: String(optimiser.step),
  });
}

/** Throws `bad_input` for another file, a missing tensor or sizes that do not agree. */
export function readSnapshot(bytes: Uint8Array, name: string): LearnerSnapshot {
  const { adapter, metadata, take } = read(bytes, name, SNAPSHOT);
  const parameters = adapter.modules.flatMap(({ aT, bT }) => [aT, bT]);
  const moments = (kind: 'm' | 'v') =>
    parameters.map((parameter, i) => take(`adam.${kind}.${i}`, parameter.length));
  const step = Number(metadata.adam_step);
  if (!Number.isSafeInteger(step)) throw bad(`${name}: adam_step is ${metadata.adam_step}.`);
  return { schema: 1, adapter, optimiser: { step, m: moments('m'), v: moments('v') } };
}

/** An adapter without an optimiser, its tensors as in a snapshot. */
export function writeAdapterData(adapter: AdapterData): Uint8Array {
  return writeSafetensors(tensorsOf(adapter), headOf(ADAPTER, adapter));
}

/** Throws what {@link readSnapshot} throws. */
export function readAdapterData(bytes: Uint8Array, name: string): AdapterData {
  return read(bytes, name, ADAPTER).adapter;
}

function tensorsOf(adapter: AdapterData): Map<string, FloatTensor> {
  const tensors = new Map<string, FloatTensor>();
  for (const module of adapter.modules) {
    const { inputs, outputs, rank, aT, bT } = module;
    tensors.set(`${nameOf(module)}.aT`, { shape: [inputs, rank], values: aT });
    tensors.set(`${nameOf(module)}.bT`, { shape: [rank, outputs], values: bT });
  }
  return tensors;
}

function headOf(format: string, adapter: AdapterData) {
  const modules = adapter.modules.map(({ aT: _a, bT: _b, ...sizes }) => sizes);
  return { format, schema: '1', modules: JSON.stringify(modules) };
}

function read(bytes: Uint8Array, name: string, format: typeof SNAPSHOT | typeof ADAPTER) {
  const { tensors, metadata } = readSafetensors(bytes, name);
  if (metadata.format !== format || metadata.schema !== '1') {
    throw bad(`${name} is no ${whats[format]} of schema 1.`);
  }
  const take = (key: string, length: number): Float32Array => {
    const values = tensors.get(key)?.values;
    if (values && values.length === length) return values;
    throw bad(`${name}: ${key} has ${values?.length ?? 'no'} values; expected ${length}.`);
  };
  const list = parseJson(metadata.modules ?? '', `${name}, modules`);
  const modules = (Array.isArray(list) ? list : []).map((entry): LoraModuleData => {
    const sizes = readSizes(entry, name);
    return {
      ...sizes,
      aT: take(`${nameOf(sizes)}.aT`, sizes.inputs * sizes.rank),
      bT: take(`${nameOf(sizes)}.bT`, sizes.rank * sizes.outputs),
    };
  });
  return { adapter: { modules }, metadata, take };
}

function nameOf({ layer, target }: { readonly layer: number; readonly target: LoraTarget }) {
  return `layers.${layer}.${target}`;
}

function readSizes(entry: Json, name: string): Omit<LoraModuleData, 'aT' | 'bT'> {
  const fields = typeof entry === 'object' && entry !== null && !Array.isArray(entry) ? entry : {};
  const number = (key: string): number => {
    const value = (fields as { readonly [key: string]: Json })[key];
    if (typeof value === 'number' && value >= 0) return value;
    throw bad(`${name}: a module has ${key} ${JSON.stringify(value ?? null)}; expected a number.`);
  };
  const target = loraTargets.find((known) => 'target' in fields && known === fields.target);
  if (target === undefined) throw bad(`${name}: a module names no known projection.`);
  return {
    layer: number('layer'),
    target,
    inputs: number('inputs'),
    outputs: number('outputs'),
    rank: number('rank'),
    scale: number('scale'),
  };
}

function bad(message: string): LabError {
  return new LabError('bad_input', message);
}
