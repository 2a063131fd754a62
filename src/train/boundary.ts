/** One update boundary: choose the text, weigh its tokens, check, train, measure, and roll back on drift. */

import { LabError } from '../errors.ts';
import type { Summariser } from '../ports.ts';
import type { Boundary, Summary } from '../records.ts';
import type { Conversation } from '../text/conversation.ts';
import { applyUpdate } from './apply-update.ts';
import type {
  BoundaryPorts,
  BoundaryResult,
  BoundaryRules,
  BoundaryState,
} from './boundary-state.ts';
import { type Candidate, candidateOf } from './candidate.ts';
import { decide, decideBeforehand } from './decide.ts';
import { tokenColumns } from './token-columns.ts';
import type { Asked } from './triggers.ts';

/**
 * Runs one boundary, after the latest step or before the first. When it throws, or is aborted, `before`
 * still holds; but an update whose measurement did not end may be in the adapter, and no event tells of
 * it: the episode must end there.
 */
export async function atBoundary(
  { trigger, cause, again }: Asked,
  before: BoundaryState,
  conversation: Conversation,
  rules: BoundaryRules,
  ports: BoundaryPorts,
  signal: AbortSignal,
): Promise<BoundaryResult> {
  const { learner } = ports;
  const { settings, method } = rules;
  const step = before.turns.at(-1)?.step;
  if (!step && trigger !== 'before_acting') {
    throw new LabError('internal', 'A boundary before the first step.');
  }
  const t = step?.t ?? 0;
  const known = {
    ...{ trigger, t, enabled: settings.enabled, trains: method.trains },
    accepted: before.accepted.length,
    again: again === undefined && before.accepted.some((earlier) => earlier.step === t),
  };
  const asks = settings.text_source === 'summary' && !decideBeforehand(known, settings);
  const state = asks ? await withSummary(before, rules, ports.summaries, signal) : before;
  const candidate = candidateOf(state, rules, learner);
  const { ratio, excess, trainText } = candidate;
  const dropped = trainText.weights.every((w) => w === 0);
  const { outcome, why } = decide({ ...known, ratio, excess, dropped }, settings);
  const summary = asks ? state.turns.at(-1)?.summary : undefined;
  const base: Omit<Boundary, 'seq' | 'outcome'> = {
    ...untrained(candidate),
    type: 'boundary',
    t,
    trigger,
    cause,
    why,
    ...(summary && { summary: originOf(summary) }),
    tokens: tokenColumns(candidate, settings, learner),
    updates: state.updates,
  };
  const accepted = [
    ...state.accepted,
    { step: t, words: candidate.words, trained: candidate.trainText },
  ];
  if (outcome === 'rolled_back_ratio') {
    const restored = state.dirty;
    const note = restored ? '' : ' There was nothing to undo.';
    return {
      boundary: { ...base, outcome, why: why + note, restored },
      state: restored ? await rollBack(state, ports) : state,
    };
  }
  if (outcome !== 'train') {
    return { boundary: { ...base, ...(known.again && unweighed), outcome }, state };
  }
  if (settings.observe_only) {
    const ceBefore = await learner.measure(candidate.trainText, signal);
    return {
      boundary: {
        ...base,
        outcome: 'observed',
        why: `${why} Observe-only: it would have trained here.`,
        tokens: tokenColumns(candidate, settings, learner, { ceBefore }),
      },
      state: { ...state, accepted },
    };
  }
  const { told, verdict } = await applyUpdate(
    candidate,
    t,
    state,
    conversation,
    rules,
    ports,
    signal,
  );
  switch (verdict.outcome) {
    case 'rolled_back_kl':
      return {
        boundary: { ...base, ...told, ...verdict, restored: true },
        state: await rollBack(state, ports),
      };
    case 'discarded_check':
      return { boundary: { ...base, ...told, ...verdict }, state };
    case 'updated': {
      const updates = state.updates + 1;
      const words = ['Updated.', why, ...(verdict.note ? [verdict.note] : [])];
      return {
        boundary: { ...base, ...told, outcome: verdict.outcome, why: words.join(' '), updates },
        state: { ...state, accepted, updates, dirty: true },
      };
    }
    default:
      return verdict satisfies never;
  }
}

/** What an event tells of a candidate that was not trained on. */
function untrained({ source, text, ratio, nearestStep, meanWeight }: Candidate) {
  return {
    source,
    text,
    ratio,
    novelty: ratio === null ? null : 1 - ratio,
    nearestStep,
    meanWeight,
    losses: [],
    gradNorms: [],
    kl: null,
    klInContext: null,
    deltaNorm: null,
    restored: false,
  } as const;
}

/** What an event tells of a text that was accepted already: it is not compared with itself, nor counted in itself. */
const unweighed = {
  ...{ ratio: null, novelty: null, nearestStep: null, meanWeight: null, tokens: null },
} as const;

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

function originOf({ text: _, ...origin }: Summary): Omit<Summary, 'text'> {
  return origin;
}

/** Restores the episode start from what was written, never from a copy in memory. */
export async function rollBack(
  state: BoundaryState,
  { learner, snapshots }: BoundaryPorts,
): Promise<BoundaryState> {
  learner.restore(await snapshots.load());
  return { ...state, dirty: false, rollbacks: state.rollbacks + 1 };
}
