/** Whether an episode of given settings can start from an adapter: it fits the model, and what trains can go on from it. */

import type { Settings } from '../config.ts';
import { checkFits } from '../model/fit-adapter.ts';
import type { LlamaConfig } from '../model/llama-config.ts';
import { checkTrainable, type StartCandidate } from '../model/start-adapter.ts';
import { methods, withMethod } from './methods.ts';

/** Throws `bad_input` for an adapter of another model, `bad_config` for one that the settings cannot go on training. */
export function checkStart(start: StartCandidate, asked: Settings, config: LlamaConfig): void {
  checkFits(start.data, config);
  const settings = withMethod(asked);
  const trains = methods[settings.method].trains !== 'never';
  if (trains && settings.enabled && !settings.observe_only) {
    checkTrainable(start, settings, config.layers);
  }
}
