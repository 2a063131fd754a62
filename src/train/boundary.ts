/** One update boundary: choose the text, weigh its tokens, check, train, measure, and roll back on drift. */

import type { Settings } from '../config.ts';
import { LabError } from '../errors.ts';
import { countNgrams, coverage, tokenWeights } from '../math/ngram.ts';
import { nearest, words } from '../math/repetition.ts';
import type { Learner, Snapshots, TrainResult, TrainText } from '../ports.ts';
import type { Boundary, Progress, StepTaken, TokenColumns } from '../records.ts';
import { type Conversation, conversationIds, fitConversation } from '../text/conversation.ts';
import { decide } from './decide.ts';
import { methods } from './methods.ts';

/** The longest context, in ids, that an update text is trained after; older turns are cut. */
export const trainContextLimit = 1024;

/** A step with what a boundary needs of it beyond its record. */
export interface Turn {
  readonly step: StepTaken;
  /** Thought and action as text; the raw text where no action could be read. */
  readonly text: string;
  /** Where, in the generated text, invented material after the action begins; null when none. */
  readonly ignoredFrom: number | null;
  /** The conversation it was sampled after. */
  readonly prior: Conversation;
}

/** An update text that was trained on, or would have been in observe-only mode. */
interface AcceptedText {
  readonly step: number;
  readonly words: ReadonlySet<string>;
  readonly ids: readonly number[];
}

/** What boundaries remember of an episode; rollbacks do not touch it, except `dirty`. */
export interface BoundaryState {
  readonly turns: readonly Turn[];
  readonly accepted: readonly AcceptedText[];
  readonly updates: number;
  readonly rollbacks: number;
  /** The adapter differs from the episode start. */
  readonly dirty: boolean;
}

export function startBoundaries(): BoundaryState {
  return { turns: [], accepted: [], updates: 0, rollbacks: 0, dirty: false };
}

export interface BoundaryPorts {
  readonly learner: Learner;
  readonly snapshots: Pick<Snapshots, 'load'>;
  readonly onProgress: (progress: Progress) => void;
}

export interface BoundaryResult {
  readonly boundary: Omit<Boundary, 'seq'>;
  readonly state: BoundaryState;
}

/** Runs one boundary after the latest step. Throws `aborted` with nothing changed. */
export async function atBoundary(
  trigger: 'periodic' | 'manual',
  state: BoundaryState,
  conversation: Conversation,
  settings: Settings,
  ports: BoundaryPorts,
  signal: AbortSignal,
): Promise<BoundaryResult> {
  const { learner, onProgress } = ports;
  const turn = state.turns.at(-1);
  if (!turn) throw new LabError('internal', 'A boundary before the first step.');
  const { t } = turn.step;
  const { text, ids, context, trained } = updateText(turn, settings, learner);
  const textWords = words(text);
  const hasText = textWords.size > 0 && context.length + ids.length > 1;
  const near = nearest(
    textWords,
    state.accepted.map((a) => a.words),
  );
  const ratio = hasText ? near.ratio : null;
  const { outcome: verdict, why } = decide(
    {
      trigger,
      t,
      enabled: settings.enabled && methods[settings.method].learns,
      hasText,
      ratio,
      updates: state.updates,
    },
    settings,
  );
  const history =
    settings.history === 'accepted'
      ? state.accepted.map((a) => a.ids)
      : state.turns.slice(0, -1).map((earlier) => updateText(earlier, settings, learner).ids);
  const { counts, starts } = coverage(
    ids,
    settings.ngram_n,
    countNgrams(history, settings.ngram_n),
  );
  const weights = tokenWeights(counts, settings.w_min).map((w, j) =>
    j < trained && context.length + j > 0 ? w : 0,
  );
  const positive = weights.filter((w) => w > 0);
  const trainText: TrainText = { context, ids, weights };
  const noCe = ids.map(() => null);
  const columns = (ceBefore: TokenColumns['ceBefore'], ceAfter: TokenColumns['ceAfter']) =>
    settings.log_token_weights
      ? {
          ids,
          context,
          pieces: learner.pieces(ids),
          weights,
          counts,
          ngramStarts: starts,
          ceBefore,
          ceAfter,
        }
      : null;
  const base: Omit<Boundary, 'seq'> = {
    type: 'boundary',
    t,
    trigger,
    outcome: 'disabled',
    why,
    source: settings.text_source,
    text,
    ratio,
    novelty: ratio === null ? null : 1 - ratio,
    nearestStep: near.index === null ? null : (state.accepted[near.index]?.step ?? null),
    tokens: columns(noCe, noCe),
    meanWeight:
      positive.length === 0 ? null : positive.reduce((a, b) => a + b, 0) / positive.length,
    losses: [],
    gradNorms: [],
    kl: null,
    klInContext: null,
    updates: state.updates,
    deltaNorm: null,
    restored: false,
  };
  const accepted = [...state.accepted, { step: t, words: textWords, ids }];
  if (verdict === 'rolled_back_ratio') {
    const restored = state.dirty;
    const note = restored ? '' : ' There was nothing to undo.';
    return {
      boundary: { ...base, outcome: verdict, why: why + note, restored },
      state: restored ? await rollBack(state, ports) : state,
    };
  }
  if (verdict !== 'train') return { boundary: { ...base, outcome: verdict }, state };
  if (settings.observe_only) {
    const ceBefore = await learner.measure(trainText, signal);
    return {
      boundary: {
        ...base,
        outcome: 'observed',
        why: `${why} Observe-only: it would have trained here.`,
        tokens: columns(ceBefore, noCe),
      },
      state: { ...state, accepted },
    };
  }

  const result = await learner.train(trainText, settings, signal, (done, total) =>
    onProgress({ type: 'phase', t, phase: 'train', done, total }),
  );
  const every = settings.log_kl_every_n_updates;
  const due = every > 0 && (state.updates + 1) % every === 0;
  onProgress({ type: 'phase', t, phase: 'measure', done: 0, total: 1 });
  const kl = due ? await learner.klFromStart(trainText, signal) : null;
  const klInContext = due ? await learner.klAtPrompt(conversationIds(conversation), signal) : null;
  const deltaNorm = await learner.deltaNorm();
  const trainedBoundary = {
    ...base,
    tokens: columns(result.ceBefore, result.ceAfter),
    losses: result.losses.map(finiteOrMax),
    gradNorms: result.gradNorms.map(finiteOrMax),
    kl: kl === null ? null : finiteOrMax(kl),
    klInContext: klInContext === null ? null : finiteOrMax(klInContext),
    deltaNorm: finiteOrMax(deltaNorm),
  };
  const refusal = driftOf(result, kl, deltaNorm, settings);
  if (refusal) {
    return {
      boundary: { ...trainedBoundary, outcome: 'rolled_back_kl', why: refusal, restored: true },
      state: await rollBack(state, ports),
    };
  }
  const updates = state.updates + 1;
  return {
    boundary: { ...trainedBoundary, outcome: 'updated', why: `Updated. ${why}`, updates },
    state: { ...state, accepted, updates, dirty: true },
  };
}

/** Restores the episode start from what was written, never from a copy in memory. */
export async function rollBack(
  state: BoundaryState,
  { learner, snapshots }: BoundaryPorts,
): Promise<BoundaryState> {
  learner.restore(await snapshots.load());
  return { ...state, dirty: false, rollbacks: state.rollbacks + 1 };
}

/** The text of a boundary as ids that were sampled or read, never re-encoded. */
function updateText(turn: Turn, settings: Settings, learner: Learner) {
  const { generation, observation, observationIds, observationSpan } = turn.step;
  const before = conversationIds(
    fitConversation(turn.prior, trainContextLimit) ?? { head: turn.prior.head, turns: [] },
  );
  const inContext = settings.train_context === 'conversation';
  switch (settings.text_source) {
    case 'self': {
      const { ids } = generation;
      return {
        text: turn.text,
        ids,
        context: inContext ? before : learner.bos,
        trained: turn.ignoredFrom === null ? ids.length : idsUpTo(ids, turn.ignoredFrom, learner),
      };
    }
    case 'env': {
      const [start, end] = observationSpan;
      const ids = observationIds.slice(start, end);
      return {
        text: observation,
        ids,
        context: inContext
          ? [...before, ...generation.ids, ...observationIds.slice(0, start)]
          : learner.bos,
        trained: ids.length,
      };
    }
    case 'summary':
      throw new LabError(
        'unsupported',
        'Update text "summary" needs a summary model behind an endpoint, and none is connected. Choose "self" or "env".',
      );
    default:
      return settings.text_source satisfies never;
  }
}

/** How many ids give the first `length` characters of the text. */
function idsUpTo(ids: readonly number[], length: number, learner: Learner): number {
  for (let n = 0; n < ids.length; n++) {
    if (learner.decode(ids.slice(0, n)).length >= length) return n;
  }
  return ids.length;
}

/** Why an update must be undone, in words; null when it may stay. */
function driftOf(
  { losses }: TrainResult,
  kl: number | null,
  deltaNorm: number,
  settings: Settings,
): string | null {
  const numbers = [...losses, deltaNorm, kl ?? 0];
  // Kept even when rollbacks are off: a policy of NaNs could not act at all.
  if (!numbers.every(Number.isFinite))
    return 'Rolled back: the update overflowed (a loss or the KL is not a finite number).';
  const limit = settings.kl_divergence_limit;
  if (!settings.rollback_enable || kl === null || kl <= limit) return null;
  return `Rolled back: KL to the episode start is ${kl.toFixed(3)} nats, above the limit of ${limit}.`;
}

/** JSON has no NaN: an overflowed number is recorded as the largest one. */
function finiteOrMax(x: number): number {
  return Number.isFinite(x) ? x : Number.MAX_VALUE;
}
