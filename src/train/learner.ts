/** The learning face of the engine: one adapter with its optimiser, behind the spine's Learner port. */

import * as tf from '@tensorflow/tfjs-core';
import type { Settings } from '../config.ts';
import { LabError } from '../errors.ts';
import { cacheFor, type KvCache } from '../model/cache.ts';
import { logitsAfter } from '../model/forward.ts';
import type { LlamaModel } from '../model/llama.ts';
import { Adapter, deltaNorm } from '../model/lora.ts';
import { klRows } from '../model/ops/index.ts';
import type { Learner, TokenDrift, TrainText } from '../ports.ts';
import type { AdapterData, LearnerSnapshot } from '../records.ts';
import { finish } from '../sequences.ts';
import type { Tokenizer } from '../text/tokenizer.ts';
import { Adam } from './adam.ts';
import { rowDrift } from './drift.ts';
import { Ewc } from './ewc.ts';
import { dataOf, targetsOf, type WeightedIds } from './loss.ts';
import { measureCrossEntropy, updateAdapter } from './update.ts';

/** An adapter that learns within one episode. Owns the adapter, its start copy and the moments. */
export class LoraLearner implements Learner {
  readonly adapter: Adapter;
  readonly bos: readonly number[];
  readonly #model: LlamaModel;
  readonly #tokenizer: Tokenizer;
  readonly #start: Adapter;
  readonly #conversation: KvCache;
  /** The conversation under the start adapter; made when KL at its end is first asked for. */
  #startCache: KvCache | null = null;
  readonly #adam: Adam;
  readonly #ewc = new Ewc();

  /**
   * Begins at `start`, which is also what KL is measured against. `conversation` is the acting policy's
   * cache, borrowed: what KL at a prompt computes there the next step need not compute again.
   */
  constructor(model: LlamaModel, tokenizer: Tokenizer, start: AdapterData, conversation: KvCache) {
    this.#model = model;
    this.#tokenizer = tokenizer;
    this.#conversation = conversation;
    this.adapter = new Adapter(start);
    this.#start = new Adapter(start);
    this.#adam = new Adam(this.adapter.parameters());
    this.bos = tokenizer.addBos && tokenizer.bosId !== null ? [tokenizer.bosId] : [];
  }

  pieces(ids: readonly number[]): readonly string[] {
    return ids.map((id) => this.#tokenizer.piece(id));
  }

  decode(ids: readonly number[]): string {
    return this.#tokenizer.decode(ids);
  }

  encode(text: string): readonly number[] {
    return this.#tokenizer.encode(text, { special: false });
  }

  async train(
    window: readonly TrainText[],
    settings: Settings,
    signal: AbortSignal,
    onProgress: (done: number, total: number) => void,
  ) {
    const [text] = window;
    if (!text) throw new LabError('bad_input', 'There is no text to train on.');
    const { kl_penalty, ewc_strength } = settings;
    const consolidates = ewc_strength > 0;
    const update = updateAdapter(
      this.#model,
      this.adapter,
      this.#adam,
      window.map(sequenceOf),
      {
        steps: settings.grad_steps,
        learningRate: settings.learning_rate,
        normalisation: settings.loss_normalisation,
        maxGradNorm: settings.max_grad_norm,
        keepOwnGradients: consolidates,
        ...(kl_penalty > 0 && { klPenalty: { weight: kl_penalty, reference: this.#start } }),
        ...(consolidates && { pull: (now) => this.#ewc.pull(now, ewc_strength) }),
      },
      signal,
    );
    const result = await finish(update, ({ done, total }) => onProgress(done, total));
    const { losses, gradNorms, ceBefore, ceAfter, ownGradients } = result;
    if (ownGradients) this.#ewc.accept(ownGradients, this.adapter.parameters());
    return {
      losses,
      gradNorms,
      ceBefore: perId(text, ceBefore[0]),
      ceAfter: perId(text, ceAfter[0]),
    };
  }

  async measure(text: TrainText, signal: AbortSignal): Promise<readonly (number | null)[]> {
    const sequence = sequenceOf(text);
    return perId(text, await measureCrossEntropy(this.#model, this.adapter, sequence, signal));
  }

  async driftFromStart(
    text: TrainText,
    alternatives: number,
    signal: AbortSignal,
  ): Promise<TokenDrift> {
    const sequence = sequenceOf(text);
    const { kl, entropy, likeliest } = await rowDrift(
      this.#model,
      this.adapter,
      this.#start,
      sequence.ids,
      targetsOf(sequence).rows,
      alternatives,
      signal,
    );
    let label = 0;
    return {
      meanKl: kl.reduce((sum, value) => sum + value, 0) / kl.length,
      kl: perId(text, kl),
      entropy: perId(text, entropy),
      likeliest: text.weights.map((w) => (w > 0 ? (likeliest[label++] ?? []) : [])),
    };
  }

  /** Of what exceeds the context only the tail is read. */
  async klAtPrompt(promptIds: readonly number[], signal: AbortSignal): Promise<number> {
    const model = this.#model;
    const ids = promptIds.slice(-model.config.contextLength);
    this.#startCache ??= cacheFor(model);
    const now = await logitsAfter(model, this.adapter, this.#conversation, ids, { signal });
    try {
      const start = await logitsAfter(model, this.#start, this.#startCache, ids, { signal });
      const [kl = Number.NaN] = await dataOf(tf.tidy(() => klRows(now, start)));
      start.dispose();
      return kl;
    } finally {
      now.dispose();
    }
  }

  async deltaNorm(): Promise<number> {
    return deltaNorm(await this.adapter.export());
  }

  async snapshot(): Promise<LearnerSnapshot> {
    const ewc = await this.#ewc.export();
    return {
      schema: 1,
      adapter: await this.adapter.export(),
      optimiser: await this.#adam.export(),
      ...(ewc && { ewc }),
    };
  }

  restore(snapshot: LearnerSnapshot): void {
    if (snapshot.schema !== 1) {
      throw new LabError(
        'unsupported',
        `The snapshot has schema ${snapshot.schema}; this version reads 1. Start a new run.`,
      );
    }
    this.adapter.restore(snapshot.adapter);
    this.#adam.restore(snapshot.optimiser);
    this.#ewc.restore(snapshot.ewc, this.adapter.parameters());
  }

  dispose(): void {
    this.adapter.dispose();
    this.#start.dispose();
    this.#startCache?.dispose();
    this.#adam.dispose();
    this.#ewc.dispose();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

/** Context and text as one sequence; nothing of the context is trained. */
function sequenceOf({ context, ids, weights, ...rest }: TrainText): WeightedIds {
  return { ids: [...context, ...ids], weights: [...context.map(() => 0), ...weights], ...rest };
}

/** One number per label, back at the ids they belong to. */
function perId({ weights }: TrainText, ce: Float32Array | undefined): readonly (number | null)[] {
  let label = 0;
  return weights.map((w) => (w > 0 ? (ce?.[label++] ?? null) : null));
}
