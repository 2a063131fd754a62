/** Which methods make sense for which model; what makes none is "not applicable" and never a failure. */

import { asksForSummaries, type MethodName, type Settings } from '../config.ts';
import { isGreedy, methods } from '../train/methods.ts';

export interface ModelFacts {
  /** Tokens; null where a server does not say. */
  readonly contextLength: number | null;
  /** null where a server does not say. */
  readonly parameters: number | null;
  /** Its weights are here, and an adapter of them can be trained. */
  readonly trains: boolean;
  /** A chat model behind an endpoint that can write summaries is connected. */
  readonly summaries: boolean;
}

/**
 * Below this a model writes turns of the world it was trained on and no free text: the smallest
 * chat models that follow an instruction at all have about 135 M parameters.
 */
const WRITERS_PARAMETERS = 100e6;

/** Why a method is not tried with a model, null while it is not known, in words; null when it is. */
export function notApplicable(
  method: MethodName,
  settings: Settings,
  model: ModelFacts | null,
): string | null {
  const { temperature, top_k, repetition_penalty, history_turns } = settings;
  const { baseline_temperature, baseline_penalty, baseline_history_turns } = settings;
  const cut = top_k === 1 ? 'top_k = 1' : 'top_p = 0';
  if (method === 'temperature' && baseline_temperature <= temperature) {
    return `It asks for temperature ${temperature} already, and baseline_temperature = ${baseline_temperature} is no higher.`;
  }
  if (method === 'temperature' && isGreedy({ ...settings, temperature: baseline_temperature })) {
    return `At any temperature ${cut} keeps one token alone.`;
  }
  if (method === 'loop_breaker' && isGreedy(settings)) {
    const why = temperature === 0 ? 'temperature 0' : cut;
    return `A turn sampled again is the same one: ${why} always takes the likeliest token.`;
  }
  if (method === 'reflexion' && settings.reflexion_tries === 1) {
    return 'It has one try alone (reflexion_tries = 1), and reflects for the next one.';
  }
  if (method === 'repetition_penalty' && baseline_penalty <= repetition_penalty) {
    return `It asks for repetition penalty ${repetition_penalty} already, and baseline_penalty = ${baseline_penalty} is no stronger.`;
  }
  // 0 turns are all turns.
  if (method === 'short_history' && history_turns > 0 && baseline_history_turns >= history_turns) {
    return `It keeps ${history_turns} turns already, and baseline_history_turns = ${baseline_history_turns} are no fewer.`;
  }
  if (model === null) return null;
  const wouldTrain = methods[method].trains !== 'never' && settings.enabled;
  if (!model.trains && wouldTrain && !settings.observe_only) {
    return 'It trains, and the weights of a model on a server cannot be changed from here.';
  }
  const tooSmall =
    model.parameters !== null && model.parameters < WRITERS_PARAMETERS
      ? `a model of ${(model.parameters / 1e6).toFixed(1)} M parameters writes none`
      : null;
  if (method === 'reflexion' && tooSmall) return `A reflection is free text, and ${tooSmall}.`;
  if (method === 'long_context') {
    const longest = model.contextLength ?? Number.POSITIVE_INFINITY;
    const usual = Math.min(settings.context_length, longest);
    if (Math.min(settings.baseline_context, longest) <= usual) {
      const limit = Number.isFinite(longest) ? ` of ${longest} that the model was trained for` : '';
      return `Of the context ${usual} tokens${limit} are in use already.`;
    }
  }
  if (asksForSummaries({ ...settings, method })) {
    const served = settings.summary_model !== '';
    if (served && !model.summaries) {
      return `Summaries are to come from "${settings.summary_model}", and no server for it is connected.`;
    }
    if (!served && tooSmall) return `A summary is free text, and ${tooSmall}.`;
  }
  return null;
}
