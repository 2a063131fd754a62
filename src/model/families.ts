/**
 * The model families that load, as one table of what differs between them. The engine reads only
 * this; no other file knows a family by its name. Sources: the GGUF converters of llama.cpp and the
 * models' own reports (Llama 2 and 3, Qwen2, Qwen3, Gemma 3).
 */

import type { LoraTarget } from '../config.ts';
import { LabError } from '../errors.ts';
import type { RopeStyle } from './ops/index.ts';

/** The function of the MLP's gate: silu(z) = z σ(z), or GELU in its tanh form. */
export type Activation = 'silu' | 'gelu_tanh';

/** Layers that see only the last positions, between layers that see all. */
export interface LocalLayers {
  /** Every `period`-th layer sees all; files that carry a pattern of their own overrule it. */
  readonly period: number;
  /** RoPE's base in the local layers, which no scaling touches. */
  readonly ropeBase: number;
}

export interface Family {
  readonly ropeStyle: RopeStyle;
  /** Projections with a bias vector in the file. */
  readonly biases: readonly LoraTarget[];
  /** q and k are normalised head by head before RoPE. */
  readonly headNorms: boolean;
  /** Attention's and the MLP's output are normalised before they join the residual stream. */
  readonly postNorms: boolean;
  readonly activation: Activation;
  /** Embeddings are multiplied by √width. */
  readonly scaledEmbedding: boolean;
  readonly localLayers: LocalLayers | null;
  /**
   * Numbers of layers at which scores are scaled by 1/√(width / heads) instead of 1/√(head width):
   * the checkpoint's query_pre_attn_scalar, which the file does not carry.
   */
  readonly scaledByWidth: readonly number[];
}

const LLAMA: Family = {
  // llama's converter permutes the rows of q and k so that a rotated pair is adjacent.
  ropeStyle: 'interleaved',
  biases: [],
  headNorms: false,
  postNorms: false,
  activation: 'silu',
  scaledEmbedding: false,
  localLayers: null,
  scaledByWidth: [],
};

/** By GGUF's `general.architecture`. Norm gains are used as the file has them: Gemma's converter has added 1. */
export const FAMILIES = {
  llama: LLAMA,
  qwen2: { ...LLAMA, ropeStyle: 'halves', biases: ['q_proj', 'k_proj', 'v_proj'] },
  qwen3: { ...LLAMA, ropeStyle: 'halves', headNorms: true },
  gemma3: {
    ...LLAMA,
    ropeStyle: 'halves',
    headNorms: true,
    postNorms: true,
    activation: 'gelu_tanh',
    scaledEmbedding: true,
    localLayers: { period: 6, ropeBase: 10_000 },
    scaledByWidth: [62], // the 27B model
  },
} as const satisfies Record<string, Family>;

export type Architecture = keyof typeof FAMILIES;

function isArchitecture(name: unknown): name is Architecture {
  return typeof name === 'string' && Object.hasOwn(FAMILIES, name);
}

/** How a recorded run's model pairs channels. Throws `unsupported` for a family that does not load here. */
export function ropeStyleOf(architecture: string): RopeStyle {
  return FAMILIES[known(architecture)].ropeStyle;
}

/** The architecture, if it is one of {@link FAMILIES}; throws `unsupported` with the list if not. */
export function known(architecture: unknown): Architecture {
  if (isArchitecture(architecture)) return architecture;
  const supported = Object.keys(FAMILIES).join(', ');
  throw new LabError(
    'unsupported',
    `The model's architecture is ${JSON.stringify(architecture ?? null)}; supported: ${supported}. Choose a model of that family.`,
    { architecture: String(architecture ?? ''), supported },
  );
}
