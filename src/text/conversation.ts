/** The conversation as ids: a head that stays, and turns that can be dropped when it grows too long. */

/** Ids in the order the model reads them; the head holds system text, task and first generation prompt. */
export interface Conversation {
  readonly head: readonly number[];
  /** One per step: the sampled ids, the closing ids, the observation, the next generation prompt. */
  readonly turns: readonly (readonly number[])[];
}

/** The whole conversation as one prompt. */
export function conversationIds({ head, turns }: Conversation): readonly number[] {
  return [head, ...turns].flat();
}

/** The conversation with one more turn. */
export function withTurn({ head, turns }: Conversation, turn: readonly number[]): Conversation {
  return { head, turns: [...turns, turn] };
}

/** The head and the last `count` turns; 0 keeps all. */
export function keepTurns(conversation: Conversation, count: number): Conversation {
  const { head, turns } = conversation;
  return count === 0 || turns.length <= count ? conversation : { head, turns: turns.slice(-count) };
}

/**
 * Keeps a conversation under `limit` ids: when it is longer, the oldest turns are dropped in one go
 * until at most half the limit is used (so that the cache is rebuilt seldom). The head always stays;
 * null when even the head and the last turn do not fit.
 */
export function fitConversation(conversation: Conversation, limit: number): Conversation | null {
  const size = ({ head, turns }: Conversation) =>
    head.length + turns.reduce((sum, turn) => sum + turn.length, 0);
  if (size(conversation) <= limit) return conversation;
  let kept = conversation;
  while (size(kept) > limit / 2 && kept.turns.length > 1) {
    kept = { head: kept.head, turns: kept.turns.slice(1) };
  }
  return size(kept) <= limit ? kept : null;
}
