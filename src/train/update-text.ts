/** What an update trains on: ids that were sampled or read, never re-encoded, and what they stand after. */

import type { Settings } from '../config.ts';
import type { Learner } from '../ports.ts';
import type { StepTaken, Summary, TextSource } from '../records.ts';
import { type Conversation, conversationIds, fitConversation } from '../text/conversation.ts';

/** The longest context, in ids, that an update text is trained after; older turns are cut. */
const trainContextLimit = 1024;

/** A step with what a boundary needs of it beyond its record. */
export interface Turn {
  readonly step: StepTaken;
  /** Thought and action as text; the raw text where no action could be read. */
  readonly text: string;
  /** Where, in the generated text, invented material after the action begins; null when none. */
  readonly ignoredFrom: number | null;
  /** The conversation it was sampled after. */
  readonly prior: Conversation;
  /** What was written at its boundary of the trajectory up to it; absent where nobody was asked. */
  readonly summary?: Summary;
}

/** The first prompt: what is trained on before acting. */
export interface Opening {
  readonly text: string;
  readonly ids: readonly number[];
}

export interface UpdateText {
  readonly source: TextSource;
  readonly text: string;
  readonly ids: readonly number[];
  /** Read before the ids, never trained. */
  readonly context: readonly number[];
  /** How many of the ids, from the first, may be trained. */
  readonly trained: number;
}

export function openingText({ text, ids }: Opening): UpdateText {
  return { source: 'env', text, ids, context: [], trained: ids.length };
}

/**
 * The text of a turn by `text_source`; empty for a turn whose summary nobody was asked for. Its context
 * is cut so that both together have at most `limit` ids, where the text alone has no more.
 */
export function updateText(
  turn: Turn,
  settings: Settings,
  learner: Learner,
  limit: number,
): UpdateText {
  const source = settings.text_source;
  const { generation, observation, observationIds, observationSpan } = turn.step;
  /** What the text stands after; `between` lies between the conversation and the text. */
  const contextOf = (ids: readonly number[], between: readonly number[]): readonly number[] => {
    if (settings.train_context === 'text') return learner.bos;
    const { head } = turn.prior;
    const room = limit - between.length - ids.length;
    const fitted =
      fitConversation(turn.prior, Math.min(trainContextLimit, room)) ??
      (head.length <= room ? { head, turns: [] } : null);
    return fitted ? [...conversationIds(fitted), ...between] : learner.bos;
  };
  switch (source) {
    case 'self': {
      const { ids } = generation;
      return {
        source,
        text: turn.text,
        ids,
        context: contextOf(ids, []),
        trained: turn.ignoredFrom === null ? ids.length : idsUpTo(ids, turn.ignoredFrom, learner),
      };
    }
    case 'env': {
      const [start, end] = observationSpan;
      const ids = observationIds.slice(start, end);
      return {
        source,
        text: observation,
        ids,
        context: contextOf(ids, [...generation.ids, ...observationIds.slice(0, start)]),
        trained: ids.length,
      };
    }
    case 'summary': {
      const { text, ids } = turn.summary ?? { text: '', ids: [] };
      return {
        source,
        text,
        ids,
        context: contextOf(ids, [...generation.ids, ...observationIds]),
        trained: ids.length,
      };
    }
    default:
      return source satisfies never;
  }
}

/** How many ids give the first `length` characters of the text. */
function idsUpTo(ids: readonly number[], length: number, learner: Learner): number {
  for (let n = 0; n < ids.length; n++) {
    if (learner.decode(ids.slice(0, n)).length >= length) return n;
  }
  return ids.length;
}
