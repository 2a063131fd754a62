/** What a task environment is: a pure function over a JSON state. It knows no model and no prompt. */

import type { EnvDescription, Json, TaskRef, WorldSketch } from '../records.ts';

/** Facts beside an observation, with TextWorld's meaning of the names. */
export interface EnvInfo {
  readonly won: boolean;
  readonly lost: boolean;
  readonly score: number;
  readonly maxScore: number;
  /** Equal states have equal hashes, on every engine. */
  readonly stateHash: string;
  /** The action was none, or could not be done; only of worlds without a list of admissible commands. */
  readonly refused?: true;
  /** What the action ran did not pass: a test that fails. */
  readonly failed?: true;
}

/** The world after a reset. */
export interface EnvReset<S extends Json = Json> {
  readonly state: S;
  readonly observation: string;
  readonly info: EnvInfo;
}

/** The world after an action; Gymnasium's meaning of the two flags, as an object. */
export interface EnvStep<S extends Json = Json> extends EnvReset<S> {
  readonly reward: number;
  /** The task itself ended. */
  readonly terminated: boolean;
  /** A limit from outside ended it; worlds of ours never set it, the runner does. */
  readonly truncated: boolean;
}

/**
 * A functional environment. `step` and `initial` never mutate their arguments, throw only LabError
 * (`environment` or `bad_input`), and treat an unknown action as an observation, not an exception.
 */
export interface Env<S extends Json = Json> {
  readonly description: EnvDescription;
  /** The frozen tasks of a split, in order. Throws `not_found` for an unknown split. */
  tasks(split: string): readonly TaskRef[];
  /** The start of a task. Equal arguments give equal worlds. */
  initial(task: TaskRef): EnvReset<S>;
  step(state: S, action: string): EnvStep<S>;
  /** Every command that the world would accept now, sorted; absent where a world has none. */
  admissible?(state: S): readonly string[];
  /** The state after another one, for a person to read; `before` is null at the start. */
  sketch?(state: S, before: S | null): WorldSketch;
  /** What was changed since the start, as `git diff` writes it; absent where there are no files. */
  patch?(state: S): string;
}
