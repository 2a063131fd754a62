/**
 * How far apart two distributions are, in nats: the exact divergence, and what samples tell of it.
 * The loop's limit uses the exact one (over the whole vocabulary); the estimates are for records.
 */

/** KL(p ‖ q) = Σ p ln(p / q) of two distributions over one set; a p of 0 counts as 0. */
export function exactKl(p: readonly number[], q: readonly number[]): number {
  return p.reduce((sum, pi, i) => (pi === 0 ? sum : sum + pi * Math.log(pi / (q[i] ?? 0))), 0);
}

/** Means over samples drawn from p. k1 and k3 are unbiased; k1 may be negative, and is shown so. */
export interface KlEstimates {
  readonly k1: number; // mean d
  readonly k2: number; // mean d² / 2
  readonly k3: number; // mean e^-d - 1 + d, never negative
}

/**
 * Estimates of KL(p ‖ q) from the log-probabilities of samples of p, with d = ln p - ln q
 * (Schulman 2020, "Approximating KL divergence"). Example: ln p = [-0.2], ln q = [-0.6]:
 * d = 0.4, k1 = 0.4, k2 = 0.08, k3 = 0.0703.
 */
export function klEstimates(logP: readonly number[], logQ: readonly number[]): KlEstimates {
  const differences = logP.map((value, i) => value - (logQ[i] ?? Number.NaN));
  const mean = (term: (d: number) => number) =>
    differences.reduce((sum, d) => sum + term(d), 0) / differences.length;
  return {
    k1: mean((d) => d),
    k2: mean((d) => (d * d) / 2),
    k3: mean((d) => Math.exp(-d) - 1 + d),
  };
}
