/**
 * What can be done with adapters as plain data: describe, scale, prune, add and subtract. Knows no
 * device and no file. All of it is exact: sums of low-rank changes are low-rank changes.
 */

import { LabError } from '../errors.ts';
import type { AdapterData, LoraModuleData } from '../records.ts';
import { deltaNorm } from './lora.ts';
import { hfModuleName } from './lora-hf.ts';

/** One module in words and numbers. */
export interface ModuleInfo {
  /** As transformers names it. */
  readonly name: string;
  readonly rank: number;
  readonly alpha: number;
  readonly scale: number;
  readonly parameters: number;
  /** ‖scale · B A‖, Frobenius. */
  readonly norm: number;
}

export interface AdapterInfo {
  readonly modules: readonly ModuleInfo[];
  readonly targets: readonly string[];
  /** Layers with at least one module. */
  readonly layers: number;
  /** Each rank that occurs, ascending. */
  readonly ranks: readonly number[];
  readonly parameters: number;
  /** √Σ norm² over all modules. */
  readonly norm: number;
}

export function describeAdapter({ modules }: AdapterData): AdapterInfo {
  const infos = modules.map((module) => ({
    name: hfModuleName(module.layer, module.target),
    rank: module.rank,
    alpha: module.scale * module.rank,
    scale: module.scale,
    parameters: module.rank * (module.inputs + module.outputs),
    norm: deltaNorm({ modules: [module] }),
  }));
  return {
    modules: infos,
    targets: [...new Set(modules.map(({ target }) => target))].sort(),
    layers: new Set(modules.map(({ layer }) => layer)).size,
    ranks: [...new Set(modules.map(({ rank }) => rank))].sort((a, b) => a - b),
    parameters: infos.reduce((sum, { parameters }) => sum + parameters, 0),
    norm: Math.hypot(...infos.map(({ norm }) => norm)),
  };
}

/** The same adapter, `strength` times as strong. */
export function scaleAdapter(adapter: AdapterData, strength: number): AdapterData {
  if (!Number.isFinite(strength)) {
    throw new LabError('bad_input', `The strength is ${strength}; expected a number, such as 0.5.`);
  }
  return { modules: adapter.modules.map((m) => ({ ...m, scale: m.scale * strength })) };
}

/** What is left of an adapter, and how much of it that is. */
export interface Pruned {
  readonly adapter: AdapterData;
  readonly removed: readonly string[];
  /** ‖kept‖ / ‖whole‖; the norms of modules add as squares. 1 for an adapter of norm 0. */
  readonly keptNorm: number;
}

/**
 * Keeps the `keep` part of the modules (0 < keep ≤ 1, at least one) whose change is largest by
 * Frobenius norm. Example: keep 0.5 of norms 3, 1, 4, 2 keeps 3 and 4, and √25/30 of the norm.
 */
export function pruneByNorm(adapter: AdapterData, keep: number): Pruned {
  if (!(keep > 0 && keep <= 1)) {
    throw new LabError(
      'bad_input',
      `The part to keep is ${keep}; expected more than 0 and at most 1.`,
    );
  }
  const norms = adapter.modules.map((module) => deltaNorm({ modules: [module] }));
  const order = norms.map((_, i) => i).sort((a, b) => (norms[b] ?? 0) - (norms[a] ?? 0));
  const kept = new Set(order.slice(0, Math.max(1, Math.round(keep * order.length))));
  const whole = Math.hypot(...norms);
  return {
    adapter: { modules: adapter.modules.filter((_, i) => kept.has(i)) },
    removed: adapter.modules.flatMap(({ layer, target }, i) =>
      kept.has(i) ? [] : [hfModuleName(layer, target)],
    ),
    keptNorm: whole === 0 ? 1 : Math.hypot(...norms.filter((_, i) => kept.has(i))) / whole,
  };
}

/** One summand of {@link combineAdapters}. */
export interface Summand {
  readonly adapter: AdapterData;
  readonly weight: number;
}

/**
 * Σ weight · adapter. A module's ranks add: [B₁ | w B₂] [A₁ ; A₂]. The difference of two adapters has
 * weights 1 and −1, the interpolation 1 − t and t. Throws `bad_input` when two adapters are of
 * models of different shapes.
 */
export function combineAdapters(summands: readonly Summand[]): AdapterData {
  const places = new Map<string, { module: LoraModuleData; weight: number }[]>();
  for (const { adapter, weight } of summands) {
    for (const module of adapter.modules) {
      const key = hfModuleName(module.layer, module.target);
      places.set(key, [...(places.get(key) ?? []), { module, weight }]);
    }
  }
  return { modules: [...places].map(([name, parts]) => concatenate(name, parts)) };
}

function concatenate(
  name: string,
  parts: readonly { readonly module: LoraModuleData; readonly weight: number }[],
): LoraModuleData {
  const [first] = parts;
  if (first === undefined) throw new LabError('internal', `${name} has no parts.`);
  const { layer, target, inputs, outputs } = first.module;
  const stranger = parts.find(
    ({ module }) => module.inputs !== inputs || module.outputs !== outputs,
  );
  if (stranger) {
    throw new LabError(
      'bad_input',
      `${name} has ${inputs} inputs and ${outputs} outputs in one adapter, ${stranger.module.inputs} and ${stranger.module.outputs} in another; expected two adapters of one model.`,
      { module: name },
    );
  }
  const rank = parts.reduce((sum, { module }) => sum + module.rank, 0);
  const scale = first.module.scale === 0 ? 1 : first.module.scale;
  const aT = new Float32Array(inputs * rank); // [inputs, rank]
  const bT = new Float32Array(rank * outputs); // [rank, outputs]
  let at = 0;
  for (const { module, weight } of parts) {
    for (let i = 0; i < inputs; i++) {
      aT.set(module.aT.subarray(i * module.rank, (i + 1) * module.rank), i * rank + at);
    }
    const factor = (weight * module.scale) / scale;
    bT.set(
      module.bT.map((value) => value * factor),
      at * outputs,
    );
    at += module.rank;
  }
  return { layer, target, inputs, outputs, rank, scale, aT, bT };
}
