/** Every method by its name, and the settings that a run of one has. */

import type { MethodName, Settings } from '../config.ts';
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
