/** Every method by its name, the settings that a run of one has, and which of them do nothing there. */

import {
  asksForSummaries,
  type FieldName,
  fieldNames,
  fields,
  type MethodName,
  methodNames,
  type Settings,
  type SettingsPatch,
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

/** What a method changes of the settings that are asked for. */
function changedBy(asked: Settings): SettingsPatch {
  return methods[asked.method].settings?.(asked) ?? {};
}

/** The settings that a run has once its method has changed its own. */
export function withMethod(asked: Settings): Settings {
  return { ...asked, ...changedBy(asked) };
}

/** The settings that a method sets itself, whatever is asked for. */
export function setItself(asked: Settings): readonly FieldName[] {
  const patch = changedBy(asked);
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

/** Settings of what events tell: no run does otherwise for them, and no row of an experiment has what they add. */
const telling: readonly FieldName[] = [
  ...(['log_repetition_ratio', 'log_token_weights', 'log_alternatives'] as const),
];

/** Settings of an update that is made, after all that decides whether there is one. */
const making: readonly FieldName[] = [
  ...(['lora_rank', 'lora_alpha', 'target_modules', 'learning_rate', 'grad_steps'] as const),
  ...(['max_grad_norm', 'loss_normalisation', 'kl_penalty', 'ewc_strength'] as const),
  ...(['replay_texts', 'validation_texts'] as const),
  ...(['kl_divergence_limit', 'on_trigger', 'log_kl_every_n_updates'] as const),
];

const limits: readonly FieldName[] = ['kl_divergence_limit', 'repetition_ratio_limit'];

/** What weights are made of and divided by, besides the smallest one. */
const counting: readonly FieldName[] = ['ngram_n', 'history', 'loss_normalisation'];

/** Settings that only an update with an accepted one before it reads. */
const second: readonly FieldName[] = ['novelty_threshold', 'replay_texts', 'ewc_strength'];

/** Settings of updates after a step, or of an update that looks back at earlier texts. */
const later: readonly FieldName[] = [
  ...(['triggers', 'update_interval_k', 'trigger_repetition', 'trigger_logprob'] as const),
  ...(['trigger_entropy', 'min_steps_before_first_update', 'text_source'] as const),
  ...(['train_context', 'repetition_ratio_limit', 'w_min', 'ngram_n', 'history'] as const),
  ...(['loss_normalisation', 'validation_texts'] as const), // without a history every weight is 1
  ...second,
];

/** Settings that act on an update, or on what is accepted, and on nothing else. */
const updating: readonly FieldName[] = [
  ...making,
  ...(['novelty_threshold', 'repetition_ratio_limit', 'observe_only'] as const),
];

/** True where what is sampled is the likeliest token, whatever is drawn. */
export function isGreedy({
  temperature,
  top_k,
  top_p,
}: Pick<Settings, 'temperature' | 'top_k' | 'top_p'>): boolean {
  return temperature === 0 || top_k === 1 || top_p === 0;
}

/** Why a setting of the sampler does nothing; null where it may do something. */
function idleSampling(field: FieldName, ran: Settings): string | null {
  const { temperature, top_k, top_p, summary_model, summary_temperature } = ran;
  const one = isGreedy({ ...ran, temperature: 1 });
  // The policy's own summaries are cut alike, and sampled at a temperature of their own.
  const asked = asksForSummaries(ran) && summary_model === '';
  const cold = temperature === 0 && (!asked || summary_temperature === 0);
  const still: Partial<Record<FieldName, boolean>> = {
    temperature: one,
    summary_temperature: one && asked,
    top_k: cold || top_p === 0,
    top_p: cold || top_k === 1,
  };
  return still[field] ? 'the likeliest token is always taken' : null;
}

/**
 * The settings of which another value would change nothing that a run does, each with why, in words. `asked` is what is
 * asked for, before the method changes its own. Example: learning_rate of frozen -> "frozen never trains".
 */
export function unused(asked: Settings): ReadonlyMap<FieldName, string> {
  const patch = changedBy(asked);
  const ran = { ...asked, ...patch };
  const { own = [] } = methods[asked.method];
  const instead = own.length > 0 ? `; vary ${own.join(' or ')} instead` : '';
  const found = new Map<FieldName, string>();
  for (const field of fieldNames) {
    const why = field in patch ? `${asked.method} sets it itself${instead}` : idle(field, ran);
    if (why !== null) found.set(field, why);
  }
  return found;
}

/** Why a setting that the method leaves alone does nothing in a run with these; null where it may do something. */
function idle(field: FieldName, ran: Settings): string | null {
  const { method } = ran;
  const { trains } = methods[method];
  const owner = methodNames.find((name) => methods[name].own?.includes(field));
  if (owner !== undefined) return owner === method ? null : `it is for ${owner} alone`;
  const { group } = fields[field];
  if (field === 'method' || acting.includes(group)) return idleSampling(field, ran);
  if (telling.includes(field)) return 'it changes only what is recorded';
  const most = Math.min(ran.max_updates_per_episode, trains === 'before_acting' ? 1 : Infinity);
  if (group === 'summary') {
    const asked = asksForSummaries(ran) && most > 0;
    return asked ? idleSampling(field, ran) : 'no summary is asked for';
  }
  if (trains === 'never') return `${method} never trains`;
  if (field === 'enabled') return null;
  if (!ran.enabled) return 'updates are off';
  if (trains === 'before_acting' && later.includes(field)) {
    return `${method} trains once, before the first step`;
  }
  if (most === 0 && updating.includes(field)) return 'no update is allowed';
  if (most === 1) {
    // From where the run starts the KL has no slope.
    const oneStep = field === 'kl_penalty' && ran.grad_steps === 1;
    const oneWeight = field === 'loss_normalisation' && ran.history === 'accepted';
    if (oneStep || oneWeight || second.includes(field)) return 'no update has one before it';
  }
  if (ran.observe_only && making.includes(field)) return 'updates are only observed';
  const trigger = triggered[field];
  if (trigger !== undefined && !ran.triggers.includes(trigger)) {
    return `"${trigger}" is not among the triggers`;
  }
  if (limits.includes(field) && !ran.rollback_enable) return 'rollbacks are off';
  const every = ran.log_kl_every_n_updates;
  if (field === 'kl_divergence_limit' && (every === 0 || every > most)) {
    return 'the KL is never measured';
  }
  if (counting.includes(field) && ran.w_min === 1) return 'every weight is 1';
  return null;
}
