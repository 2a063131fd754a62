/** From one row of logits to one token id. Knows no model, no device and no generator but its own. */

import type { Rng } from '../math/rng.ts';

/** How a next token is chosen. */
export interface SamplingOptions {
  /** Logits are divided by it; 0 takes the largest logit, the lowest id on a tie. */
  readonly temperature: number;
  /** Only the k largest logits; 0 keeps all. On a tie the lower ids stay. */
  readonly topK: number;
  /** The smallest set of most likely tokens whose probabilities reach p; 1 keeps all. */
  readonly topP: number;
  /**
   * Each distinct id of the history is punished once: its logit is divided by the penalty when it
   * is positive and multiplied when not. 1 does nothing. The history is the whole context, so the
   * prompt's tokens count (as in transformers' RepetitionPenaltyLogitsProcessor).
   */
  readonly repetitionPenalty: number;
}

export const GREEDY: SamplingOptions = {
  temperature: 0,
  topK: 0,
  topP: 1,
  repetitionPenalty: 1,
};

export interface SampledToken {
  readonly id: number;
  /** Natural log-softmax of the raw logits at `id`: before penalty, temperature and cuts. */
  readonly logprob: number;
  /** Of softmax(logits), in nats: before penalty, temperature and cuts. */
  readonly entropy: number;
}

/**
 * Below this a temperature acts as 0: the division would leave the double range, and nothing but
 * the largest logit would have weight anyway.
 */
const SMALLEST_TEMPERATURE = 1e-6;

/**
 * Samples from `logits` [V], which is not changed. Order: penalty, temperature, top-k, top-p, draw.
 * One number is drawn from `rng` unless the temperature is 0, which needs none.
 */
export function sampleToken(
  logits: Float32Array,
  history: Iterable<number>,
  options: SamplingOptions,
  rng: Rng,
): SampledToken {
  const scores = withPenalty(logits, history, options.repetitionPenalty);
  const top = argmax(scores);
  const greedy = options.temperature < SMALLEST_TEMPERATURE;
  const id = greedy ? top : draw(scores, at(scores, top), options, rng.next());
  return { id, ...certainty(logits, id) };
}

/** True where every token can be drawn by its own logit and the temperature alone: no penalty, no cut. */
export function isPlain({ topK, topP, repetitionPenalty }: SamplingOptions): boolean {
  return topK === 0 && topP >= 1 && repetitionPenalty === 1;
}

/** The temperature and quantile of a plain draw; takes from `rng` what {@link sampleToken} would. */
export function plainDraw(
  { temperature }: SamplingOptions,
  rng: Rng,
): { readonly temperature: number; readonly quantile: number } {
  if (temperature < SMALLEST_TEMPERATURE) return { temperature: 0, quantile: 0 };
  return { temperature, quantile: rng.next() };
}

/** The logits after the repetition penalty; the same array when there is nothing to do. */
export function withPenalty(
  logits: Float32Array,
  history: Iterable<number>,
  penalty: number,
): Float32Array {
  if (penalty === 1) return logits;
  const out = logits.slice();
  for (const id of new Set(history)) {
    const logit = logits[id];
    if (logit === undefined) continue;
    out[id] = logit > 0 ? logit / penalty : logit * penalty;
  }
  return out;
}

/** ln softmax(logits)[id], summed in double precision. */
export function logSoftmaxAt(logits: Float32Array, id: number): number {
  return certainty(logits, id).logprob;
}

/**
 * With e = exp(l − max l) and Z = Σ e: ln p(id) = l(id) − max l − ln Z, and H = −Σ p ln p
 * = ln Z − Σ e · (l − max l) / Z. Example: [1 3 3] has H = 0.885382 and, at 1, −0.758624.
 */
function certainty(logits: Float32Array, id: number): Omit<SampledToken, 'id'> {
  const top = logits[argmax(logits)] ?? Number.NaN;
  let sum = 0;
  let below = 0;
  for (let i = 0; i < logits.length; i++) {
    const distance = at(logits, i) - top;
    const e = Math.exp(distance);
    sum += e;
    if (e > 0) below += e * distance; // a token that cannot be has no part in it
  }
  return { logprob: at(logits, id) - top - Math.log(sum), entropy: Math.log(sum) - below / sum };
}

/** The lowest id among the largest values. */
export function argmax(values: Float32Array): number {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (at(values, i) > at(values, best)) best = i;
  return best;
}

/** The id at quantile `u` (uniform in [0, 1)) of the tempered and cut distribution; `top` is the largest score. */
function draw(scores: Float32Array, top: number, options: SamplingOptions, u: number): number {
  const weights = new Float64Array(scores.length); // softmax numerators: the largest is 1
  for (let i = 0; i < scores.length; i++) {
    weights[i] = Math.exp((at(scores, i) - top) / options.temperature);
  }
  const kept = keptIds(weights, options.topK, options.topP);
  if (kept === null) return quantile(weights, null, u);
  return quantile(weights, kept, u);
}

/** The ids that top-k and top-p leave, most likely first; null when all stay. */
function keptIds(weights: Float64Array, topK: number, topP: number): readonly number[] | null {
  const byK = topK > 0 && topK < weights.length;
  if (!byK && topP >= 1) return null;
  let total = 0;
  for (let i = 0; i < weights.length; i++) total += at(weights, i);
  // Sorting a whole vocabulary costs more than the model's step: sort only what can be reached.
  let floor = 1e-4;
  for (;;) {
    const ids: number[] = [];
    let mass = 0;
    for (let i = 0; i < weights.length; i++) {
      if (at(weights, i) < floor) continue;
      ids.push(i);
      mass += at(weights, i);
    }
    const enough = byK ? ids.length >= topK : mass >= topP * total;
    if (!enough && ids.length < weights.length && floor > 0) {
      floor = floor > 1e-300 ? floor * floor : 0;
      continue;
    }
    ids.sort((a, b) => at(weights, b) - at(weights, a) || a - b);
    return cutByP(weights, byK ? ids.slice(0, topK) : ids, byK ? null : total, topP);
  }
}

/** The shortest head of `ids` whose weight reaches p of the total (of `ids` when null); never empty. */
function cutByP(
  weights: Float64Array,
  ids: readonly number[],
  total: number | null,
  p: number,
): readonly number[] {
  if (p >= 1) return ids;
  const whole = total ?? ids.reduce((sum, id) => sum + at(weights, id), 0);
  let sum = 0;
  for (const [i, id] of ids.entries()) {
    sum += at(weights, id);
    if (sum >= p * whole) return ids.slice(0, i + 1);
  }
  return ids;
}

/** Inverse of the cumulative distribution over `ids` (all ids when null). */
function quantile(weights: Float64Array, ids: readonly number[] | null, u: number): number {
  const count = ids === null ? weights.length : ids.length;
  const idAt = (i: number) => (ids === null ? i : (ids[i] ?? 0));
  let total = 0;
  for (let i = 0; i < count; i++) total += at(weights, idAt(i));
  let left = u * total;
  let last = idAt(0);
  for (let i = 0; i < count; i++) {
    const id = idAt(i);
    const weight = at(weights, id);
    if (weight === 0) continue;
    last = id;
    left -= weight;
    if (left < 0) return id;
  }
  return last; // rounding left nothing: the last id that can be drawn
}

function at(values: Float32Array | Float64Array, i: number): number {
  return values[i] ?? Number.NaN; // i is in range at every call; NaN would show if it were not
}
