/** Puts an adapter's modules at their places in one model, and refuses those that do not fit it. */

import { LabError } from '../errors.ts';
import type { PeftModule } from '../formats/peft.ts';
import type { AdapterData } from '../records.ts';
import { type LlamaConfig, projectionShape } from './llama-config.ts';
import { fromHf, type HfModule, parseHfModuleName } from './lora-hf.ts';

/**
 * The adapter as this model takes it. Throws `bad_input` naming the first module that the model has
 * no place for, or whose matrices have other sizes: an adapter is applied as a whole or not at all.
 */
export function fitAdapter(modules: readonly PeftModule[], config: LlamaConfig): AdapterData {
  return fromHf(
    modules.map((module) => placed(module, config)),
    config,
  );
}

function placed(module: PeftModule, config: LlamaConfig): HfModule {
  const place = parseHfModuleName(module.name);
  if (place === null || place.layer >= config.layers) {
    throw misfit(module, `a projection of layers 0 to ${config.layers - 1}`);
  }
  const { inputs, outputs } = projectionShape(config, place.target);
  if (module.a.cols !== inputs || module.b.rows !== outputs) {
    throw misfit(module, `${inputs} inputs and ${outputs} outputs`);
  }
  return { ...module, ...place };
}

function misfit({ name, a, b }: PeftModule, expected: string): LabError {
  return new LabError(
    'bad_input',
    `The adapter's ${name} (${a.cols} inputs, ${b.rows} outputs) does not fit this model, which has ${expected}. Open the model that it was trained on.`,
    { module: name },
  );
}
