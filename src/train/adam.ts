/**
 * Adam (Kingma and Ba 2015) as PyTorch computes it, with float32 moments. Knows parameters as a
 * list of tensors; not what they belong to.
 * Example: first step, gradient 0.02, lr 1e-3: m̂ = 0.02, √v̂ = 0.02, update −9.999995e-4.
 */

import * as tf from '@tensorflow/tfjs-core';
import { LabError } from '../errors.ts';
import type { AdamData } from '../records.ts';

export interface AdamSettings {
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
}

/** PyTorch's defaults. */
const ADAM: AdamSettings = { beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };

/** {@link AdamData} as tensors. */
export interface AdamCheckpoint {
  readonly step: number;
  readonly m: readonly tf.Tensor2D[];
  readonly v: readonly tf.Tensor2D[];
}

/** Owns the moments on the device. */
export class Adam {
  readonly #settings: AdamSettings;
  #m: readonly tf.Tensor2D[];
  #v: readonly tf.Tensor2D[];
  #step = 0;

  /** Zero moments for parameters of these shapes. */
  constructor(parameters: readonly Pick<tf.Tensor2D, 'shape'>[], settings: AdamSettings = ADAM) {
    this.#settings = settings;
    const zeros = () => parameters.map(({ shape }) => tf.keep(tf.zeros<tf.Rank.R2>(shape)));
    this.#m = zeros();
    this.#v = zeros();
  }

  /** Steps taken so far. */
  get step(): number {
    return this.#step;
  }

  /**
   * One step: the new parameters, owned by the caller. Borrows parameters and gradients. With
   * t = this step: m = β1 m + (1 − β1) g, v = β2 v + (1 − β2) g²,
   * p = p − lr / (1 − β1^t) · m / (√v / √(1 − β2^t) + ε).
   */
  update(
    parameters: readonly tf.Tensor2D[],
    gradients: readonly tf.Tensor2D[],
    learningRate: number,
  ): tf.Tensor2D[] {
    const { beta1, beta2, epsilon } = this.#settings;
    const t = this.#step + 1;
    const rate = learningRate / (1 - beta1 ** t);
    const root = Math.sqrt(1 - beta2 ** t);
    const one = (p: tf.Tensor2D, i: number) => {
      const g = at(gradients, i);
      const m = tf.add<tf.Tensor2D>(tf.mul(at(this.#m, i), beta1), tf.mul(g, 1 - beta1));
      const v = tf.add<tf.Tensor2D>(tf.mul(at(this.#v, i), beta2), tf.mul(tf.square(g), 1 - beta2));
      const denominator = tf.add(tf.div(tf.sqrt(v), root), epsilon);
      return { m, v, p: tf.sub<tf.Tensor2D>(p, tf.mul(tf.div(m, denominator), rate)) };
    };
    // A tidy around all, so that a throw half-way leaves nothing behind; one around each, since what is
    // computed on the way takes ten times the adapter (18 MB of SmolLM2 at rank 8).
    const next = tf.tidy(() => parameters.map((p, i) => tf.tidy(() => one(p, i))));
    const old = [...this.#m, ...this.#v];
    this.#m = next.map(({ m }) => tf.keep(m));
    this.#v = next.map(({ v }) => tf.keep(v));
    this.#step = t;
    tf.dispose(old);
    return next.map(({ p }) => p);
  }

  /** The present state, for {@link rewind} later; the caller owns it. Shares the tensors' memory. */
  checkpoint(): AdamCheckpoint {
    const clone = (tensors: readonly tf.Tensor2D[]) => tensors.map((tensor) => tf.clone(tensor));
    return { step: this.#step, m: clone(this.#m), v: clone(this.#v) };
  }

  /** Takes ownership of an earlier state of its own. */
  rewind({ step, m, v }: AdamCheckpoint): void {
    tf.dispose([...this.#m, ...this.#v]);
    this.#m = m.map((tensor) => tf.keep(tensor));
    this.#v = v.map((tensor) => tf.keep(tensor));
    this.#step = step;
  }

  async export(): Promise<AdamData> {
    const copy = (tensors: readonly tf.Tensor2D[]) =>
      Promise.all(tensors.map(async (tensor) => (await tensor.data<'float32'>()).slice()));
    return { step: this.#step, m: await copy(this.#m), v: await copy(this.#v) };
  }

  /** Becomes a bit-exact copy of `data`, which must have the same parameters. */
  restore(data: AdamData): void {
    const load = (tensors: readonly tf.Tensor2D[], arrays: readonly Float32Array[]) =>
      tensors.map((tensor, i) => {
        const array = at(arrays, i);
        return tf.keep(tf.tensor2d(array.slice(), tensor.shape));
      });
    const old = [...this.#m, ...this.#v];
    this.#m = load(this.#m, data.m);
    this.#v = load(this.#v, data.v);
    this.#step = data.step;
    tf.dispose(old);
  }

  dispose(): void {
    tf.dispose([...this.#m, ...this.#v]);
    this.#m = [];
    this.#v = [];
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

function at<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item !== undefined) return item;
  throw new LabError('internal', `Adam has no entry for parameter ${index}.`);
}
