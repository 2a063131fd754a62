/** One update boundary: choose the text, weigh its tokens, check, train, measure, and roll back on drift. */

import type { Settings } from '../config.ts';
import { LabError } from '../errors.ts';
import { countNgrams, coverage, tokenWeights } from '../math/ngram.ts';
import { nearest, words } from '../math/repetition.ts';
import type { Rng } from '../math/rng.ts';
import type {
  Learner,
  Snapshots,
  Summariser,
  TokenDrift,
  TrainResult,
  TrainText,
} from '../ports.ts';
import type { Boundary, Progress, Summary, TokenColumns, ValidationCheck } from '../records.ts';
import { type Conversation, conversationIds } from '../text/conversation.ts';
import { decide, decideBeforehand } from './decide.ts';
import type { Method } from './methods/method.ts';
import type { Asked } from './triggers.ts';
import { type Opening, openingText, type Turn, updateText } from './update-text.ts';
import { heldTexts, score } from './validation.ts';

/** An update text that was trained on, or would have been in observe-only mode. */
interface AcceptedText {
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

/**
 * Runs one boundary, after the latest step or before the first. When it throws, or is aborted, `before`
 * still holds; but an update whose measurement did not end may be in the adapter, and no event tells of
 * it: the episode must end there.
 */
export async function atBoundary(
  { trigger, cause }: Asked,
  before: BoundaryState,
  conversation: Conversation,
  rules: BoundaryRules,
  ports: BoundaryPorts,
  signal: AbortSignal,
): Promise<BoundaryResult> {
  const { learner, onProgress } = ports;
  const { settings, method, stream, contextLength } = rules;
  const step = before.turns.at(-1)?.step;
  if (!step && trigger !== 'before_acting') {
    throw new LabError('internal', 'A boundary before the first step.');
  }
  const t = step?.t ?? 0;
  const known = { trigger, t, enabled: settings.enabled, trains: method.trains };
  const asks = settings.text_source === 'summary' && !decideBeforehand(known, settings);
  const state = asks ? await withSummary(before, rules, ports.summaries, signal) : before;
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
    state.accepted.map((a) => a.words),
  );
  const ratio = hasText ? near.ratio : null;
  const { outcome: verdict, why } = decide(
    { ...known, ratio, excess, updates: state.updates },
    settings,
  );
  const history =
    settings.history === 'accepted'
      ? state.accepted.map((a) => a.trained.ids)
      : state.turns
          .slice(0, -1)
          .map((earlier) => updateText(earlier, settings, learner, contextLength).ids);
  const { counts, starts } = coverage(
    ids,
    settings.ngram_n,
    countNgrams(history, settings.ngram_n),
  );
  const novel = tokenWeights(counts, settings.w_min).map((w, j) =>
    first <= j && j < trained ? w : 0,
  );
  const weights = method.weigh?.(novel, stream('weigh', t)) ?? novel;
  const usable = novel.filter((w) => w > 0).length;
  const weightSum = weights.reduce((a, b) => a + b, 0);
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
    cause,
    outcome: 'disabled',
    why,
    source,
    text,
    ...(asks && turn?.summary && { summary: originOf(turn.summary) }),
    ratio,
    novelty: ratio === null ? null : 1 - ratio,
    nearestStep: near.index === null ? null : (state.accepted[near.index]?.step ?? null),
    tokens: columns(noCe, noCe),
    meanWeight: usable === 0 ? null : weightSum / usable,
    losses: [],
    gradNorms: [],
    kl: null,
    klInContext: null,
    updates: state.updates,
    deltaNorm: null,
    restored: false,
  };
  const accepted = [...state.accepted, { step: t, words: textWords, trained: trainText }];
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

  const held = heldTexts(
    state.turns,
    new Set([t, ...state.accepted.map(({ step }) => step)]),
    settings,
    learner,
    contextLength,
  );
  const untouched =
    held.length === 0
      ? null
      : { snapshot: await learner.snapshot(), score: await score(held, learner, signal) };
  const replay = stream('replay', t)
    .shuffle(state.accepted)
    .slice(0, settings.replay_texts)
    .map((earlier) => earlier.trained);
  const result = await learner.train([trainText, ...replay], settings, signal, (done, total) =>
    onProgress({ type: 'phase', t, phase: 'train', done, total }),
  );
  const every = settings.log_kl_every_n_updates;
  const due = every > 0 && (state.updates + 1) % every === 0;
  onProgress({ type: 'phase', t, phase: 'measure', done: 0, total: 1 });
  const drift = due
    ? await learner.driftFromStart(trainText, settings.log_alternatives, signal)
    : null;
  const kl = drift?.meanKl ?? null;
  const klInContext = due ? await learner.klAtPrompt(conversationIds(conversation), signal) : null;
  const deltaNorm = await learner.deltaNorm();
  const check: ValidationCheck | null = untouched && {
    texts: held.length,
    before: untouched.score,
    after: finiteOrMax(await score(held, learner, signal)),
  };
  const trainedTokens =
    (result.losses.length - 1) *
    [trainText, ...replay].reduce((sum, one) => sum + one.weights.filter((w) => w > 0).length, 0);
  const trainedBoundary = {
    ...base,
    tokens: withDrift(columns(result.ceBefore, result.ceAfter), drift, learner),
    losses: result.losses.map(finiteOrMax),
    gradNorms: result.gradNorms.map(finiteOrMax),
    kl: kl === null ? null : finiteOrMax(kl),
    klInContext: klInContext === null ? null : finiteOrMax(klInContext),
    deltaNorm: finiteOrMax(deltaNorm),
    trainedTokens,
    replayed: replay.length,
    check,
  };
  const refusal = driftOf(result, kl, deltaNorm, settings);
  if (refusal) {
    return {
      boundary: { ...trainedBoundary, outcome: 'rolled_back_kl', why: refusal, restored: true },
      state: await rollBack(state, ports),
    };
  }
  if (untouched && check && check.after > check.before) {
    learner.restore(untouched.snapshot);
    return {
      boundary: {
        ...trainedBoundary,
        outcome: 'discarded_check',
        why: `Discarded: the cross entropy of ${held.length} held texts rose from ${check.before.toFixed(3)} to ${check.after.toFixed(3)} nats.`,
      },
      state,
    };
  }
  const updates = state.updates + 1;
  return {
    boundary: { ...trainedBoundary, outcome: 'updated', why: `Updated. ${why}`, updates },
    state: { ...state, accepted, updates, dirty: true },
  };
}

/** The same with a summary at its last turn; one that is there already still holds. */
async function withSummary(
  state: BoundaryState,
  { settings, stream }: BoundaryRules,
  summaries: Summariser,
  signal: AbortSignal,
): Promise<BoundaryState> {
  const turn = state.turns.at(-1);
  if (!turn || turn.summary) return state;
  const trajectory = {
    task: state.opening.text,
    steps: state.turns.map(({ step }) => step),
    prior: turn.prior,
  };
  const rng = stream('summary', turn.step.t);
  const summary = await summaries.write(trajectory, settings, rng, signal);
  return { ...state, turns: [...state.turns.slice(0, -1), { ...turn, summary }] };
}

function originOf({ model, ids, stop }: Summary): Omit<Summary, 'text'> {
  return { model, ids, stop };
}

/** Restores the episode start from what was written, never from a copy in memory. */
export async function rollBack(
  state: BoundaryState,
  { learner, snapshots }: BoundaryPorts,
): Promise<BoundaryState> {
  learner.restore(await snapshots.load());
  return { ...state, dirty: false, rollbacks: state.rollbacks + 1 };
}

function withDrift(
  tokens: TokenColumns | null,
  drift: TokenDrift | null,
  learner: Learner,
): TokenColumns | null {
  if (!tokens || !drift) return tokens;
  const finite = (values: TokenDrift['kl']) =>
    values.map((value) => (value === null ? null : finiteOrMax(value)));
  const asked = drift.likeliest.some((likely) => likely.length > 0);
  return {
    ...tokens,
    kl: finite(drift.kl),
    entropy: finite(drift.entropy),
    ...(asked && {
      alternatives: drift.likeliest.map((likely) => {
        const pieces = learner.pieces(likely.map(({ id }) => id));
        return likely.map(({ id, logprob }, k) => ({
          id,
          piece: pieces[k] ?? '',
          logprob: finiteOrMax(logprob),
        }));
      }),
    }),
  };
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
