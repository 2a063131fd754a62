/** What an update trains on: ids that were sampled or read, never re-encoded, and what they stand after. */

import type { Settings } from '../config.ts';
import type { FollowingIds, Learner } from '../ports.ts';
import type { ChatMessage, Generation, StepTaken, Summary, TextSource } from '../records.ts';
import { type Conversation, conversationIds, fitConversation } from '../text/conversation.ts';

/** The longest conversation, in ids, that an update text is trained after; older turns are cut. */
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
  const { generation, observation, observationIds } = turn.step;
  /** What the text stands after; `between` lies between the conversation and the text. */
  const contextOf = (ids: readonly number[], between: readonly number[]): readonly number[] => {
    if (settings.train_context === 'text') return learner.bos;
    const { head } = turn.prior;
    const room = Math.min(trainContextLimit, limit - ids.length) - between.length;
    const fitted =
      fitConversation(turn.prior, room) ?? (head.length <= room ? { head, turns: [] } : null);
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
        trained:
          turn.ignoredFrom === null
            ? ids.length
            : idsUpTo(ids, decodedAt(generation, turn.ignoredFrom, learner), learner),
      };
    }
    case 'env': {
      const [start, end] = turn.step.observationSpan;
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
      const { text, ids, question = observationIds } = turn.summary ?? { text: '', ids: [] };
      return {
        source,
        text,
        ids,
        context: contextOf(ids, [...generation.ids, ...question]),
        trained: ids.length,
      };
    }
    default:
      return source satisfies never;
  }
}

/** Where in the ids that follow a turn the observation alone is, without what its message adds to it: [start, end). */
export function observationSpan(
  observation: string,
  message: ChatMessage,
  { ids, content }: FollowingIds,
  learner: Pick<Learner, 'decode'>,
): readonly [start: number, end: number] {
  if (message.content === observation) return content;
  const [start, end] = content;
  const shown = ids.slice(start, end);
  const seen = observation.trimStart(); // a template may trim
  const from = learner.decode(shown).indexOf(seen);
  return from < 0 ? content : [start, start + idsUpTo(shown, from + seen.length, learner)];
}

/** Where `at`, a place in a sampled text, is in what its ids decode to. */
function decodedAt({ ids, text }: Generation, at: number, learner: Learner): number {
  // Of a SentencePiece vocabulary that leaves out a space at the beginning, which a sampled text keeps.
  return learner.decode(ids).startsWith(text) ? at : at - 1;
}

/** How many of the ids decode to at least `length` characters. */
function idsUpTo(ids: readonly number[], length: number, learner: Pick<Learner, 'decode'>): number {
  for (let n = 0; n < ids.length; n++) {
    if (learner.decode(ids.slice(0, n)).length >= length) return n;
  }
  return ids.length;
}
