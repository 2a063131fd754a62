/** As much training signal as aTTT's weights leave, spread by chance instead of by novelty. */

import type { Rng } from '../../math/rng.ts';
import type { Method } from './method.ts';

export const randomDrop: Method = {
  label: 'Random drop',
  help: 'Tokens are dropped at random (weight 0, the others 1) to the mean weight that aTTT would give the text: the control for "novelty matters".',
  citation: '',
  trains: 'while_acting',
  weigh: dropAtRandom,
};

/**
 * Keeps round(Σ w) of the trained tokens, at least one, each set equally likely.
 * Example: w = [0 1/3 1/3 1/3 1] has Σ w = 2: two of the last four weigh 1.
 */
export function dropAtRandom(weights: readonly number[], rng: Rng): readonly number[] {
  const trained = weights.flatMap((w, j) => (w > 0 ? [j] : []));
  const sum = weights.reduce((total, w) => total + w, 0);
  const kept = new Set(rng.shuffle(trained).slice(0, Math.max(1, Math.round(sum))));
  return weights.map((_, j) => (kept.has(j) ? 1 : 0));
}
