/** The whole conversation between the engine worker and the environment worker, as types. */

import type { WorldView } from '../ports.ts';
import type { EnvDescription, HistoryQuestion, Json, TaskRef, WorldHistory } from '../records.ts';

/** A world after a call: its whole state, and what the loop may see of it. */
export interface WorldState {
  readonly state: Json;
  readonly view: WorldView;
}

export interface EnvApi {
  readonly calls: {
    readonly describe: { readonly input: null; readonly output: readonly EnvDescription[] };
    readonly tasks: {
      readonly input: { readonly env: string; readonly split: string };
      readonly output: readonly TaskRef[];
    };
    /** Reads a dropped file into a task; throws bad_input. */
    readonly openTask: {
      readonly input: { readonly name: string; readonly text: string };
      readonly output: TaskRef;
    };
    readonly reset: { readonly input: { readonly task: TaskRef }; readonly output: WorldState };
    /** How a world looked along an episode. Where the state to go on from is given, only what follows it is told. */
    readonly history: { readonly input: HistoryQuestion; readonly output: WorldHistory };
    /** What the actions changed in the task's files, as `git diff` writes it; null where there are none. */
    readonly patch: {
      readonly input: { readonly task: TaskRef; readonly actions: readonly string[] };
      readonly output: string | null;
    };
    /** The worker keeps nothing: the state comes with each call, so it can be replaced at any time. */
    readonly step: {
      readonly input: { readonly env: string; readonly state: Json; readonly action: string };
      readonly output: WorldState;
    };
  };
  readonly streams: Record<never, never>;
}
