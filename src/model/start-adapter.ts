/** The adapter that an episode starts from in place of a fresh one: what it is called, and whether it can be trained on. */

import { type LoraTarget, loraTargets, type Settings } from '../config.ts';
import { LabError } from '../errors.ts';
import { adapterSha256, inOrder } from '../formats/adapter-hash.ts';
import type { AdapterData, StartAdapterRef } from '../records.ts';
import type { LoraShape } from './lora.ts';

export interface StartAdapter extends StartAdapterRef {
  readonly data: AdapterData;
}

/** Named, and in the one order of modules that equal adapters have. */
export async function startAdapter(name: string, data: AdapterData): Promise<StartAdapter> {
  return { name, sha256: await adapterSha256(data), data: inOrder(data) };
}

/** What a manifest says of it. */
export function startAdapterRef({ name, sha256 }: StartAdapter): StartAdapterRef {
  return { name, sha256 };
}

/** What is asked of an adapter before an episode starts from it. */
export type StartCandidate = Pick<StartAdapter, 'name' | 'data'>;

/**
 * Throws `bad_config`, naming both shapes, where training could not go on from it: the settings say which
 * rank, alpha and projections a run trains, in every layer. One that is only used may have any shape.
 */
export function checkTrainable({ name, data }: StartCandidate, settings: Settings, layers: number) {
  const { lora_rank: rank, lora_alpha: alpha, target_modules: targets } = settings;
  if (isShaped(data, { rank, alpha, targets }, layers)) return;
  throw new LabError(
    'bad_config',
    `The adapter "${name}" has ${shapeOf(data, layers)}; the settings train ${asked({ rank, alpha, targets })}. Set these to the adapter's, so that training goes on from it; choose a method that trains nothing; or merge it into the model.`,
  );
}

function isShaped({ modules }: AdapterData, shape: LoraShape, layers: number): boolean {
  const scale = shape.alpha / shape.rank;
  return (
    modules.length === layers * shape.targets.length &&
    modules.every(
      (module) =>
        module.rank === shape.rank &&
        shape.targets.includes(module.target) &&
        // A GGUF holds alpha as float32.
        Math.abs(module.scale - scale) <= 1e-6 * scale,
    )
  );
}

/** E.g. `rank 8, alpha 16 on q_proj, v_proj`, or what there is of each where modules differ. */
function shapeOf({ modules }: AdapterData, layers: number): string {
  const ranks = distinct(modules.map(({ rank }) => rank));
  const alphas = distinct(modules.map(({ rank, scale }) => Number((rank * scale).toPrecision(6))));
  const targets = loraTargets.filter((known) => modules.some(({ target }) => target === known));
  const own = new Set(modules.map(({ layer }) => layer)).size;
  const some = modules.length === layers * targets.length ? '' : ` in ${own} of ${layers} layers`;
  const list = (values: readonly number[]) => values.join(' and ');
  return `rank ${list(ranks)}, alpha ${list(alphas)} on ${names(targets)}${some}`;
}

function asked({ rank, alpha, targets }: LoraShape): string {
  return `rank ${rank}, alpha ${alpha} on ${names(loraTargets.filter((t) => targets.includes(t)))}`;
}

function names(targets: readonly LoraTarget[]): string {
  return targets.join(', ');
}

function distinct(values: readonly number[]): readonly number[] {
  return [...new Set(values)].sort((a, b) => a - b);
}
