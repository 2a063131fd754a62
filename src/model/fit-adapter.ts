/** Puts an adapter's modules at their places in one model, and refuses those that do not fit it. */

import type { LoraTarget } from '../config.ts';
import { LabError } from '../errors.ts';
import type { GgufLora } from '../formats/gguf-lora.ts';
import type { PeftModule } from '../formats/peft.ts';
import type { AdapterData } from '../records.ts';
import { type LlamaConfig, projectionShape } from './llama-config.ts';
import type { ProjectionShape } from './lora.ts';
import { fromGgufModule, parseGgufTensorName } from './lora-gguf.ts';
import { fromHf, hfModuleName, parseHfModuleName } from './lora-hf.ts';

/**
 * The adapter as this model takes it. Throws `bad_input` naming the first module that the model has
 * no place for, or whose matrices have other sizes: an adapter is applied as a whole or not at all.
 */
export function fitAdapter(modules: readonly PeftModule[], config: LlamaConfig): AdapterData {
  const placed = modules.map((module) => {
    const place = parseHfModuleName(module.name);
    return { ...module, ...fit(module.name, place, shapeOf(module), config) };
  });
  return fromHf(placed, config);
}

/** The same for llama.cpp's form. Throws `bad_input` also for another architecture. */
export function fitGgufLora({ architecture, modules }: GgufLora, config: LlamaConfig): AdapterData {
  if (architecture !== config.architecture) {
    throw new LabError(
      'bad_input',
      `The adapter is for the architecture "${architecture}", and this model is "${config.architecture}". Open the model that it was trained on.`,
      { architecture },
    );
  }
  return {
    modules: modules.map((module) => {
      const place = parseGgufTensorName(module.tensor);
      return fromGgufModule(module, fit(module.tensor, place, shapeOf(module), config));
    }),
  };
}

/** Throws `bad_input` where an adapter that was fitted to a model does not fit this one too. */
export function checkFits({ modules }: AdapterData, config: LlamaConfig): void {
  for (const { layer, target, inputs, outputs } of modules) {
    fit(hfModuleName(layer, target), { layer, target }, { inputs, outputs }, config);
  }
}

interface Place {
  readonly layer: number;
  readonly target: LoraTarget;
}

function shapeOf({ a, b }: Pick<PeftModule, 'a' | 'b'>): ProjectionShape {
  return { inputs: a.cols, outputs: b.rows };
}

function fit(
  name: string,
  place: Place | null,
  found: ProjectionShape,
  config: LlamaConfig,
): Place {
  const misfit = (expected: string) =>
    new LabError(
      'bad_input',
      `The adapter's ${name} (${found.inputs} inputs, ${found.outputs} outputs) does not fit this model, which has ${expected}. Open the model that it was trained on.`,
      { module: name },
    );
  if (place === null || place.layer >= config.layers) {
    throw misfit(`projections of layers 0 to ${config.layers - 1}`);
  }
  const { inputs, outputs } = projectionShape(config, place.target);
  if (found.inputs !== inputs || found.outputs !== outputs) {
    throw misfit(`${inputs} inputs and ${outputs} outputs`);
  }
  return place;
}
