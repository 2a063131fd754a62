/**
 * One update of the adapter: some Adam steps on a window of weighted sequences, all or nothing.
 * Knows nothing of episodes, triggers or guards.
 */

import * as tf from '@tensorflow/tfjs-core';
import { LabError } from '../errors.ts';
import { withExactProducts } from '../model/exact.ts';
import { trimPool } from '../model/gpu-pool.ts';
import type { LayerActivations } from '../model/layer.ts';
import type { LlamaModel } from '../model/llama.ts';
import { AdapterGradients, backwardSequence, runSequence } from '../model/llama-backward.ts';
import type { Adapter } from '../model/lora.ts';
import { keepsActivations } from '../model/memory.ts';
import { finish } from '../sequences.ts';
import type { Adam } from './adam.ts';
import {
  crossEntropyAt,
  crossEntropyGradient,
  type KlPull,
  klAt,
  lossDivisor,
  type Normalisation,
  type Targets,
  targetsOf,
  type WeightedIds,
  weightedSum,
} from './loss.ts';

export interface UpdateOptions {
  readonly steps: number;
  readonly learningRate: number;
  readonly normalisation: Normalisation;
  /** The whole gradient is scaled down to this norm when it is larger; 0 never clips. */
  readonly maxGradNorm: number;
  /** Also return the first step's gradients, for checking. */
  readonly keepGradients?: boolean;
  /** Also return the gradients of the first sequence's loss alone, where the last step has led. */
  readonly keepOwnGradients?: boolean;
  /** weight · mean over the trained positions of KL(now ‖ reference) joins the loss. */
  readonly klPenalty?: { readonly weight: number; readonly reference: Adapter };
  /** What joins the gradient of every parameter at each step, owned by the update; null for nothing. */
  readonly pull?: (parameters: readonly tf.Tensor2D[]) => readonly tf.Tensor2D[] | null;
}

/** Work done so far, in layers passed forwards or backwards. */
export interface UpdateProgress {
  readonly done: number;
  readonly total: number;
}

export interface UpdateResult {
  /** The weighted cross entropy alone, before each step, then after the last: steps + 1 numbers. */
  readonly losses: readonly number[];
  /** Of the whole gradient at each step, before clipping. */
  readonly gradNorms: readonly number[];
  /** Nats of every label, sequence by sequence. */
  readonly ceBefore: readonly Float32Array[];
  readonly ceAfter: readonly Float32Array[];
  /** Without `pull`, in the order of the adapter's parameters; null unless asked for. */
  readonly firstGradients: readonly Float32Array[] | null;
  /** Of the first sequence's Σ w · CE / Σ w (or / N) after the last step; null unless asked for. */
  readonly ownGradients: readonly Float32Array[] | null;
}

/** PyTorch's clip_grad_norm_ adds it to the norm before dividing. */
const CLIP_EPSILON = 1e-6;

/**
 * Trains on all sequences together: loss = Σ w · CE / Σ w (or / N) over the whole window, so that
 * unequal sequences weigh by their tokens. Yields after each layer. When it throws, is aborted or is
 * left early, adapter and optimiser are as before, bit for bit, and nothing leaks. Rejects with
 * `bad_input` for a window that cannot be trained on, `limit` for a sequence beyond the context.
 */
export async function* updateAdapter(
  model: LlamaModel,
  adapter: Adapter,
  adam: Adam,
  window: readonly WeightedIds[],
  options: UpdateOptions,
  signal?: AbortSignal,
): AsyncGenerator<UpdateProgress, UpdateResult, void> {
  const work = window.map((sequence) => prepare(model, sequence));
  const divisor = lossDivisor(
    work.map(({ targets }) => targets),
    options.normalisation,
  );
  const { klPenalty, keepOwnGradients = false } = options;
  const passes = 2 * options.steps + 1 + (klPenalty ? 1 : 0);
  const total = model.layers.length * (work.length * passes + (keepOwnGradients ? 1 : 0));
  const labels = work.reduce((sum, { targets }) => sum + targets.labels.length, 0);
  let done = 0;
  const before = { parameters: adapter.checkpoint(), optimiser: adam.checkpoint() };
  const losses: number[] = [];
  const gradNorms: number[] = [];
  let ceBefore: readonly Float32Array[] = [];
  let firstGradients: readonly Float32Array[] | null = null;
  let finished = false;
  const references: tf.Tensor2D[] = [];
  trimPool(); // what was read at other lengths makes room for this one
  try {
    if (klPenalty) {
      for (const { ids } of work) {
        const pass = runSequence(model, klPenalty.reference, ids, 'output', signal);
        let turn = await pass.next();
        for (; turn.done !== true; turn = await pass.next()) yield { done: done++, total };
        references.push(...turn.value);
      }
    }
    for (let step = 0; ; step++) {
      const training = step < options.steps;
      using sums = new AdapterGradients();
      const ces: Float32Array[] = [];
      let weighted = 0;
      for (const [i, { ids, targets }] of work.entries()) {
        const x = references[i];
        const pull = klPenalty && x ? { x, coefficient: klPenalty.weight / labels } : null;
        const alone = { sums, divisor: lossDivisor([targets], options.normalisation), pull: null };
        const after = keepOwnGradients && i === 0 ? alone : null;
        const into = training ? { sums, divisor, pull } : after;
        const pass = onePass(model, adapter, ids, targets, into, ces, signal);
        for await (const _layer of pass) yield { done: done++, total };
        weighted += weightedSum(ces.at(-1) ?? new Float32Array(0), targets);
      }
      losses.push(weighted / divisor);
      if (step === 0) ceBefore = ces;
      if (!training) {
        const ownGradients = keepOwnGradients ? await copies(sums.inOrderOf(adapter)) : null;
        finished = true;
        return { losses, gradNorms, ceBefore, ceAfter: ces, firstGradients, ownGradients };
      }
      const own = sums.inOrderOf(adapter);
      if (step === 0 && options.keepGradients === true) firstGradients = await copies(own);
      const pulled = withPull(own, options.pull?.(adapter.parameters()) ?? null);
      try {
        const gradients = pulled ?? own;
        const norm = await globalNorm(gradients);
        gradNorms.push(norm);
        const clip = options.maxGradNorm > 0 ? options.maxGradNorm / (norm + CLIP_EPSILON) : 1;
        takeStep(adapter, adam, gradients, Math.min(1, clip), options.learningRate);
      } finally {
        if (pulled) tf.dispose([...pulled]);
      }
    }
  } finally {
    tf.dispose(references);
    trimPool();
    if (finished) {
      tf.dispose([...before.parameters, ...before.optimiser.m, ...before.optimiser.v]);
    } else {
      adapter.assign(before.parameters);
      adam.rewind(before.optimiser);
    }
  }
}

/** Cross entropy of each label in nats; nothing is trained. */
export async function measureCrossEntropy(
  model: LlamaModel,
  adapter: Adapter | null,
  sequence: WeightedIds,
  signal?: AbortSignal,
): Promise<Float32Array> {
  const { ids, targets } = prepare(model, sequence);
  const [x] = await finish(runSequence(model, adapter, ids, 'output', signal));
  try {
    return await crossEntropyAt(model, given(x), targets, signal);
  } finally {
    x?.dispose();
  }
}

/**
 * Means over `rows` of the exact KL in nats over the whole vocabulary, one way and the other, where P and Q
 * are the next-token distributions after ids[0 … row] under two adapters (null: the base).
 */
export async function klDivergences(
  rounding: LlamaModel,
  p: Adapter | null,
  q: Adapter | null,
  ids: readonly number[],
  rows: Int32Array,
  signal?: AbortSignal,
): Promise<{ readonly pq: number; readonly qp: number }> {
  const model = withExactProducts(rounding);
  const used = ids.slice(0, (rows.at(-1) ?? 0) + 1);
  const outputs: tf.Tensor2D[] = [];
  try {
    for (const adapter of [p, q]) {
      outputs.push(...(await finish(runSequence(model, adapter, used, 'output', signal))));
    }
    const [xp, xq] = outputs;
    const mean = async (from?: tf.Tensor2D, to?: tf.Tensor2D) => {
      const kl = await klAt(model, given(from), given(to), rows, signal);
      return kl.reduce((sum, value) => sum + value, 0) / rows.length;
    };
    return { pq: await mean(xp, xq), qp: await mean(xq, xp) };
  } finally {
    tf.dispose(outputs);
  }
}

interface Prepared {
  /** Up to the id before the last label: what lies behind predicts nothing that counts. */
  readonly ids: readonly number[];
  readonly targets: Targets;
}

function prepare(model: LlamaModel, sequence: WeightedIds): Prepared {
  const targets = targetsOf(sequence);
  const ids = sequence.ids.slice(0, (targets.rows.at(-1) ?? 0) + 1);
  const limit = model.config.contextLength;
  if (ids.length > limit) {
    throw new LabError(
      'limit',
      `The text to train on has ${ids.length} tokens, but the context holds ${limit}. Train on a shorter text.`,
      { length: ids.length, limit },
    );
  }
  return { ids, targets };
}

/**
 * One sequence forwards, and backwards when `into` says where to; its CE is pushed to `ces`. Yields
 * before each layer; made for `for await`, which cleans up when it is left early.
 */
async function* onePass(
  model: LlamaModel,
  adapter: Adapter,
  ids: readonly number[],
  targets: Targets,
  into: {
    readonly sums: AdapterGradients;
    readonly divisor: number;
    readonly pull: KlPull | null;
  } | null,
  ces: Float32Array[],
  signal: AbortSignal | undefined,
): AsyncGenerator<void, void, void> {
  const keep = into === null ? 'output' : 'inputs';
  const { numBytes } = tf.memory();
  const keeps = keepsActivations(model.config, tf.getBackend(), ids.length, numBytes);
  const activations: LayerActivations[] | null = into !== null && keeps ? [] : null;
  const inputs: tf.Tensor2D[] = [];
  try {
    inputs.push(...(yield* runSequence(model, adapter, ids, keep, signal, activations)));
    const x = given(inputs.at(-1));
    if (into === null) {
      ces.push(await crossEntropyAt(model, x, targets, signal));
      return;
    }
    const coefficients = Float32Array.from(targets.weights, (w) => w / into.divisor);
    const { pull } = into;
    const { ce, dx } = await crossEntropyGradient(model, x, targets, coefficients, signal, pull);
    ces.push(ce);
    yield* backwardSequence(model, adapter, inputs, dx, into.sums, signal, activations);
  } finally {
    tf.dispose(inputs.splice(0));
    for (const all of activations?.splice(0) ?? []) tf.dispose(all);
  }
}

/** Synchronous, so that no one can see an adapter that is half stepped. */
function takeStep(
  adapter: Adapter,
  adam: Adam,
  gradients: readonly tf.Tensor2D[],
  clip: number,
  learningRate: number,
): void {
  const clipped =
    clip < 1 ? tf.tidy(() => gradients.map((g) => tf.mul<tf.Tensor2D>(g, clip))) : null;
  try {
    adapter.assign(adam.update(adapter.parameters(), clipped ?? gradients, learningRate));
  } finally {
    if (clipped !== null) tf.dispose(clipped);
  }
}

/** The sums, owned by the caller; null when there is nothing to add. Frees `pull`. */
function withPull(
  gradients: readonly tf.Tensor2D[],
  pull: readonly tf.Tensor2D[] | null,
): readonly tf.Tensor2D[] | null {
  if (!pull) return null;
  const sums = tf.tidy(() =>
    gradients.map((g, i) => {
      const more = pull[i];
      return more ? tf.add<tf.Tensor2D>(g, more) : tf.clone(g);
    }),
  );
  tf.dispose([...pull]);
  return sums;
}

/** √Σ g² over all gradients. */
async function globalNorm(gradients: readonly tf.Tensor2D[]): Promise<number> {
  const squares = tf.tidy(() =>
    tf.stack(gradients.map((g) => tf.tidy(() => tf.sum(tf.square(g))))),
  );
  const values = await squares.data();
  squares.dispose();
  let sum = 0;
  for (const value of values) sum += value;
  return Math.sqrt(sum);
}

async function copies(tensors: readonly tf.Tensor2D[]): Promise<Float32Array[]> {
  return Promise.all(tensors.map(async (t) => (await t.data<'float32'>()).slice()));
}

function given(x: tf.Tensor2D | undefined): tf.Tensor2D {
  if (x !== undefined) return x;
  throw new LabError('internal', 'A sequence gave no output.');
}
