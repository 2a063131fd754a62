/** Which worlds of a run are known, and what is to be asked for next: only what follows them, a part at a time. Pure. */

import type { HistoryQuestion, Json, WorldHistory, WorldSketch } from '../records.ts';
import type { RunView } from './run-view.ts';

/** Steps of one question: each test of a program runs anew after each of them, 0.05 s a step. */
export const stepsAtOnce = 50;

export interface KnownWorlds {
  /** Of the run that they belong to. */
  readonly started: RunView['started'];
  /** Those that were replayed, in order. */
  readonly actions: readonly string[];
  /** At the start and after each of them; empty where the world has none. */
  readonly sketches: readonly WorldSketch[];
  /** After the last of them. */
  readonly state: Json;
}

/** null when the worlds of all steps are known. */
export function nextQuestion(
  known: KnownWorlds | null,
  { started, steps }: Pick<RunView, 'started' | 'steps'>,
): HistoryQuestion | null {
  const done = known !== null && goesOn(known, started, steps) ? known : null;
  const from = done?.actions.length ?? 0;
  if (done && from === steps.length) return null;
  const actions = steps.slice(from, from + stepsAtOnce).map(({ action }) => action);
  return { task: started.task, actions, ...(done && { from: done.state }) };
}

/** The worlds with those of an answer behind them, or those alone where it does not go on from them. */
export function withAnswer(
  known: KnownWorlds | null,
  started: RunView['started'],
  { actions, from }: HistoryQuestion,
  { sketches, state }: WorldHistory,
): KnownWorlds {
  const before = known?.started === started && known.state === from ? known : null;
  return {
    started,
    actions: [...(before?.actions ?? []), ...actions],
    sketches: [...(before?.sketches ?? []), ...sketches],
    state,
  };
}

function goesOn(known: KnownWorlds, started: RunView['started'], steps: RunView['steps']): boolean {
  return (
    known.started === started && known.actions.every((action, i) => action === steps[i]?.action)
  );
}
