/** A learner snapshot, or an adapter alone, as one safetensors file, bit for bit, in the engine's own row order. */

import { type LoraTarget, loraTargets } from '../config.ts';
import { LabError } from '../errors.ts';
import type { AdapterData, Json, LearnerSnapshot, LoraModuleData } from '../records.ts';
import { checkFinite } from './adapter-dtype.ts';
import { parseJson } from './json-syntax.ts';
import { type FloatTensor, readSafetensors, writeSafetensors } from './safetensors.ts';

const SNAPSHOT = 'attt-learner-snapshot';
const ADAPTER = 'attt-adapter';
const whats = { [SNAPSHOT]: 'learner snapshot', [ADAPTER]: 'adapter of a notebook' };

/**
 * Tensors `layers.N.<target>.aT` [inputs, rank] and `.bT` [rank, outputs] (A and B transposed, rows of
 * q and k as GGUF has them), and in the order of these parameters Adam's moments `adam.m.<i>` and `adam.v.<i>`
 * and, where there is something to consolidate, `ewc.fisher.<i>` and `ewc.anchor.<i>`. The metadata holds the
 * sizes, the scale and Adam's step count.
 */
export function writeSnapshot({ adapter, optimiser, ewc }: LearnerSnapshot): Uint8Array {
  const tensors = tensorsOf(adapter);
  const add = (name: string, list: readonly Float32Array[]) =>
    list.forEach((values, i) => {
      tensors.set(`${name}.${i}`, { shape: [values.length], values });
    });
  add('adam.m', optimiser.m);
  add('adam.v', optimiser.v);
  if (ewc) {
    add('ewc.fisher', ewc.fisher);
    add('ewc.anchor', ewc.anchor);
  }
  return writeSafetensors(tensors, {
    ...headOf(SNAPSHOT, adapter),
    adam_step: String(optimiser.step),
  });
}

/** Throws `bad_input` for another file, a missing tensor or one too many, and sizes that do not agree. */
export function readSnapshot(bytes: Uint8Array, name: string): LearnerSnapshot {
  const { adapter, metadata, tensors, take } = read(bytes, name, SNAPSHOT);
  const parameters = adapter.modules.flatMap(({ aT, bT }) => [aT, bT]);
  const all = (kind: string) =>
    parameters.map((parameter, i) => take(`${kind}.${i}`, parameter.length));
  const step = Number(metadata.adam_step);
  if (!Number.isSafeInteger(step)) throw bad(`${name}: adam_step is ${metadata.adam_step}.`);
  const ewc = tensors.has('ewc.fisher.0') && {
    ewc: { fisher: all('ewc.fisher'), anchor: all('ewc.anchor') },
  };
  const found = parameters.length * (ewc ? 5 : 3);
  if (tensors.size !== found) {
    throw bad(`${name} holds ${tensors.size} tensors; its modules have ${found}.`);
  }
  return { schema: 1, adapter, optimiser: { step, m: all('adam.m'), v: all('adam.v') }, ...ewc };
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
    const matrix = (side: 'aT' | 'bT', length: number) => {
      const key = `${nameOf(sizes)}.${side}`;
      const values = take(key, length);
      checkFinite(values, `${name}: ${key}`);
      return values;
    };
    return {
      ...sizes,
      aT: matrix('aT', sizes.inputs * sizes.rank),
      bT: matrix('bT', sizes.rank * sizes.outputs),
    };
  });
  return { adapter: { modules }, metadata, tensors, take };
}

function nameOf({ layer, target }: { readonly layer: number; readonly target: LoraTarget }) {
  return `layers.${layer}.${target}`;
}

function readSizes(entry: Json, name: string): Omit<LoraModuleData, 'aT' | 'bT'> {
  const fields = typeof entry === 'object' && entry !== null && !Array.isArray(entry) ? entry : {};
  const number = (key: string, expected: string, fits: (value: number) => boolean): number => {
    const value = (fields as { readonly [key: string]: Json })[key];
    if (typeof value === 'number' && fits(value)) return value;
    throw bad(
      `${name}: a module has ${key} ${JSON.stringify(value ?? null)}; expected ${expected}.`,
    );
  };
  const count = (key: string, least: number) =>
    number(
      key,
      `a whole number of at least ${least}`,
      (n) => Number.isSafeInteger(n) && n >= least,
    );
  const target = loraTargets.find((known) => 'target' in fields && known === fields.target);
  if (target === undefined) throw bad(`${name}: a module names no known projection.`);
  return {
    layer: count('layer', 0),
    target,
    inputs: count('inputs', 1),
    outputs: count('outputs', 1),
    rank: count('rank', 1),
    scale: number('scale', 'a finite number', Number.isFinite),
  };
}

function bad(message: string): LabError {
  return new LabError('bad_input', message);
}
