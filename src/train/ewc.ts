/**
 * Elastic weight consolidation: parameters that earlier texts lean on are held near where each was learnt:
 * loss + λ/2 · Σ_k Σ F_k (θ − θ*_k)², k over the earlier texts (Kirkpatrick et al. 2017, PNAS 114:3521, with a term for
 * each). F_k is the empirical Fisher diagonal of text k as a whole: its gradient at θ*_k, squared. A sum of such terms is
 * one, up to a constant: F = Σ F_k around θ* = Σ F_k θ*_k / F. So two numbers a parameter say all of them.
 */

import * as tf from '@tensorflow/tfjs-core';
import type { EwcData } from '../records.ts';

/** Owns F and θ*, the mean of the θ*_k that F_k weighs, per parameter. */
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

  /**
   * After an update on a text: adds its F_k = gradient² around θ*_k, the parameters now. Borrows both.
   * Example: F 4 around 1, then F_k 1 around 1.5 -> F 5 around 1.1.
   */
  accept(gradients: readonly Float32Array[], parameters: readonly tf.Tensor2D[]): void {
    const next = tf.tidy(() =>
      parameters.map((theta, i) => {
        const g = tf.tensor2d(gradients[i] ?? [], theta.shape);
        const added = tf.square<tf.Tensor2D>(g);
        const [before, anchor] = [this.#fisher[i], this.#anchor[i]];
        if (!before || !anchor) return { fisher: added, anchor: tf.clone(theta) };
        const fisher = tf.add<tf.Tensor2D>(before, added);
        const share = tf.divNoNan<tf.Tensor2D>(added, fisher); // what nothing leans on stays where it was
        const moved = tf.mul<tf.Tensor2D>(share, tf.sub(theta, anchor));
        return { fisher, anchor: tf.add<tf.Tensor2D>(anchor, moved) };
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
