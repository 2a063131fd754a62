/** What asks for an update after a step, besides a person. */

import type { Settings, TriggerName } from '../config.ts';
import type { BoundaryTrigger, StepTaken } from '../records.ts';

/** Who asks for a boundary, and why, in words. */
export interface Asked {
  readonly trigger: BoundaryTrigger;
  readonly cause: string;
  /** Also where the step was trained already: so asked by runs recorded before such a request was refused. */
  readonly again?: true;
}

/** The first of the chosen triggers that asks after this step, in the order of the table; null when none does. */
export function askedBy(step: StepTaken, settings: Settings): Asked | null {
  for (const [trigger, causeOf] of Object.entries(causes)) {
    const name = trigger as TriggerName; // the keys of the table below
    const cause = settings.triggers.includes(name) ? causeOf(step, settings) : null;
    if (cause !== null) return { trigger: name, cause };
  }
  return null;
}

const causes: Readonly<
  Record<TriggerName, (step: StepTaken, settings: Settings) => string | null>
> = {
  periodic: ({ t }, { update_interval_k: k }) =>
    t % k === 0 ? `Step ${t} ends a period of ${k}.` : null,
  repetition: ({ t, repetition }, { trigger_repetition: limit }) =>
    repetition >= limit
      ? `Step ${t} repeats an earlier step with ${repetition.toFixed(2)}, at or above ${limit.toFixed(2)}.`
      : null,
  error: ({ t, actionClass, failed }) => {
    const words = errors[actionClass] ?? (failed ? 'a test that it ran fails' : undefined);
    return words === undefined ? null : `Step ${t} failed: ${words}.`;
  },
  low_confidence: ({ t, generation: { logprobs } }, { trigger_logprob: limit }) => {
    if (logprobs.length === 0) return null;
    const mean = logprobs.reduce((a, b) => a + b, 0) / logprobs.length;
    return mean < limit
      ? `The tokens of step ${t} had a mean log-probability of ${mean.toFixed(2)}, below ${limit.toFixed(2)}.`
      : null;
  },
  high_entropy: ({ t, generation: { meanEntropy } }, { trigger_entropy: limit }) =>
    meanEntropy !== undefined && meanEntropy >= limit
      ? `The tokens of step ${t} were sampled at a mean entropy of ${meanEntropy.toFixed(2)} nats, at or above ${limit.toFixed(2)}.`
      : null,
};

/** The classes of action that count as failed. */
const errors: Readonly<Partial<Record<StepTaken['actionClass'], string>>> = {
  not_admissible: 'the world does not accept its command',
  malformed: 'no action could be read',
  cut_off: 'the token limit cut it off',
};
