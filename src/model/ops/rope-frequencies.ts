/**
 * The angles of rotary position embedding, and how they are stretched to longer contexts: linear
 * (Chen et al. 2023), by one factor a pair (llama 3), or yarn (Peng et al. 2023, section 3).
 * f_i = base^(-2i / headDim), in radians a position.
 */

export type RopeScaling =
  | { readonly kind: 'none' }
  /** All frequencies are divided by the factor. */
  | { readonly kind: 'linear'; readonly factor: number }
  /** Slow pairs are divided by the factor, fast ones are not, with a ramp between. */
  | {
      readonly kind: 'yarn';
      readonly factor: number;
      /** Tokens that the model was first trained for. */
      readonly originalContext: number;
      /** Pairs that turn more often than `betaFast` times in that context stay; below `betaSlow` they are stretched. */
      readonly betaFast: number;
      readonly betaSlow: number;
      /** Queries and keys both grow by it: attention's temperature is its inverse square. */
      readonly magnitude: number;
    };

export interface RopeFrequencies {
  /** [headDim / 2], radians a position, in double. */
  readonly perPosition: Float64Array;
  readonly magnitude: number;
}

/** `factors` (llama 3's `rope_freqs`) divide each frequency, before any scaling. */
export function ropeFrequencies(
  headDim: number,
  base: number,
  scaling: RopeScaling = { kind: 'none' },
  factors?: Float32Array,
): RopeFrequencies {
  const stretch = stretchOf(headDim, base, scaling);
  const perPosition = Float64Array.from(
    { length: headDim / 2 },
    (_, i) => (base ** ((-2 * i) / headDim) / (factors?.[i] ?? 1)) * stretch(i),
  );
  return { perPosition, magnitude: scaling.kind === 'yarn' ? scaling.magnitude : 1 };
}

/** yarn's magnitude where the file gives none: 0.1 ln(factor) + 1. Example: factor 4 gives 1.1386. */
export function yarnMagnitude(factor: number): number {
  return factor <= 1 ? 1 : 0.1 * Math.log(factor) + 1;
}

function stretchOf(headDim: number, base: number, scaling: RopeScaling): (pair: number) => number {
  switch (scaling.kind) {
    case 'none':
      return () => 1;
    case 'linear':
      return () => 1 / scaling.factor;
    case 'yarn': {
      // The pair that turns `turns` times in the original context.
      const pairOf = (turns: number) =>
        (headDim * Math.log(scaling.originalContext / (turns * 2 * Math.PI))) /
        (2 * Math.log(base));
      const low = Math.max(0, Math.floor(pairOf(scaling.betaFast)));
      const high = Math.min(headDim - 1, Math.ceil(pairOf(scaling.betaSlow)));
      return (pair) => {
        const stretched = clamp((pair - low) / Math.max(0.001, high - low));
        return stretched / scaling.factor + 1 - stretched;
      };
    }
    default:
      return scaling satisfies never;
  }
}

function clamp(x: number): number {
  return Math.min(1, Math.max(0, x));
}
