/** Draws from binomial distributions, in a time that grows with their spread and not with the number of trials. */

import type { Rng } from './rng.ts';

/** Successes of n trials of chance p; n an integer from 0 to what the sampler was made for. */
export type Binomial = (n: number, p: number, rng: Rng) => number;

/**
 * Inversion from the mode outwards (Kemp 1986): one uniform number a draw, about √(n p (1 − p)) steps, and exact but for
 * rounding. `most` is the largest n.
 */
export function binomialUpTo(most: number): Binomial {
  const logFactorial = new Float64Array(most + 1);
  for (let k = 2; k <= most; k++) logFactorial[k] = (logFactorial[k - 1] ?? 0) + Math.log(k);
  const choose = (n: number, k: number) =>
    (logFactorial[n] ?? 0) - (logFactorial[k] ?? 0) - (logFactorial[n - k] ?? 0);
  return (n, p, rng) => {
    if (n === 0 || p <= 0) return 0;
    if (p >= 1) return n;
    const mode = Math.min(n, Math.floor((n + 1) * p));
    const odds = p / (1 - p);
    const chance = Math.exp(choose(n, mode) + mode * Math.log(p) + (n - mode) * Math.log1p(-p));
    let left = rng.next() - chance;
    let [above, below] = [mode, mode];
    let [chanceAbove, chanceBelow] = [chance, chance];
    while (left >= 0 && (above < n || below > 0)) {
      if (above < n) {
        chanceAbove *= ((n - above) / (above + 1)) * odds;
        above++;
        left -= chanceAbove;
        if (left < 0) return above;
      }
      if (below > 0) {
        chanceBelow *= below / ((n - below + 1) * odds);
        below--;
        left -= chanceBelow;
        if (left < 0) return below;
      }
    }
    return mode; // at once, or what rounding left over
  };
}
