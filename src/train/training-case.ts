/**
 * A training run described by one JSON file, with a start that any program can rebuild from a
 * formula, and its result in the layout and names of PEFT. For comparing engines, not for episodes.
 */

import { type LoraTarget, loraTargets } from '../config.ts';
import { LabError } from '../errors.ts';
import type { LlamaModel } from '../model/llama.ts';
import { projectionShape } from '../model/llama-config.ts';
import { Adapter } from '../model/lora.ts';
import { fromHf, type HfModule, hfModuleName, toHf } from '../model/lora-hf.ts';
import type { AdapterData } from '../records.ts';
import { finish } from '../sequences.ts';
import { Adam } from './adam.ts';
import { targetsOf, type WeightedIds } from './loss.ts';
import { klDivergences, measureCrossEntropy, updateAdapter } from './update.ts';

/** The file; field names as on disk. */
export interface TrainingCase {
  readonly ids: readonly number[];
  /** Index in ids of the first label; every later id is a label too. */
  readonly first_label_index: number;
  /** One per label. */
  readonly weights: readonly number[];
  readonly target_modules: readonly LoraTarget[];
  readonly r: number;
  readonly lora_alpha: number;
  readonly lr: number;
  readonly steps: number;
  readonly init: { readonly b_scale: number };
  readonly adam: { readonly beta1: number; readonly beta2: number; readonly eps: number };
}

/** Values by PEFT's parameter name, `base_model.model.….lora_A.default.weight`. */
type ByParameter<T> = Readonly<Record<string, T>>;

/** Field names as on disk. */
export interface TrainingCaseResult {
  readonly losses: readonly number[];
  /** Of every label, those of weight 0 included; the KLs are means over every label as well. */
  readonly ce_before: readonly number[];
  readonly ce_after: readonly number[];
  readonly grad_norm_step1: ByParameter<number>;
  readonly grad_first4_step1: ByParameter<readonly number[]>;
  readonly kl_adapter_base_before: number;
  readonly kl_base_adapter_before: number;
  readonly kl_adapter_base_after: number;
  readonly kl_base_adapter_after: number;
  readonly param_norm_after: ByParameter<number>;
  readonly param_first4_after: ByParameter<readonly number[]>;
}

export interface TrainedCase {
  readonly result: TrainingCaseResult;
  readonly adapter: AdapterData;
  /** Whole gradients of the first step and parameters after the last, row-major in HF order. */
  readonly gradients: ByParameter<Float32Array>;
  readonly parameters: ByParameter<Float32Array>;
}

/** A is filled with this scale; B with the case's own. */
const A_SCALE = 0.05;

/** Reads a case from parsed JSON; throws `bad_input` naming the field that does not fit. */
export function readTrainingCase(value: unknown): TrainingCase {
  const object = record(value, 'The training case');
  const init = record(object.init, '"init"');
  const adam = record(object.adam, '"adam"');
  if (adam.weight_decay !== undefined && adam.weight_decay !== 0) {
    throw wrong('adam.weight_decay', adam.weight_decay, '0: weight decay is not implemented');
  }
  const targets = list(object, 'target_modules').map((name) => {
    const target = loraTargets.find((known) => known === name);
    if (target !== undefined) return target;
    throw wrong('target_modules', name, `one of ${loraTargets.join(', ')}`);
  });
  if (targets.length === 0 || new Set(targets).size < targets.length) {
    throw wrong('target_modules', targets, 'at least one name, and none twice');
  }
  const ids = list(object, 'ids').map((id) => whole(id, 'ids', 0));
  const first = whole(object.first_label_index, 'first_label_index', 0);
  const weights = list(object, 'weights').map((w) => numeric(w, 'weights'));
  if (!(first >= 1) || first + weights.length !== ids.length) {
    throw wrong(
      'weights',
      `${weights.length} numbers from index ${first} on`,
      `one for each of the ${ids.length} ids from first_label_index (at least 1) on`,
    );
  }
  return {
    ids,
    first_label_index: first,
    weights,
    target_modules: targets,
    r: whole(object.r, 'r', 1),
    lora_alpha: numeric(object.lora_alpha, 'lora_alpha'),
    lr: numeric(object.lr, 'lr'),
    steps: whole(object.steps, 'steps', 0),
    init: { b_scale: numeric(init.b_scale, 'init.b_scale') },
    adam: {
      beta1: numeric(adam.beta1, 'adam.beta1'),
      beta2: numeric(adam.beta2, 'adam.beta2'),
      eps: numeric(adam.eps, 'adam.eps'),
    },
  };
}

/** Runs a case from its start to its end. */
export async function runTrainingCase(
  model: LlamaModel,
  training: TrainingCase,
  signal?: AbortSignal,
): Promise<TrainedCase> {
  const { vocabulary } = model.config;
  const unknown = training.ids.find((id) => id >= vocabulary);
  if (unknown !== undefined) throw wrong('ids', unknown, `token ids from 0 to ${vocabulary - 1}`);
  const sequence = sequenceOf(training);
  using adapter = new Adapter(caseStart(model, training));
  const { beta1, beta2, eps } = training.adam;
  using adam = new Adam(adapter.parameters(), { beta1, beta2, epsilon: eps });
  const labels = sequenceOf({ ...training, weights: training.weights.map(() => 1) });
  const measure = async () => {
    const { ids } = training;
    const { rows } = targetsOf(labels);
    return {
      ce: [...(await measureCrossEntropy(model, adapter, labels, signal))],
      kl: await klDivergences(model, adapter, null, ids, rows, signal),
    };
  };
  const before = await measure();
  const trained = await finish(
    updateAdapter(
      model,
      adapter,
      adam,
      [sequence],
      {
        steps: training.steps,
        learningRate: training.lr,
        normalisation: 'weights',
        maxGradNorm: 0,
        keepGradients: true,
      },
      signal,
    ),
  );
  const after = await measure();
  const data = await adapter.export();
  const gradients = byParameter(model, withValues(data, trained.firstGradients ?? []));
  const parameters = byParameter(model, data);
  return {
    adapter: data,
    gradients,
    parameters,
    result: {
      losses: trained.losses,
      ce_before: before.ce,
      ce_after: after.ce,
      grad_norm_step1: mapValues(gradients, norm),
      grad_first4_step1: mapValues(gradients, first4),
      kl_adapter_base_before: before.kl.pq,
      kl_base_adapter_before: before.kl.qp,
      kl_adapter_base_after: after.kl.pq,
      kl_base_adapter_after: after.kl.qp,
      param_norm_after: mapValues(parameters, norm),
      param_first4_after: mapValues(parameters, first4),
    },
  };
}

/**
 * The start: flat[i] = float32(scale · sin(seed + 12.9898 · i)) over each parameter in HF layout,
 * seeds 1, 2, … in the string order of the parameters' names.
 */
export function caseStart(model: LlamaModel, training: TrainingCase): AdapterData {
  const { r, lora_alpha, target_modules, init } = training;
  const layers = model.layers.map((_, layer) => layer);
  const places = layers.flatMap((layer) => target_modules.map((target) => ({ layer, target })));
  const names = places.flatMap(({ layer, target }) => [
    parameterName(layer, target, 'A'),
    parameterName(layer, target, 'B'),
  ]);
  const seeds = new Map(names.sort().map((name, i) => [name, i + 1]));
  const fill = (layer: number, target: LoraTarget, which: 'A' | 'B', length: number) => {
    const scale = which === 'A' ? A_SCALE : init.b_scale;
    const seed = seeds.get(parameterName(layer, target, which)) ?? Number.NaN;
    return Float32Array.from({ length }, (_, i) => scale * Math.sin(seed + 12.9898 * i));
  };
  const modules = places.map(({ layer, target }): HfModule => {
    const { inputs, outputs } = projectionShape(model.config, target);
    return {
      layer,
      target,
      name: hfModuleName(layer, target),
      scale: lora_alpha / r,
      a: { rows: r, cols: inputs, values: fill(layer, target, 'A', r * inputs) },
      b: { rows: outputs, cols: r, values: fill(layer, target, 'B', outputs * r) },
    };
  });
  return fromHf(modules, model.config);
}

/** The ids of a case with a weight each: those before the first label have 0. */
export function sequenceOf({ ids, weights, first_label_index }: TrainingCase): WeightedIds {
  return { ids, weights: [...new Array<number>(first_label_index).fill(0), ...weights] };
}

function parameterName(layer: number, target: LoraTarget, which: 'A' | 'B'): string {
  return `base_model.model.${hfModuleName(layer, target)}.lora_${which}.default.weight`;
}

function byParameter(model: LlamaModel, data: AdapterData): ByParameter<Float32Array> {
  return Object.fromEntries(
    toHf(data, model.config).flatMap(({ layer, target, a, b }) => [
      [parameterName(layer, target, 'A'), a.values],
      [parameterName(layer, target, 'B'), b.values],
    ]),
  );
}

/** The adapter with other arrays in the places of its parameters. */
function withValues(data: AdapterData, values: readonly Float32Array[]): AdapterData {
  return {
    modules: data.modules.map((module, i) => ({
      ...module,
      aT: values[2 * i] ?? module.aT,
      bT: values[2 * i + 1] ?? module.bT,
    })),
  };
}

function mapValues<T>(
  values: ByParameter<Float32Array>,
  fn: (values: Float32Array) => T,
): ByParameter<T> {
  return Object.fromEntries(Object.entries(values).map(([name, array]) => [name, fn(array)]));
}

const norm = (values: Float32Array) => Math.sqrt(values.reduce((sum, x) => sum + x * x, 0));
const first4 = (values: Float32Array) => [...values.subarray(0, 4)];

function record(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return { ...value };
  }
  throw wrong(what, value, 'an object');
}

function list(object: Record<string, unknown>, field: string): readonly unknown[] {
  const value = object[field];
  if (Array.isArray(value)) return value;
  throw wrong(field, value, 'a list');
}

function numeric(value: unknown, field: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw wrong(field, value, 'a number');
}

function whole(value: unknown, field: string, least: number): number {
  if (Number.isSafeInteger(value) && Number(value) >= least) return Number(value);
  throw wrong(field, value, `a whole number of at least ${least}`);
}

function wrong(field: string, found: unknown, expected: string): LabError {
  return new LabError(
    'bad_input',
    `Training case: ${field} is ${JSON.stringify(found) ?? 'missing'}; expected ${expected}.`,
  );
}
