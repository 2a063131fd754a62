/** What a boundary is given, remembers and leaves behind. */

import type { Settings } from '../config.ts';
import type { Rng } from '../math/rng.ts';
import type { Learner, Snapshots, Summariser, TrainText } from '../ports.ts';
import type { Boundary, Progress } from '../records.ts';
import type { Method } from './methods/method.ts';
import type { Opening, Turn } from './update-text.ts';

/** An update text that was trained on, or would have been in observe-only mode. */
export interface AcceptedText {
  readonly step: number;
  readonly words: ReadonlySet<string>;
  /** Its ids with the weights they were trained at. */
  readonly trained: TrainText;
}

/** What boundaries remember of an episode; rollbacks do not touch it, except `dirty`. */
export interface BoundaryState {
  readonly opening: Opening;
  readonly turns: readonly Turn[];
  readonly accepted: readonly AcceptedText[];
  readonly updates: number;
  readonly rollbacks: number;
  /** The adapter differs from the episode start. */
  readonly dirty: boolean;
}

export function startBoundaries(opening: Opening): BoundaryState {
  return { opening, turns: [], accepted: [], updates: 0, rollbacks: 0, dirty: false };
}

export interface BoundaryPorts {
  readonly learner: Learner;
  readonly snapshots: Pick<Snapshots, 'load'>;
  readonly summaries: Summariser;
  readonly onProgress: (progress: Progress) => void;
}

/** What stays the same over an episode. */
export interface BoundaryRules {
  readonly settings: Settings;
  readonly method: Method;
  /** The episode's random stream for a purpose. */
  readonly stream: (purpose: string, t: number) => Rng;
  /** The most ids that can be read, or trained on, in one sequence. */
  readonly contextLength: number;
}

export interface BoundaryResult {
  readonly boundary: Omit<Boundary, 'seq'>;
  readonly state: BoundaryState;
}
