/**
 * The adapter: A and B of every adapted projection, as tensors and as plain arrays. Knows nothing
 * of how it is trained or stored. Inside the engine rows are in GGUF order.
 */

import * as tf from '@tensorflow/tfjs-core';
import type { LoraTarget } from '../config.ts';
import { LabError } from '../errors.ts';
import type { Rng } from '../math/rng.ts';
import type { AdapterData, LoraModuleData } from '../records.ts';
import type { LoraModule } from './ops/lora-add.ts';

/** Width of the input and output of a projection. */
export interface ProjectionShape {
  readonly inputs: number;
  readonly outputs: number;
}

export interface LoraShape {
  readonly rank: number;
  readonly alpha: number;
  readonly targets: readonly LoraTarget[];
}

/** Which projection a module adapts. */
export interface PlacedModule extends LoraModule {
  readonly layer: number;
  readonly target: LoraTarget;
}

/** Owns the parameters on the device. Its version moves whenever a parameter may have moved. */
export class Adapter {
  #modules: readonly PlacedModule[];
  #byName = new Map<string, PlacedModule>();
  #version = 0;

  constructor(data: AdapterData) {
    this.#modules = [];
    this.restore(data);
  }

  /** A cache that was filled under another version is stale. */
  get version(): number {
    return this.#version;
  }

  /** In the order of {@link parameters}. Borrowed. */
  get modules(): readonly PlacedModule[] {
    return this.#modules;
  }

  module(layer: number, target: LoraTarget): LoraModule | undefined {
    return this.#byName.get(`${layer}.${target}`);
  }

  /** All parameters in a fixed order: module by module, A before B. Borrowed. */
  parameters(): readonly tf.Tensor2D[] {
    return this.#modules.flatMap(({ aT, bT }) => [aT, bT]);
  }

  /** Takes ownership of new values for {@link parameters}, in that order; the old ones are freed. */
  assign(values: readonly tf.Tensor2D[]): void {
    const old = this.parameters();
    this.#install(
      this.#modules.map((module, i) => ({
        ...module,
        aT: tf.keep(given(values[2 * i])),
        bT: tf.keep(given(values[2 * i + 1])),
      })),
    );
    tf.dispose([...old]);
  }

  /** The present parameters, for {@link assign} later; the caller owns them. Shares their memory. */
  checkpoint(): tf.Tensor2D[] {
    return this.parameters().map((tensor) => tf.clone(tensor));
  }

  /** Becomes a bit-exact copy of `data`. */
  restore(data: AdapterData): void {
    const old = this.parameters();
    this.#install(
      data.modules.map(({ layer, target, inputs, outputs, rank, scale, aT, bT }) => ({
        layer,
        target,
        scale,
        aT: tf.keep(tf.tensor2d(aT.slice(), [inputs, rank])),
        bT: tf.keep(tf.tensor2d(bT.slice(), [rank, outputs])),
      })),
    );
    tf.dispose([...old]);
  }

  /** A bit-exact copy as plain arrays. */
  async export(): Promise<AdapterData> {
    const modules = this.#modules;
    return {
      modules: await Promise.all(
        modules.map(async ({ layer, target, scale, aT, bT }) => ({
          layer,
          target,
          inputs: aT.shape[0],
          outputs: bT.shape[1],
          rank: aT.shape[1],
          scale,
          aT: await values(aT),
          bT: await values(bT),
        })),
      ),
    };
  }

  dispose(): void {
    tf.dispose([...this.parameters()]);
    this.#modules = [];
    this.#byName.clear();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  #install(modules: readonly PlacedModule[]): void {
    this.#modules = modules;
    this.#byName = new Map(modules.map((m) => [`${m.layer}.${m.target}`, m]));
    this.#version++;
  }
}

/**
 * A fresh adapter as PEFT makes it: A uniform in ±1/√inputs (kaiming_uniform with a = √5), B zero,
 * so that the policy does not move before the first update.
 */
export function freshAdapter(
  shape: LoraShape,
  layers: number,
  projection: (target: LoraTarget) => ProjectionShape,
  rng: Rng,
): AdapterData {
  const { rank, alpha, targets } = shape;
  if (!Number.isInteger(rank) || rank < 1 || targets.length === 0) {
    throw new LabError(
      'bad_config',
      `A LoRA of rank ${rank} on ${targets.length} kinds of projection was asked for; expected a rank of at least 1 and at least one target module.`,
      { rank, targets: targets.join(' ') },
    );
  }
  const modules: LoraModuleData[] = [];
  for (let layer = 0; layer < layers; layer++) {
    for (const target of targets) {
      const { inputs, outputs } = projection(target);
      const bound = 1 / Math.sqrt(inputs);
      modules.push({
        layer,
        target,
        inputs,
        outputs,
        rank,
        scale: alpha / rank,
        aT: Float32Array.from({ length: inputs * rank }, () => (2 * rng.next() - 1) * bound),
        bT: new Float32Array(rank * outputs),
      });
    }
  }
  return { modules };
}

/**
 * The Frobenius norm of the adapter's whole change, √Σ ‖scale · B A‖², over all modules. Needs no
 * in x out matrix: ‖B A‖² = Σ_ij (A Aᵀ)_ij (Bᵀ B)_ij, two r x r Gram matrices.
 */
export function deltaNorm(adapter: AdapterData): number {
  let sum = 0;
  for (const { inputs, outputs, rank, scale, aT, bT } of adapter.modules) {
    for (let i = 0; i < rank; i++) {
      for (let j = 0; j < rank; j++) {
        let aa = 0;
        for (let n = 0; n < inputs; n++) aa += (aT[n * rank + i] ?? 0) * (aT[n * rank + j] ?? 0);
        let bb = 0;
        for (let n = 0; n < outputs; n++) {
          bb += (bT[i * outputs + n] ?? 0) * (bT[j * outputs + n] ?? 0);
        }
        sum += scale * scale * aa * bb;
      }
    }
  }
  return Math.sqrt(Math.max(0, sum)); // rounding can leave a tiny negative sum
}

async function values(tensor: tf.Tensor2D): Promise<Float32Array> {
  const data = await tensor.data<'float32'>();
  return data.slice(); // the cpu backend hands out its own memory
}

function given(tensor: tf.Tensor2D | undefined): tf.Tensor2D {
  if (tensor !== undefined) return tensor;
  throw new LabError('internal', 'assign() wants one tensor per parameter.');
}
