/** The order of checks at a boundary: what happens before any training, and why, in words. */

import type { Settings } from '../config.ts';
import type { BoundaryOutcome, BoundaryTrigger } from '../records.ts';
import type { Method } from './methods/method.ts';

/** What is known at a boundary before training. */
export interface BoundaryFacts {
  readonly trigger: BoundaryTrigger;
  readonly t: number;
  /** Updates are on. */
  readonly enabled: boolean;
  readonly trains: Method['trains'];
  /** r_k; null without text. */
  readonly ratio: number | null;
  /** By how many tokens the text is longer than the context; 0 when it fits. */
  readonly excess: number;
  /** The method left no token of the text a weight above 0. */
  readonly dropped: boolean;
  /** Updates accepted so far; in observe-only mode those that would have been. */
  readonly accepted: number;
  /** One of them is on the text of this very step. */
  readonly again: boolean;
}

/** What is known before there is a text. */
type Beforehand = Omit<BoundaryFacts, 'ratio' | 'excess' | 'dropped'>;

export interface Decision {
  /** `train` when every check passed. */
  readonly outcome:
    | Exclude<BoundaryOutcome, 'updated' | 'observed' | 'rolled_back_kl' | 'discarded_check'>
    | 'train';
  readonly why: string;
}

const show = (x: number) => x.toFixed(2);

/** In doubles 1 − 4/5 is less than 0.2. Far above such rounding, far below what a word more or less changes. */
const ROUNDING = 1e-12;

/** Why this boundary needs no text at all; null when it does. */
export function decideBeforehand(facts: Beforehand, settings: Settings): Decision | null {
  const { t, trigger, trains } = facts;
  if (!facts.enabled || trains === 'never') {
    return {
      outcome: 'disabled',
      why: 'No update: this run trains nothing (updates are off, or the method is frozen).',
    };
  }
  if (trains === 'before_acting' && trigger !== 'before_acting') {
    return {
      outcome: 'disabled',
      why: 'No update: this method trains before the first step only.',
    };
  }
  const first = settings.min_steps_before_first_update;
  if (trigger !== 'manual' && trigger !== 'before_acting' && t < first) {
    return {
      outcome: 'too_early',
      why: `No update: step ${t} comes before the first allowed update at step ${first}.`,
    };
  }
  if (facts.again) {
    return {
      outcome: 'skipped_novelty',
      why: `No update: the text of step ${t} was accepted for an update already.`,
    };
  }
  if (settings.text_source !== 'summary') return null;
  // Tokens spent on a summary come to nothing where it can neither be trained nor roll anything back.
  const compared = settings.rollback_enable && facts.accepted > 0;
  return compared ? null : decideMost(facts.accepted, settings);
}

function decideMost(accepted: number, settings: Settings): Decision | null {
  const most = settings.max_updates_per_episode;
  if (accepted < most) return null;
  return {
    outcome: 'max_updates',
    why: `No update: all ${most} updates of this episode are used.`,
  };
}

/**
 * The ratio limit comes before novelty and before the update limit: a ratio above 0.8 always has a
 * novelty below 0.5, so the other way round the ratio rollback could never happen.
 */
export function decide(facts: BoundaryFacts, settings: Settings): Decision {
  const beforehand = decideBeforehand(facts, settings);
  if (beforehand) return beforehand;
  const { ratio, excess, accepted } = facts;
  if (ratio === null) {
    const text = `the update text (source "${settings.text_source}")`;
    return {
      outcome: 'no_text',
      why:
        excess > 0
          ? `No update: ${text} is ${excess} tokens longer than the context.`
          : `No update: ${text} has nothing to train on.`,
    };
  }
  const limit = settings.repetition_ratio_limit;
  if (settings.rollback_enable && ratio > limit) {
    return {
      outcome: 'rolled_back_ratio',
      why: `Rolled back: the text repeats an earlier update text with r = ${show(ratio)}, above the limit of ${show(limit)}.`,
    };
  }
  const most = decideMost(accepted, settings);
  if (most) return most;
  const novelty = 1 - ratio;
  const threshold = settings.novelty_threshold;
  if (novelty < threshold - ROUNDING) {
    return {
      outcome: 'skipped_novelty',
      why: `No update: novelty 1 − r = ${show(novelty)} is below the threshold of ${show(threshold)}.`,
    };
  }
  if (facts.dropped) {
    return { outcome: 'no_text', why: 'No update: all tokens of the text were dropped at random.' };
  }
  return {
    outcome: 'train',
    why: `Novelty 1 − r = ${show(novelty)} is at or above the threshold of ${show(threshold)}.`,
  };
}
