/**
 * One layer's arithmetic, for every family: norms, projections, attention, gated MLP, residuals. Knows
 * nothing of caches or of other layers; its gradient is in layer-backward.ts.
 */

import * as tf from '@tensorflow/tfjs-core';
import type { LoraTarget } from '../config.ts';
import type { Activation } from './families.ts';
import type { LlamaLayer, LlamaModel } from './llama.ts';
import type { Adapter } from './lora.ts';
import {
  attention,
  geglu,
  gegluBackward,
  linear,
  rmsNorm,
  rope,
  swiglu,
  swigluBackward,
} from './ops/index.ts';
import { loraAdd } from './ops/lora-add.ts';

/** Attention of one layer, given turned queries and keys. Returns owned. */
export type Attend = (q: tf.Tensor2D, k: tf.Tensor2D, v: tf.Tensor2D) => tf.Tensor2D;

/** One layer's share of the adapter. */
export type LayerAdapter = (target: LoraTarget) => ReturnType<Adapter['module']>;

export function adapterOf(adapter: Adapter | null, layer: number): LayerAdapter {
  return (target) => adapter?.module(layer, target);
}

/** A gated activation of two [T, inner] tensors, and its gradient. */
const GATES = {
  silu: { forward: swiglu, backward: swigluBackward },
  gelu_tanh: { forward: geglu, backward: gegluBackward },
} as const satisfies Record<Activation, unknown>;

export function gateOf(model: LlamaModel): (typeof GATES)[Activation] {
  return GATES[model.config.activation];
}

/**
 * What a layer computes on the way, as its gradient needs it. A type alias, not an interface: only that
 * passes through tf.tidy's container type.
 */
export type LayerActivations = {
  readonly normed: tf.Tensor2D; // [T, width]
  /** Queries and keys as projected, before their norms. */
  readonly rawQ: tf.Tensor2D; // [T, heads * headDim]
  readonly rawK: tf.Tensor2D; // [T, kvHeads * headDim]
  /** As attention takes them. */
  readonly q: tf.Tensor2D;
  readonly k: tf.Tensor2D;
  readonly v: tf.Tensor2D;
  readonly mixed: tf.Tensor2D; // [T, heads * headDim]
  readonly attended: tf.Tensor2D; // [T, width], before its post-norm
  /** The residual stream between attention and MLP. */
  readonly middle: tf.Tensor2D; // [T, width]
  readonly inner: tf.Tensor2D; // [T, width]
  readonly gate: tf.Tensor2D; // [T, inner]
  readonly up: tf.Tensor2D; // [T, inner]
  readonly gated: tf.Tensor2D; // [T, inner]
};

/** x [T, width], row i at position start + i -> [T, width]. Call within tf.tidy; borrows x. */
export function layerForward(
  model: LlamaModel,
  layer: LlamaLayer,
  adapter: LayerAdapter,
  x: tf.Tensor2D,
  start: number,
  attend: Attend,
): tf.Tensor2D {
  return layerOutput(
    model,
    layer,
    adapter,
    layerActivations(model, layer, adapter, x, start, attend),
  );
}

/** The rest of a layer after {@link layerActivations}. Call within tf.tidy; borrows. */
export function layerOutput(
  model: LlamaModel,
  layer: LlamaLayer,
  adapter: LayerAdapter,
  { middle, gated }: LayerActivations,
): tf.Tensor2D {
  const out = projectionForward(layer, adapter, gated, 'down_proj');
  return tf.add(middle, postNorm(out, layer.mlpPostNorm, model.config.rmsEpsilon));
}

/** Everything up to the MLP's last projection. Call within tf.tidy; borrows x. */
export function layerActivations(
  model: LlamaModel,
  layer: LlamaLayer,
  adapter: LayerAdapter,
  x: tf.Tensor2D,
  start: number,
  attend: Attend,
): LayerActivations {
  const { rmsEpsilon } = model.config;
  const project = (input: tf.Tensor2D, target: LoraTarget) =>
    projectionForward(layer, adapter, input, target);
  const normed = rmsNorm(x, layer.attentionNorm, rmsEpsilon);
  const rawQ = project(normed, 'q_proj');
  const rawK = project(normed, 'k_proj');
  const q = rope(headNorm(rawQ, layer.queryNorm, rmsEpsilon), layer.rope, start);
  const k = rope(headNorm(rawK, layer.keyNorm, rmsEpsilon), layer.rope, start);
  const v = project(normed, 'v_proj');
  const mixed = attend(q, k, v);
  const attended = project(mixed, 'o_proj');
  const middle = tf.add<tf.Tensor2D>(x, postNorm(attended, layer.attentionPostNorm, rmsEpsilon));
  const inner = rmsNorm(middle, layer.mlpNorm, rmsEpsilon);
  const gate = project(inner, 'gate_proj');
  const up = project(inner, 'up_proj');
  const gated = gateOf(model).forward(gate, up);
  return { normed, rawQ, rawK, q, k, v, mixed, attended, middle, inner, gate, up, gated };
}

/** x W^T, plus the bias and the adapter's term where there are any. Borrows x, returns owned. */
export function projectionForward(
  layer: LlamaLayer,
  adapter: LayerAdapter,
  x: tf.Tensor2D,
  target: LoraTarget,
): tf.Tensor2D {
  const product = linear(x, layer.projections[target]);
  const bias = layer.biases[target];
  const y = bias === undefined ? product : tf.add<tf.Tensor2D>(product, bias);
  const module = adapter(target);
  return module === undefined ? y : loraAdd(y, x, module);
}

/** Each head's vector normalised by itself: x [T, H * headDim], gain [headDim]; x itself without a gain. */
function headNorm(x: tf.Tensor2D, gain: tf.Tensor1D | null, eps: number): tf.Tensor2D {
  return gain === null ? x : tf.reshape(rmsNorm(headRows(x, gain), gain, eps), x.shape);
}

/** [T, H * headDim] -> [T * H, headDim]: a view. */
export function headRows(x: tf.Tensor2D, gain: tf.Tensor1D): tf.Tensor2D {
  return tf.reshape(x, [x.size / gain.size, gain.size]);
}

function postNorm(x: tf.Tensor2D, gain: tf.Tensor1D | null, eps: number): tf.Tensor2D {
  return gain === null ? x : rmsNorm(x, gain, eps);
}

/** Attention of a whole sequence over its own keys and values. */
export function attendWithin(layer: LlamaLayer, length: number): Attend {
  return (q, k, v) => attention(q, k, v, { ...layer.heads, start: 0, length });
}
