/** One layer's gradient, from its input and what it computed on the way. Knows nothing of other layers. */

import * as tf from '@tensorflow/tfjs-core';
import type { LoraTarget } from '../config.ts';
import {
  attendWithin,
  gateOf,
  headRows,
  type LayerActivations,
  type LayerAdapter,
  layerActivations,
  projectionForward,
} from './layer.ts';
import type { LlamaLayer, LlamaModel } from './llama.ts';
import { attentionBackward, linearBackward, rmsNormBackward, rope } from './ops/index.ts';
import { type LoraModule, loraBackward } from './ops/lora-add.ts';

/** A type alias, not an interface: only that passes through tf.tidy's container type. */
export type TargetGradient = { target: LoraTarget; daT: tf.Tensor2D; dbT: tf.Tensor2D };

/**
 * Turns the gradient dy at the layer's output into the gradient at its input x [T, width] (empty when
 * `needInput` is false) and at its adapter's modules. What the forward pass has not kept is recomputed.
 * Biases and gains are frozen: they pass gradients on and have none. Call within tf.tidy; borrows.
 */
export function layerBackward(
  model: LlamaModel,
  layer: LlamaLayer,
  adapter: LayerAdapter,
  x: tf.Tensor2D,
  kept: LayerActivations | null,
  dy: tf.Tensor2D,
  needInput: boolean,
): { dx: tf.Tensor2D; shares: TargetGradient[] } {
  const { rmsEpsilon } = model.config;
  const shares: TargetGradient[] = [];
  const backward = (input: tf.Tensor2D, dOut: tf.Tensor2D, target: LoraTarget) =>
    projectionBackward(layer, adapter(target), input, dOut, target, shares);
  const through = (input: tf.Tensor2D, gain: tf.Tensor1D, d: tf.Tensor2D) =>
    rmsNormBackward(input, gain, rmsEpsilon, d);

  const attend = attendWithin(layer, x.shape[0]);
  const { normed, rawQ, rawK, q, k, v, mixed, attended, middle, inner, gate, up, gated } =
    kept ?? layerActivations(model, layer, adapter, x, 0, attend);

  const { attentionPostNorm, mlpPostNorm } = layer;
  const dMlp =
    mlpPostNorm === null
      ? dy
      : through(projectionForward(layer, adapter, gated, 'down_proj'), mlpPostNorm, dy);
  const { dGate, dUp } = gateOf(model).backward(gate, up, backward(gated, dMlp, 'down_proj'));
  const dInner = tf.add<tf.Tensor2D>(
    backward(inner, dGate, 'gate_proj'),
    backward(inner, dUp, 'up_proj'),
  );
  const dMiddle = tf.add<tf.Tensor2D>(dy, through(middle, layer.mlpNorm, dInner));
  const dAttended =
    attentionPostNorm === null ? dMiddle : through(attended, attentionPostNorm, dMiddle);
  const { dq, dk, dv } = attentionBackward(
    q,
    k,
    v,
    backward(mixed, dAttended, 'o_proj'),
    layer.heads,
  );
  const turnBack = (d: tf.Tensor2D, raw: tf.Tensor2D, gain: tf.Tensor1D | null): tf.Tensor2D => {
    const turned = rope(d, layer.rope, 0, { inverse: true });
    if (gain === null) return turned;
    const rows = through(headRows(raw, gain), gain, headRows(turned, gain));
    return tf.reshape(rows, d.shape);
  };
  const heads = [
    { target: 'q_proj', d: turnBack(dq, rawQ, layer.queryNorm) },
    { target: 'k_proj', d: turnBack(dk, rawK, layer.keyNorm) },
    { target: 'v_proj', d: dv },
  ] as const;
  if (!needInput) {
    for (const { target, d } of heads) moduleGradient(adapter(target), normed, d, target, shares);
    return { dx: tf.zeros([0, 0]), shares };
  }
  const dNormed = tf.addN(heads.map(({ target, d }) => backward(normed, d, target)));
  return { dx: tf.add<tf.Tensor2D>(dMiddle, through(x, layer.attentionNorm, dNormed)), shares };
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
