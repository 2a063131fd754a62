/** The text of one boundary with all that is known of it before training: how its tokens weigh, and what it repeats. */

import { countNgrams, coverage, tokenWeights } from '../math/ngram.ts';
import { nearest, words } from '../math/repetition.ts';
import type { Learner, TrainText } from '../ports.ts';
import type { TextSource, TokenColumns } from '../records.ts';
import type { BoundaryRules, BoundaryState } from './boundary-state.ts';
import { openingText, updateText } from './update-text.ts';

export interface Candidate {
  readonly source: TextSource;
  readonly text: string;
  readonly words: ReadonlySet<string>;
  /** Its ids, each with its weight, after their context. */
  readonly trainText: TrainText;
  /** Of each id: how often its n-gram occurred before, and where it begins. */
  readonly counts: TokenColumns['counts'];
  readonly ngramStarts: TokenColumns['ngramStarts'];
  /** Over the ids that may be trained; null when there are none. */
  readonly meanWeight: number | null;
  /** r_k, and the step of the accepted text that it is with; null when there is no text, or no such step. */
  readonly ratio: number | null;
  readonly nearestStep: number | null;
  /** By how many ids text and context are longer than what can be read at once. */
  readonly excess: number;
}

/** The candidate after the latest turn of `state`, or of its opening before the first. Pure. */
export function candidateOf(
  state: BoundaryState,
  rules: BoundaryRules,
  learner: Learner,
): Candidate {
  const { settings, method, stream, contextLength } = rules;
  const turn = state.turns.at(-1);
  const { source, text, ids, context, trained } = turn
    ? updateText(turn, settings, learner, contextLength)
    : openingText(state.opening);
  const textWords = words(text);
  const first = context.length > 0 ? 0 : 1; // without context nothing predicts the first id
  const excess = Math.max(0, context.length + ids.length - contextLength);
  const hasText = textWords.size > 0 && trained > first && excess === 0;
  const near = nearest(
    textWords,
    state.accepted.map((accepted) => accepted.words),
  );
  const { ngram_n, w_min } = settings;
  const history = countNgrams(earlierIds(state, rules, learner), ngram_n);
  const { counts, starts } = coverage(ids, ngram_n, history);
  const novel = tokenWeights(counts, w_min).map((w, j) => (first <= j && j < trained ? w : 0));
  const weights = method.weigh?.(novel, stream('weigh', turn?.step.t ?? 0)) ?? novel;
  const usable = novel.filter((w) => w > 0).length;
  return {
    source,
    text,
    words: textWords,
    trainText: { context, ids, weights, trainable: usable },
    counts,
    ngramStarts: starts,
    meanWeight: usable === 0 ? null : weights.reduce((a, b) => a + b, 0) / usable,
    ratio: hasText ? near.ratio : null,
    nearestStep: near.index === null ? null : (state.accepted[near.index]?.step ?? null),
    excess,
  };
}

/** The texts that n-grams are counted in. */
function earlierIds(
  { accepted, turns }: BoundaryState,
  { settings, contextLength }: BoundaryRules,
  learner: Learner,
): readonly (readonly number[])[] {
  if (settings.history === 'accepted') return accepted.map(({ trained }) => trained.ids);
  const earlier = turns.slice(0, -1);
  return earlier.map((turn) => updateText(turn, settings, learner, contextLength).ids);
}
