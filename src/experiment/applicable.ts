/** Which methods make sense for which model; what makes none is "not applicable" and never a failure. */

import { asksForSummaries, type MethodName, type Settings } from '../config.ts';

export interface ModelFacts {
  /** Tokens. */
  readonly contextLength: number;
  readonly parameters: number;
  /** A chat model behind an endpoint that can write summaries is connected. */
  readonly summaries: boolean;
}

/**
 * Below this a model writes turns of the world it was trained on and no free text: the smallest
 * chat models that follow an instruction at all have about 135 M parameters.
 */
const WRITERS_PARAMETERS = 100e6;

/** Why a method is not tried with a model, in words; null when it is. */
export function notApplicable(
  method: MethodName,
  settings: Settings,
  model: ModelFacts,
): string | null {
  if (method === 'reflexion' && model.parameters < WRITERS_PARAMETERS) {
    return `A reflection is free text, and a model of ${inMillions(model)} M parameters writes none.`;
  }
  if (method === 'long_context') {
    const usual = Math.min(settings.context_length, model.contextLength);
    const longer = Math.min(settings.baseline_context, model.contextLength);
    if (longer <= usual) {
      return `The model was trained for ${model.contextLength} tokens, and ${usual} are in use already.`;
    }
  }
  if (asksForSummaries({ ...settings, method })) {
    const served = settings.summary_model !== '';
    if (served && !model.summaries) {
      return `Summaries are to come from "${settings.summary_model}", and no server for it is connected.`;
    }
    if (!served && model.parameters < WRITERS_PARAMETERS) {
      return `A summary is free text, and a model of ${inMillions(model)} M parameters writes none.`;
    }
  }
  return null;
}

function inMillions({ parameters }: ModelFacts): string {
  return (parameters / 1e6).toFixed(1);
}
