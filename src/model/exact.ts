/** Which products a model's passes are made of; not the products. */

import type { LoraTarget } from '../config.ts';
import type { LlamaModel } from './llama.ts';
import type { WeightMatrix } from './weights.ts';

/**
 * The same model, for measuring: on WASM its products do not round x to 16 bits. A small KL is a small
 * difference of large numbers, and the rounding of both passes is 1e-3 of it. Borrows: dispose the model.
 */
export function withExactProducts(model: LlamaModel): LlamaModel {
  const exact = (w: WeightMatrix): WeightMatrix => ({ ...w, exact: true });
  return {
    ...model,
    head: exact(model.head),
    layers: model.layers.map((layer) => {
      const targets = Object.entries(layer.projections).map(([name, w]) => [name, exact(w)]);
      const projections = Object.fromEntries(targets) as Record<LoraTarget, WeightMatrix>; // the same names
      return { ...layer, projections };
    }),
  };
}
