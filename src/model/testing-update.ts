/** For tests and benches only: an adapter of the default shape, and training on a made text of any length. */

import { deriveRng } from '../math/rng.ts';
import { finish } from '../sequences.ts';
import { Adam } from '../train/adam.ts';
import { type UpdateResult, updateAdapter } from '../train/update.ts';
import type { LlamaModel } from './llama.ts';
import { projectionShape } from './llama-config.ts';
import { Adapter, freshAdapter } from './lora.ts';

export const shape = { rank: 8, alpha: 16, targets: ['q_proj', 'v_proj'] } as const;

/** What an update needs besides the model; the caller disposes of both. */
export function equip(model: LlamaModel): { readonly adapter: Adapter; readonly adam: Adam } {
  const { config } = model;
  const start = freshAdapter(
    shape,
    config.layers,
    (target) => projectionShape(config, target),
    deriveRng(1),
  );
  const adapter = new Adapter(start);
  return { adapter, adam: new Adam(adapter.parameters()) };
}

/** Adam steps on `ids`, all but the first of weight 1; `maxGradNorm` 0: gradients stay as they are. */
export function trainOn(
  model: LlamaModel,
  ids: readonly number[],
  { adapter, adam }: { readonly adapter: Adapter; readonly adam: Adam },
  { steps, maxGradNorm }: { readonly steps: number; readonly maxGradNorm: number },
): Promise<UpdateResult> {
  const weights = ids.map((_, i) => (i === 0 ? 0 : 1));
  const options = { steps, learningRate: 1e-4, normalisation: 'weights', maxGradNorm } as const;
  return finish(updateAdapter(model, adapter, adam, [{ ids, weights }], options));
}

/** One step on `tokens` ids. */
export function trainOnce(
  model: LlamaModel,
  tokens: number,
  adapter: Adapter,
  adam: Adam,
): Promise<UpdateResult> {
  const ids = Array.from({ length: tokens }, (_, i) => (i * 31) % model.config.vocabulary);
  return trainOn(model, ids, { adapter, adam }, { steps: 1, maxGradNorm: 1 });
}
