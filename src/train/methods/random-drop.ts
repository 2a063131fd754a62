/** As much training signal as aTTT's weights leave, spread by chance instead of by novelty. */

import type { Rng } from '../../math/rng.ts';
import type { Method } from './method.ts';

export const randomDrop: Method = {
  label: 'Random drop',
  help: 'Tokens are dropped at random (weight 0, the others 1) to the mean weight that aTTT would give the text, on average: the control for "novelty matters".',
  citation: '',
  trains: 'while_acting',
  weigh: dropAtRandom,
};

/**
 * Keeps ⌊Σ w⌋ of the trained tokens, and one more with the probability of what is left, each set equally likely: Σ w on
 * average, also where it is below one and mostly nothing is kept.
 * Example: w = [0 1/3 1/3 1] has Σ w = 5/3: two of the last three weigh 1 twice in three times, else one.
 */
export function dropAtRandom(weights: readonly number[], rng: Rng): readonly number[] {
  const trained = weights.flatMap((w, j) => (w > 0 ? [j] : []));
  const sum = weights.reduce((total, w) => total + w, 0);
  const order = rng.shuffle(trained);
  const whole = Math.floor(sum);
  const kept = new Set(order.slice(0, whole + (rng.next() < sum - whole ? 1 : 0)));
  return weights.map((_, j) => (kept.has(j) ? 1 : 0));
}
