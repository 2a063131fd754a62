/**
 * The gradient of a whole sequence with respect to the adapter, layer by layer: the forward pass
 * keeps each layer's input, the backward pass recomputes one layer at a time where memory is scarce. The weights are frozen
 * and stay quantised. Knows nothing of losses or optimisers.
 */

import * as tf from '@tensorflow/tfjs-core';
import type { LoraTarget } from '../config.ts';
import { LabError, throwIfAborted } from '../errors.ts';
import { checkIds, embed } from './forward.ts';
import { SPARE_BYTES, trimPool } from './gpu-pool.ts';
import {
  adapterOf,
  attendWithin,
  type LayerActivations,
  layerActivations,
  layerForward,
  layerOutput,
} from './layer.ts';
import { layerBackward } from './layer-backward.ts';
import type { LlamaModel } from './llama.ts';
import type { Adapter } from './lora.ts';
import { nextMacrotask } from './macrotask.ts';

/**
 * The residual stream of a sequence from position 0, without a cache: `keep` 'inputs' returns the
 * input of each layer and then the output, [layers + 1] of [T, width]; 'output' only the last.
 * Yields before each layer. Returns owned; when it throws `aborted` or is left early, all is freed. What
 * the layers computed on the way goes to `activations`, whose owner frees it.
 */
export async function* runSequence(
  model: LlamaModel,
  adapter: Adapter | null,
  ids: readonly number[],
  keep: 'inputs' | 'output',
  signal: AbortSignal | undefined,
  activations: LayerActivations[] | null = null,
): AsyncGenerator<void, tf.Tensor2D[], void> {
  checkIds(ids, model.config.vocabulary);
  trimPool(SPARE_BYTES);
  const kept: tf.Tensor2D[] = [embed(model, ids)];
  try {
    for (const [index, layer] of model.layers.entries()) {
      yield;
      await nextMacrotask();
      throwIfAborted(signal);
      const x = last(kept);
      const own = adapterOf(adapter, index);
      const attend = attendWithin(layer, ids.length);
      if (activations) {
        const { out, ...all } = tf.tidy(() => {
          const all = layerActivations(model, layer, own, x, 0, attend);
          return { ...all, out: layerOutput(model, layer, own, all) };
        });
        activations.push(all);
        kept.push(out);
      } else kept.push(tf.tidy(() => layerForward(model, layer, own, x, 0, attend)));
      if (keep === 'output') kept.shift()?.dispose();
    }
    return kept.splice(0);
  } finally {
    tf.dispose(kept);
  }
}

/** The gradient of one module's parameters. */
export interface ModuleGradient {
  readonly daT: tf.Tensor2D; // [in, r]
  readonly dbT: tf.Tensor2D; // [r, out]
}

/** Gradients by layer and target; owns its tensors. */
export class AdapterGradients {
  readonly #sums = new Map<string, ModuleGradient>();

  /** Adds one sequence's share. Takes ownership. */
  add(layer: number, target: LoraTarget, share: ModuleGradient): void {
    const key = `${layer}.${target}`;
    const sum = this.#sums.get(key);
    if (sum === undefined) {
      this.#sums.set(key, { daT: tf.keep(share.daT), dbT: tf.keep(share.dbT) });
      return;
    }
    this.#sums.set(key, {
      daT: tf.keep(tf.add<tf.Tensor2D>(sum.daT, share.daT)),
      dbT: tf.keep(tf.add<tf.Tensor2D>(sum.dbT, share.dbT)),
    });
    tf.dispose([sum.daT, sum.dbT, share.daT, share.dbT]);
  }

  /** In the order of the adapter's parameters. Borrowed. */
  inOrderOf(adapter: Adapter): readonly tf.Tensor2D[] {
    return adapter.modules.flatMap(({ layer, target }) => {
      const sum = this.#sums.get(`${layer}.${target}`);
      if (sum !== undefined) return [sum.daT, sum.dbT];
      throw new LabError('internal', `Layer ${layer}'s ${target} has no gradient.`);
    });
  }

  dispose(): void {
    for (const { daT, dbT } of this.#sums.values()) tf.dispose([daT, dbT]);
    this.#sums.clear();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

/**
 * Adds the adapter's gradients to `sums`, given the layers' inputs of {@link runSequence} and the
 * gradient at the last output [T, width]. Yields before each layer. CONSUMES `inputs`, `activations` and
 * `dOutput`, also when it throws `aborted` or is left early; `sums` then holds a part and must be thrown away.
 */
export async function* backwardSequence(
  model: LlamaModel,
  adapter: Adapter,
  inputs: tf.Tensor2D[],
  dOutput: tf.Tensor2D,
  sums: AdapterGradients,
  signal: AbortSignal | undefined,
  activations: LayerActivations[] | null = null,
): AsyncGenerator<void, void, void> {
  const lowest = Math.min(...adapter.modules.map(({ layer }) => layer));
  let dy = dOutput;
  try {
    inputs.pop()?.dispose(); // the output itself is not needed
    for (const [index, layer] of [...model.layers.entries()].reverse()) {
      yield;
      if (index < lowest) continue;
      await nextMacrotask();
      throwIfAborted(signal);
      const x = last(inputs);
      const own = adapterOf(adapter, index);
      const all = activations?.pop() ?? null;
      const { dx, shares } = tf.tidy(() =>
        layerBackward(model, layer, own, x, all, dy, index > lowest),
      );
      if (all) tf.dispose(all);
      for (const { target, ...share } of shares) sums.add(index, target, share);
      tf.dispose([inputs.pop() ?? x, dy]);
      dy = dx;
    }
  } finally {
    tf.dispose([...inputs.splice(0), dy]);
    for (const all of activations?.splice(0) ?? []) tf.dispose(all);
  }
}

function last(tensors: readonly tf.Tensor2D[]): tf.Tensor2D {
  const tensor = tensors.at(-1);
  if (tensor !== undefined) return tensor;
  throw new LabError('internal', 'A layer has no input.');
}
