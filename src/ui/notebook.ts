/** The notebook around the run on screen: who may write, what is queued, what the disk holds. A part of the page's state. */

import type { PlannedEpisode } from '../experiment/plan.ts';
import type { KeptSnapshots, RunNotes } from '../records.ts';

/** Episodes that run one after another. */
export interface Queue {
  readonly episodes: readonly PlannedEpisode[];
  /** Seconds that each finished one took, in order. */
  readonly seconds: readonly number[];
  /** True once a stop was asked for: the one in progress ends, the rest is not begun. */
  readonly stopping: boolean;
}

/** What the browser says of this page's storage. */
export interface Storage {
  /** In bytes. */
  readonly usage: number;
  readonly quota: number;
  /** False: the browser may clear it when the disk runs short. */
  readonly persisted: boolean;
  /** What the adapters of each run take, by its id. */
  readonly snapshots: Readonly<Record<string, KeptSnapshots>>;
}

/** Only one tab writes; the others read. */
export type Writer = 'unknown' | 'this_tab' | 'other_tab' | 'taking_over';

export interface Notebook {
  readonly writer: Writer;
  readonly queue: Queue | null;
  readonly storage: Storage | null;
  /** A run that was interrupted before this visit, offered to be taken up. */
  readonly offered: string | null;
  /** What was written beside runs, by their ids. */
  readonly notes: Readonly<Record<string, RunNotes>>;
  /** True: the person wants to be told when a run ends in a hidden tab. */
  readonly notify: boolean;
  /** The stop of the tour that is shown; null while none is taken. */
  readonly tour: number | null;
}

export type NotebookEvent =
  | { readonly type: 'writer'; readonly writer: Writer }
  | { readonly type: 'queue_started'; readonly episodes: readonly PlannedEpisode[] }
  | { readonly type: 'queue_advanced'; readonly seconds: number }
  | { readonly type: 'queue_stopping' }
  | { readonly type: 'queue_ended' }
  | { readonly type: 'storage'; readonly storage: Storage }
  | { readonly type: 'resume_offered'; readonly id: string | null }
  | { readonly type: 'notes'; readonly notes: Readonly<Record<string, RunNotes>> }
  | { readonly type: 'notify'; readonly on: boolean }
  | { readonly type: 'tour'; readonly stop: number | null };

export const initialNotebook: Notebook = {
  writer: 'unknown',
  queue: null,
  storage: null,
  offered: null,
  notes: {},
  notify: false,
  tour: null,
};

export function reduceNotebook(notebook: Notebook, event: NotebookEvent): Notebook {
  const { queue } = notebook;
  switch (event.type) {
    case 'writer':
      return { ...notebook, writer: event.writer };
    case 'queue_started':
      return { ...notebook, queue: { episodes: event.episodes, seconds: [], stopping: false } };
    case 'queue_advanced':
      return {
        ...notebook,
        queue: queue && { ...queue, seconds: [...queue.seconds, event.seconds] },
      };
    case 'queue_stopping':
      return { ...notebook, queue: queue && { ...queue, stopping: true } };
    case 'queue_ended':
      return { ...notebook, queue: null };
    case 'storage':
      return { ...notebook, storage: event.storage };
    case 'resume_offered':
      return { ...notebook, offered: event.id };
    case 'notes':
      return { ...notebook, notes: event.notes };
    case 'tour':
      return { ...notebook, tour: event.stop };
    case 'notify':
      return { ...notebook, notify: event.on };
    default:
      return event satisfies never;
  }
}

/**
 * Seconds until the queue is done, from the mean of what is finished; null before the first end.
 * `progress` is the share of the episode in flight that is done, 0 to 1.
 * Example: 2 of 5 done in 10 s and 20 s, half of the third: (3 − 0.5) · 15 s = 37.5 s.
 */
export function timeLeft({ episodes, seconds }: Queue, progress: number): number | null {
  if (seconds.length === 0) return null;
  const mean = seconds.reduce((sum, one) => sum + one, 0) / seconds.length;
  return Math.max(0, episodes.length - seconds.length - progress) * mean;
}
