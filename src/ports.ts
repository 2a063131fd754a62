/** What the spine needs from outside: small interfaces, so that a test, a worker or a server can stand behind them. */

import type { Settings } from './config.ts';
import type { Rng } from './math/rng.ts';
import type {
  ChatMessage,
  Generation,
  LearnerSnapshot,
  Progress,
  StepTaken,
  Summary,
  TaskRef,
} from './records.ts';
import type { Conversation } from './text/conversation.ts';

/** The acting face of the engine. The conversation is ids: sampled text is never re-encoded. */
export interface Policy {
  readonly contextLength: number;
  /** The templated ids of the first prompt, generation prompt included. */
  begin(messages: readonly ChatMessage[]): readonly number[];
  /** What follows a sampled turn: its closing ids where it lacks them, the message, a generation prompt. */
  follow(generation: Generation, message: ChatMessage): FollowingIds;
  generate(
    promptIds: readonly number[],
    settings: Settings,
    maxTokens: number,
    rng: Rng,
    signal: AbortSignal,
    onToken: (id: number, piece: string) => void,
  ): Promise<Generation>;
}

export interface FollowingIds {
  readonly ids: readonly number[];
  /** [start, end) of the message's own content in `ids`. */
  readonly content: readonly [number, number];
}

/** Writes update texts of source "summary": the policy itself, or a model of its own. */
export interface Summariser {
  /** Throws with nothing changed where no whole summary came. */
  write(
    trajectory: Trajectory,
    settings: Settings,
    rng: Rng,
    signal: AbortSignal,
  ): Promise<Summary>;
}

/** An episode up to the step that a summary ends with. */
export interface Trajectory {
  /** The first message to the policy: the task and what was seen first. */
  readonly task: string;
  /** In order; at least one. */
  readonly steps: readonly StepTaken[];
  /** The conversation that the last step was sampled after. */
  readonly prior: Conversation;
}

/** The world as the loop sees it; behind it may be a worker that can be killed. */
export interface World {
  reset(task: TaskRef, signal: AbortSignal): Promise<WorldView>;
  step(action: string, signal: AbortSignal): Promise<WorldView>;
}

export interface WorldView {
  readonly observation: string;
  /** Every command that would be accepted now; null where the world has no such list. */
  readonly admissible: readonly string[] | null;
  readonly reward: number;
  readonly terminated: boolean;
  readonly stateHash: string;
  /** The action was none, or could not be done; known only where there is no list. */
  readonly refused?: true;
  /** What the action ran did not pass: a test that fails. */
  readonly failed?: true;
  /** Actions go to this world as they were written. */
  readonly verbatim?: true;
}

/** Keeps the episode-start snapshot; `load` reads what was written, never a copy in memory. */
export interface Snapshots {
  save(snapshot: LearnerSnapshot): Promise<void>;
  load(): Promise<LearnerSnapshot>;
}

/**
 * What a person asks of an episode between two steps. `update_again` comes from records alone: earlier versions took a
 * request for a step that was trained already.
 */
export type Order = 'continue' | 'update_now' | 'update_again' | 'roll_back_now';

export interface EpisodePorts {
  readonly policy: Policy;
  readonly learner: Learner;
  readonly world: World;
  readonly snapshots: Snapshots;
  readonly summaries: Summariser;
  /** The next order; waits while paused. Called after every step until it says `continue`. */
  readonly nextOrder: (t: number, signal: AbortSignal) => Promise<Order>;
  readonly onProgress: (progress: Progress) => void;
}

/** One update text as ids, with the context it is trained after. */
export interface TrainText {
  /** Read but never trained: BOS where the model uses one, or the conversation. May be empty. */
  readonly context: readonly number[];
  readonly ids: readonly number[];
  /** w_j, one per id; 0 is context only. Without context the first id can have no label. */
  readonly weights: readonly number[];
  /** How many ids may be trained, those included that a method dropped; absent: as many as have a weight above 0. */
  readonly trainable?: number;
}

export interface TrainResult {
  /** Before each Adam step, then after the last: steps + 1 numbers. */
  readonly losses: readonly number[];
  /** Norm of the whole gradient at each step, before clipping. */
  readonly gradNorms: readonly number[];
  /** Nats per id of `ids`; null where the id has no label. */
  readonly ceBefore: readonly (number | null)[];
  readonly ceAfter: readonly (number | null)[];
}

/** One value per id of a text; null and empty where the id has no label. */
export interface TokenDrift {
  /** Mean of `kl` over the trained positions. */
  readonly meanKl: number;
  /** KL(now ‖ episode start), exact, whole vocabulary, nats. */
  readonly kl: readonly (number | null)[];
  /** Entropy of the policy now, nats. */
  readonly entropy: readonly (number | null)[];
  /** As many as were asked for, the likeliest first; logprob in nats. */
  readonly likeliest: readonly (readonly { readonly id: number; readonly logprob: number }[])[];
}

export interface Learner {
  /** BOS as the model wants it before raw text: one id or none. */
  readonly bos: readonly number[];
  /** Each id's own text. */
  pieces(ids: readonly number[]): readonly string[];
  decode(ids: readonly number[]): string;
  /** A text that nothing sampled, as ids; control text in it stays plain text. */
  encode(text: string): readonly number[];
  /**
   * `grad_steps` Adam steps on the first text and those replayed with it, as one window; the result's
   * cross entropies are the first text's. Atomic: when it throws or is aborted, nothing has changed.
   */
  train(
    window: readonly TrainText[],
    settings: Settings,
    signal: AbortSignal,
    onProgress: (done: number, total: number) => void,
  ): Promise<TrainResult>;
  /** Cross entropy of each id, nothing trained. */
  measure(text: TrainText, signal: AbortSignal): Promise<readonly (number | null)[]>;
  /** What has changed since the episode start at each trained position; and the likeliest tokens now. */
  driftFromStart(text: TrainText, alternatives: number, signal: AbortSignal): Promise<TokenDrift>;
  /** KL(now ‖ episode start) at the next-token position of a prompt. */
  klAtPrompt(promptIds: readonly number[], signal: AbortSignal): Promise<number>;
  /** Frobenius norm of the whole change, scale included. */
  deltaNorm(): Promise<number>;
  snapshot(): Promise<LearnerSnapshot>;
  restore(snapshot: LearnerSnapshot): void;
}
