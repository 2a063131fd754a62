/**
 * Elastic weight consolidation in its online form: parameters that earlier updates leaned on are held
 * near where those updates left them. loss + λ/2 · Σ F (θ − θ*)² (Kirkpatrick et al. 2017; one F and
 * one θ* for all earlier texts: Schwarz et al. 2018). F is the empirical Fisher diagonal of each text
 * as a whole: its gradient, squared.
 */

import * as tf from '@tensorflow/tfjs-core';
import type { EwcData } from '../records.ts';

/** Owns F and θ*, per parameter. */
export class Ewc {
  #fisher: tf.Tensor2D[] = [];
  #anchor: tf.Tensor2D[] = [];

  /** λ · F · (θ − θ*), per parameter, owned by the caller; null before the first accepted update. */
  pull(parameters: readonly tf.Tensor2D[], strength: number): readonly tf.Tensor2D[] | null {
    if (this.#fisher.length === 0) return null;
    return tf.tidy(() =>
      parameters.map((theta, i) => {
        const { fisher, anchor } = this.#at(i);
        return tf.mul<tf.Tensor2D>(tf.mul(fisher, strength), tf.sub(theta, anchor));
      }),
    );
  }

  /** After an update: F += gradient², θ* = the parameters now. Borrows both. */
  accept(gradients: readonly Float32Array[], parameters: readonly tf.Tensor2D[]): void {
    const next = tf.tidy(() =>
      parameters.map((theta, i) => {
        const g = tf.tensor2d(gradients[i] ?? [], theta.shape);
        const squared = tf.square<tf.Tensor2D>(g);
        const before = this.#fisher[i];
        return {
          fisher: before ? tf.add<tf.Tensor2D>(before, squared) : squared,
          anchor: tf.clone(theta),
        };
      }),
    );
    this.dispose();
    this.#fisher = next.map(({ fisher }) => fisher);
    this.#anchor = next.map(({ anchor }) => anchor);
  }

  /** Plain copies; null while there is nothing. */
  async export(): Promise<EwcData | null> {
    if (this.#fisher.length === 0) return null;
    const copies = (all: readonly tf.Tensor2D[]) =>
      Promise.all(all.map(async (one) => (await one.data<'float32'>()).slice()));
    return { fisher: await copies(this.#fisher), anchor: await copies(this.#anchor) };
  }

  /** `like` gives the shapes. */
  restore(data: EwcData | undefined, like: readonly tf.Tensor2D[]): void {
    this.dispose();
    if (!data) return;
    const tensors = (all: readonly Float32Array[]) =>
      like.map(({ shape }, i) => tf.tensor2d(all[i] ?? [], shape));
    this.#fisher = tensors(data.fisher);
    this.#anchor = tensors(data.anchor);
  }

  dispose(): void {
    tf.dispose([...this.#fisher, ...this.#anchor]);
    this.#fisher = [];
    this.#anchor = [];
  }

  #at(i: number): { readonly fisher: tf.Tensor2D; readonly anchor: tf.Tensor2D } {
    const fisher = this.#fisher[i];
    const anchor = this.#anchor[i];
    if (!fisher || !anchor) throw new RangeError(`There is no parameter ${i}.`);
    return { fisher, anchor };
  }
}
