/**
 * The gradient of a whole sequence with respect to the adapter, layer by layer: the forward pass
 * keeps each layer's input, the backward pass recomputes one layer at a time. The weights are frozen
 * and stay quantised. Knows nothing of losses or optimisers.
 */

import * as tf from '@tensorflow/tfjs-core';
import type { LoraTarget } from '../config.ts';
import { LabError, throwIfAborted } from '../errors.ts';
import {
  type Attend,
  adapterOf,
  checkIds,
  headsOf,
  type LayerAdapter,
  layerForward,
  projectionForward,
} from './forward.ts';
import type { LlamaLayer, LlamaModel } from './llama.ts';
import type { Adapter } from './lora.ts';
import { nextMacrotask } from './macrotask.ts';
import {
  attention,
  attentionBackward,
  gatherRows,
  linearBackward,
  rmsNorm,
  rmsNormBackward,
  rope,
  swiglu,
  swigluBackward,
} from './ops/index.ts';
import { type LoraModule, loraBackward } from './ops/lora-add.ts';

/**
 * The residual stream of a sequence from position 0, without a cache: `keep` 'inputs' returns the
 * input of each layer and then the output, [layers + 1] of [T, width]; 'output' only the last.
 * Yields before each layer. Returns owned; when it throws `aborted` or is left early, all is freed.
 */
export async function* runSequence(
  model: LlamaModel,
  adapter: Adapter | null,
  ids: readonly number[],
  keep: 'inputs' | 'output',
  signal: AbortSignal | undefined,
): AsyncGenerator<void, tf.Tensor2D[], void> {
  checkIds(ids, model.config.vocabulary);
  const attend = attendWithin(model, ids.length);
  const kept: tf.Tensor2D[] = [gatherRows(model.embedding, Int32Array.from(ids))];
  try {
    for (const [index, layer] of model.layers.entries()) {
      yield;
      await nextMacrotask();
      throwIfAborted(signal);
      const x = last(kept);
      kept.push(tf.tidy(() => layerForward(model, layer, adapterOf(adapter, index), x, 0, attend)));
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
 * gradient at the last output [T, width]. Yields before each layer. CONSUMES `inputs` and `dOutput`,
 * also when it throws `aborted` or is left early; `sums` then holds a part and must be thrown away.
 */
export async function* backwardSequence(
  model: LlamaModel,
  adapter: Adapter,
  inputs: tf.Tensor2D[],
  dOutput: tf.Tensor2D,
  sums: AdapterGradients,
  signal: AbortSignal | undefined,
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
      const { dx, shares } = tf.tidy(() => layerBackward(model, layer, own, x, dy, index > lowest));
      for (const { target, ...share } of shares) sums.add(index, target, share);
      tf.dispose([inputs.pop() ?? x, dy]);
      dy = dx;
    }
  } finally {
    tf.dispose([...inputs.splice(0), dy]);
  }
}

/** A type alias, not an interface: only that passes through tf.tidy's container type. */
type TargetGradient = { target: LoraTarget; daT: tf.Tensor2D; dbT: tf.Tensor2D };

/**
 * One layer backwards: recomputes it from its input x [T, width], then turns the gradient at its
 * output into the gradient at x (zeros when `needInput` is false) and at its modules.
 */
function layerBackward(
  model: LlamaModel,
  layer: LlamaLayer,
  adapter: LayerAdapter,
  x: tf.Tensor2D,
  dy: tf.Tensor2D,
  needInput: boolean,
): { dx: tf.Tensor2D; shares: TargetGradient[] } {
  const { rmsEpsilon } = model.config;
  const shares: TargetGradient[] = [];
  const forward = (input: tf.Tensor2D, target: LoraTarget) =>
    projectionForward(layer, adapter, input, target);
  const backward = (input: tf.Tensor2D, dOut: tf.Tensor2D, target: LoraTarget) =>
    projectionBackward(layer, adapter(target), input, dOut, target, shares);

  const normed = rmsNorm(x, layer.attentionNorm, rmsEpsilon);
  const q = rope(forward(normed, 'q_proj'), model.rope, 0);
  const k = rope(forward(normed, 'k_proj'), model.rope, 0);
  const v = forward(normed, 'v_proj');
  const mixed = attendWithin(model, x.shape[0])(q, k, v);
  const middle = tf.add<tf.Tensor2D>(x, forward(mixed, 'o_proj'));
  const inner = rmsNorm(middle, layer.mlpNorm, rmsEpsilon);
  const gate = forward(inner, 'gate_proj');
  const up = forward(inner, 'up_proj');
  const gated = swiglu(gate, up);

  const { dGate, dUp } = swigluBackward(gate, up, backward(gated, dy, 'down_proj'));
  const dInner = tf.add<tf.Tensor2D>(
    backward(inner, dGate, 'gate_proj'),
    backward(inner, dUp, 'up_proj'),
  );
  const dMiddle = tf.add<tf.Tensor2D>(
    dy,
    rmsNormBackward(middle, layer.mlpNorm, rmsEpsilon, dInner),
  );
  const dMixed = backward(mixed, dMiddle, 'o_proj');
  const { dq, dk, dv } = attentionBackward(q, k, v, dMixed, headsOf(model.config));
  const turnBack = (d: tf.Tensor2D) => rope(d, model.rope, 0, { inverse: true });
  const heads = [
    { target: 'q_proj', d: turnBack(dq) },
    { target: 'k_proj', d: turnBack(dk) },
    { target: 'v_proj', d: dv },
  ] as const;
  if (!needInput) {
    for (const { target, d } of heads) moduleGradient(adapter(target), normed, d, target, shares);
    return { dx: tf.zeros([0, 0]), shares };
  }
  const dNormed = tf.addN(heads.map(({ target, d }) => backward(normed, d, target)));
  const through = rmsNormBackward(x, layer.attentionNorm, rmsEpsilon, dNormed);
  return { dx: tf.add<tf.Tensor2D>(dMiddle, through), shares };
}

/** The gradient at a projection's input, [T, in]; its module's gradient goes to `shares`. */
function projectionBackward(
  layer: LlamaLayer,
  module: LoraModule | undefined,
  x: tf.Tensor2D,
  dy: tf.Tensor2D,
  target: LoraTarget,
  shares: TargetGradient[],
): tf.Tensor2D {
  const dx = linearBackward(dy, layer.projections[target]);
  const through = moduleGradient(module, x, dy, target, shares);
  return through === null ? dx : tf.add<tf.Tensor2D>(dx, through);
}

/** Records a module's gradient; returns its share of the gradient at x, null without a module. */
function moduleGradient(
  module: LoraModule | undefined,
  x: tf.Tensor2D,
  dy: tf.Tensor2D,
  target: LoraTarget,
  shares: TargetGradient[],
): tf.Tensor2D | null {
  if (module === undefined) return null;
  const { daT, dbT, dx } = loraBackward(x, dy, module);
  shares.push({ target, daT, dbT });
  return dx;
}

/** Attention of a whole sequence over its own keys and values. */
function attendWithin(model: LlamaModel, length: number): Attend {
  const span = { ...headsOf(model.config), start: 0, length };
  return (q, k, v) => attention(q, k, v, span);
}

function last(tensors: readonly tf.Tensor2D[]): tf.Tensor2D {
  const tensor = tensors.at(-1);
  if (tensor !== undefined) return tensor;
  throw new LabError('internal', 'A layer has no input.');
}
