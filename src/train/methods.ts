/** Every method by its name, the settings that a run of one has, and which of them do nothing there. */

import {
  asksForSummaries,
  type FieldName,
  fieldNames,
  fields,
  type MethodName,
  methodNames,
  type Settings,
  type TriggerName,
} from '../config.ts';
import { attt } from './methods/attt.ts';
import { frozen } from './methods/frozen.ts';
import { longContext, shortHistory } from './methods/history.ts';
import { loopBreaker } from './methods/loop-breaker.ts';
import type { Method } from './methods/method.ts';
import { naive } from './methods/naive.ts';
import { randomDrop } from './methods/random-drop.ts';
import { reflexion } from './methods/reflexion.ts';
import { repetitionPenalty } from './methods/repetition-penalty.ts';
import { sequenceFilter } from './methods/sequence-filter.ts';
import { staticInPlace, staticQ, staticTtt } from './methods/static.ts';
import { temperature } from './methods/temperature.ts';

export const methods: Readonly<Record<MethodName, Method>> = {
  attt,
  frozen,
  naive,
  sequence_filter: sequenceFilter,
  random_drop: randomDrop,
  static: staticTtt,
  static_q: staticQ,
  static_in_place: staticInPlace,
  repetition_penalty: repetitionPenalty,
  temperature,
  loop_breaker: loopBreaker,
  short_history: shortHistory,
  long_context: longContext,
  reflexion,
};

/** The settings that a run has once its method has changed its own. */
export function withMethod(asked: Settings): Settings {
  return { ...asked, ...methods[asked.method].settings?.(asked) };
}

/** The settings that a method sets itself, whatever is asked for. */
export function setItself(asked: Settings): readonly FieldName[] {
  const patch = methods[asked.method].settings?.(asked) ?? {};
  return fieldNames.filter((name) => name in patch);
}

/** Groups of settings that act on what is sampled and on the world, with or without training. */
export const acting: readonly string[] = ['policy', 'run', 'prompt'];

/** Settings that one trigger alone reads. */
const triggered: Readonly<Partial<Record<FieldName, TriggerName>>> = {
  update_interval_k: 'periodic',
  trigger_repetition: 'repetition',
  trigger_logprob: 'low_confidence',
  trigger_entropy: 'high_entropy',
};

const limits: readonly FieldName[] = ['kl_divergence_limit', 'repetition_ratio_limit'];

/** What weights are made of besides the smallest one. */
const counting: readonly FieldName[] = ['ngram_n', 'history'];

/** Settings of updates after a step, or of an update that looks back at earlier texts. */
const later: readonly FieldName[] = [
  ...(['triggers', 'update_interval_k', 'trigger_repetition', 'trigger_logprob'] as const),
  ...(['trigger_entropy', 'min_steps_before_first_update', 'text_source'] as const),
  ...(['train_context', 'novelty_threshold', 'repetition_ratio_limit', 'w_min'] as const),
  ...(['ngram_n', 'history', 'replay_texts', 'validation_texts'] as const),
];

/**
 * Why another value of a setting would change nothing that a run does, in words; null where it may. `asked` is what is
 * asked for, before the method changes its own. Example: learning_rate of frozen -> "frozen never trains".
 */
export function unused(field: FieldName, asked: Settings): string | null {
  const { method } = asked;
  const { own = [], trains } = methods[method];
  if (setItself(asked).includes(field)) {
    const instead = own.length > 0 ? `; vary ${own.join(' or ')} instead` : '';
    return `${method} sets it itself${instead}`;
  }
  const owner = methodNames.find((name) => methods[name].own?.includes(field));
  if (owner !== undefined) return owner === method ? null : `it is for ${owner} alone`;
  const { group } = fields[field];
  if (field === 'method' || acting.includes(group)) return null;
  const ran = withMethod(asked);
  if (group === 'summary') return asksForSummaries(ran) ? null : 'no summary is asked for';
  if (trains === 'never') return `${method} never trains`;
  if (field === 'enabled') return null;
  if (!ran.enabled) return 'updates are off';
  if (trains === 'before_acting' && later.includes(field)) {
    return `${method} trains once, before the first step`;
  }
  const trigger = triggered[field];
  if (trigger !== undefined && !ran.triggers.includes(trigger)) {
    return `"${trigger}" is not among the triggers`;
  }
  if (limits.includes(field) && !ran.rollback_enable) return 'rollbacks are off';
  if (counting.includes(field) && ran.w_min === 1) return 'every weight is 1';
  return null;
}
