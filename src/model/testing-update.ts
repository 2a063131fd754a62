/** For tests only: an adapter of the default shape, and a step of training on a made text of any length. */

import { deriveRng } from '../math/rng.ts';
import { Adam } from '../train/adam.ts';
import { shapesOf } from '../train/training-case.ts';
import { type UpdateResult, updateAdapter } from '../train/update.ts';
import type { LlamaModel } from './llama.ts';
import { projectionShape } from './llama-config.ts';
import { Adapter, freshAdapter } from './lora.ts';
import { finish } from './macrotask.ts';

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
  return { adapter, adam: new Adam(shapesOf(adapter)) };
}

/** One Adam step on `tokens` ids, all but the first of weight 1. */
export function trainOnce(
  model: LlamaModel,
  tokens: number,
  adapter: Adapter,
  adam: Adam,
): Promise<UpdateResult> {
  const { vocabulary } = model.config;
  const ids = Array.from({ length: tokens }, (_, i) => (i * 31) % vocabulary);
  const weights = ids.map((_, i) => (i === 0 ? 0 : 1));
  const options = {
    steps: 1,
    learningRate: 1e-4,
    normalisation: 'weights',
    maxGradNorm: 1,
  } as const;
  return finish(updateAdapter(model, adapter, adam, [{ ids, weights }], options));
}
