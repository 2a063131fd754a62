/** Reads how a GGUF file stretches RoPE. Knows the keys; not the angles that follow. */

import { LabError } from '../errors.ts';
import type { GgufMetadata } from '../formats/gguf.ts';
import { type RopeScaling, yarnMagnitude } from './ops/index.ts';

/** yarn's bounds in turns where the file gives none (the paper's and llama.cpp's). */
const BETA_FAST = 32;
const BETA_SLOW = 1;

/**
 * `trained` is the file's context length in tokens. Throws `unsupported` for another kind of scaling,
 * `bad_input` for a factor that is not a positive number.
 */
export function readRopeScaling(
  metadata: GgufMetadata,
  architecture: string,
  trained: number,
): RopeScaling {
  const key = (name: string) => `${architecture}.rope.scaling.${name}`;
  const positive = (name: string, otherwise?: number): number => {
    const value = metadata[key(name)] ?? otherwise;
    if (typeof value === 'number' && value > 0) return value;
    throw new LabError(
      'bad_input',
      `"${key(name)}" is ${JSON.stringify(value ?? null)}; expected a positive number. The file was written wrongly; convert the model again.`,
    );
  };
  const kind = metadata[key('type')] ?? 'none';
  switch (kind) {
    case 'none':
      return { kind };
    case 'linear':
      return { kind, factor: positive('factor') };
    case 'yarn': {
      const factor = positive('factor');
      return {
        kind,
        factor,
        originalContext: positive('original_context_length', trained),
        betaFast: positive('yarn_beta_fast', BETA_FAST),
        betaSlow: positive('yarn_beta_slow', BETA_SLOW),
        magnitude: positive('attn_factor', 1) * yarnMagnitude(factor),
      };
    }
    default:
      throw new LabError(
        'unsupported',
        `RoPE scaling is ${JSON.stringify(kind)} ("${key('type')}"); supported: none, linear, yarn, and llama 3's factors in "rope_freqs.weight". Choose another model.`,
      );
  }
}
