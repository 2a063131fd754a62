/** One run as the page reads it: a fold over its event stream, live or recorded. Knows no engine. */

import type {
  ActionClass,
  Boundary,
  BoundaryOutcome,
  EpisodeEnded,
  EpisodeEvent,
  EpisodeStarted,
  Progress,
  RolledBack,
  StepTaken,
  StopReason,
} from '../records.ts';
import { runView as say } from './strings.ts';

/** What the recorded run that comes with the page is called. */
export const demoName = say.demoName;

export type TranscriptItem = StepTaken | Boundary | RolledBack;

export interface RunView {
  /** The stored run's id; null for a run that was opened from a file. */
  readonly id: string | null;
  /** What the page calls it where it has no goal to show. */
  readonly name: string;
  readonly started: EpisodeStarted;
  readonly steps: readonly StepTaken[];
  readonly boundaries: readonly Boundary[];
  /** Steps, boundaries and manual rollbacks, in the order in which they happened. */
  readonly items: readonly TranscriptItem[];
  readonly ended: EpisodeEnded | null;
  /** The sequence number that comes next; an event with a lower one was seen already. */
  readonly nextSeq: number;
}

/** The view before an `episode_started` event; only its label is known. */
export interface RunLabel {
  readonly id: string | null;
  readonly name: string;
}

/** Adds one event. An event seen already changes nothing; null until the run has started. */
export function foldEvent(
  view: RunView | null,
  event: EpisodeEvent,
  label: RunLabel,
): RunView | null {
  if (event.type === 'episode_started') {
    if (view) return view;
    return {
      ...label,
      started: event,
      steps: [],
      boundaries: [],
      items: [],
      ended: null,
      nextSeq: event.seq + 1,
    };
  }
  if (!view || event.seq < view.nextSeq) return view;
  const next = { ...view, nextSeq: event.seq + 1 };
  switch (event.type) {
    case 'step':
      return { ...next, steps: [...view.steps, event], items: [...view.items, event] };
    case 'boundary':
      return { ...next, boundaries: [...view.boundaries, event], items: [...view.items, event] };
    case 'rolled_back':
      return { ...next, items: [...view.items, event] };
    case 'episode_ended':
      return { ...next, ended: event };
    default:
      return event satisfies never;
  }
}

/** A whole stream at once; null when it holds no `episode_started`. */
export function foldRun(events: readonly EpisodeEvent[], label: RunLabel): RunView | null {
  const started = events.find((event) => event.type === 'episode_started');
  if (!started) return null;
  const rest = events.filter((event) => event.seq > started.seq);
  const items = rest.filter(
    (event) => event.type === 'step' || event.type === 'boundary' || event.type === 'rolled_back',
  );
  return {
    ...label,
    started,
    steps: items.filter((event) => event.type === 'step'),
    boundaries: items.filter((event) => event.type === 'boundary'),
    items,
    ended: rest.find((event) => event.type === 'episode_ended') ?? null,
    nextSeq: (rest.at(-1)?.seq ?? started.seq) + 1,
  };
}

/** The events of a view again, in order: what a file of the run holds. */
export function eventsOf(view: RunView): readonly EpisodeEvent[] {
  return [view.started, ...view.items, ...(view.ended ? [view.ended] : [])];
}

/** True when a boundary put the adapter back to the episode start. */
export function isRollback(item: TranscriptItem): boolean {
  if (item.type === 'rolled_back') return item.restored;
  if (item.type !== 'boundary') return false;
  return (
    item.restored && (item.outcome === 'rolled_back_kl' || item.outcome === 'rolled_back_ratio')
  );
}

/**
 * The boundary whose tokens the heatmap shows at step t: the one of this `seq`, which tells apart those of one
 * step, else the last one at or before it that has any.
 */
export function boundaryAt(
  view: RunView,
  t: number | null,
  seq: number | null = null,
): Boundary | null {
  const limit = t ?? Number.POSITIVE_INFINITY;
  const withTokens = view.boundaries.filter((boundary) => boundary.tokens);
  const named = withTokens.find((boundary) => boundary.seq === seq);
  if (named) return named;
  return withTokens.findLast((boundary) => boundary.t <= limit) ?? withTokens[0] ?? null;
}

/** The boundary before (-1) or after (1) the one of step t that is looked at: that of this `seq`, else its last one. */
export function boundaryBeside(
  { boundaries }: RunView,
  way: -1 | 1,
  t: number,
  seq: number | null,
): Boundary | null {
  const here = seq ?? boundaries.findLast((one) => one.t === t)?.seq ?? 0;
  const isBefore = (one: Boundary) => one.t < t || (one.t === t && one.seq < here);
  const isAfter = (one: Boundary) => one.t > t || (one.t === t && one.seq > here);
  return (way < 0 ? boundaries.findLast(isBefore) : boundaries.find(isAfter)) ?? null;
}

/** How good, bad or neutral something is; each has its colour and its mark. */
export type Tone = 'good' | 'bad' | 'warn' | 'quiet' | 'note';

interface Wording {
  readonly label: string;
  readonly tone: Tone;
  readonly help: string;
}

/** What a boundary's outcome is called. */
export function outcomeWording(outcome: BoundaryOutcome, restored: boolean): Wording {
  switch (outcome) {
    case 'disabled':
      return { label: say.updatesOff, tone: 'quiet', help: say.updatesOffHelp };
    case 'too_early':
      return {
        label: say.tooEarly,
        tone: 'quiet',
        help: say.tooEarlyHelp,
      };
    case 'no_text':
      return { label: say.noText, tone: 'quiet', help: say.noTextHelp };
    case 'rolled_back_ratio':
      return {
        label: restored ? say.rolledBackRepetition : say.repetitionOverLimit,
        tone: 'bad',
        help: say.rolledBackRepetitionHelp,
      };
    case 'max_updates':
      return {
        label: say.maxUpdates,
        tone: 'quiet',
        help: say.maxUpdatesHelp,
      };
    case 'skipped_novelty':
      return {
        label: say.skipped,
        tone: 'warn',
        help: say.skippedHelp,
      };
    case 'observed':
      return {
        label: say.observedOnly,
        tone: 'note',
        help: say.observedOnlyHelp,
      };
    case 'updated':
      return {
        label: say.updated,
        tone: 'good',
        help: say.updatedHelp,
      };
    case 'rolled_back_kl':
      return {
        label: restored ? say.rolledBackKl : say.klOverLimit,
        tone: 'bad',
        help: say.rolledBackKlHelp,
      };
    case 'discarded_check':
      return {
        label: say.discarded,
        tone: 'bad',
        help: say.discardedHelp,
      };
    default:
      return outcome satisfies never;
  }
}

/** What an action's class is called. */
export function actionWording(actionClass: ActionClass): Wording {
  switch (actionClass) {
    case 'effective':
      return {
        label: say.effective,
        tone: 'good',
        help: say.effectiveHelp,
      };
    case 'without_effect':
      return {
        label: say.noEffect,
        tone: 'quiet',
        help: say.noEffectHelp,
      };
    case 'not_admissible':
      return {
        label: say.notAdmissible,
        tone: 'warn',
        help: say.notAdmissibleHelp,
      };
    case 'malformed':
      return {
        label: say.noAction,
        tone: 'bad',
        help: say.noActionHelp,
      };
    case 'cut_off':
      return {
        label: say.cutOff,
        tone: 'bad',
        help: say.cutOffHelp,
      };
    default:
      return actionClass satisfies never;
  }
}

/** How an episode ended, in words. */
export function endWording(reason: StopReason): Wording {
  switch (reason) {
    case 'solved':
      return { label: say.solved, tone: 'good', help: say.solvedHelp };
    case 'failed':
      return { label: say.failed, tone: 'bad', help: say.failedHelp };
    case 'step_limit':
      return {
        label: say.stepLimit,
        tone: 'warn',
        help: say.stepLimitHelp,
      };
    case 'context_full':
      return {
        label: say.contextFull,
        tone: 'warn',
        help: say.contextFullHelp,
      };
    case 'stopped':
      return { label: say.stopped, tone: 'note', help: say.stoppedHelp };
    case 'environment_error':
      return {
        label: say.worldFailed,
        tone: 'bad',
        help: say.worldFailedHelp,
      };
    case 'engine_error':
      return {
        label: say.engineFailed,
        tone: 'bad',
        help: say.engineFailedHelp,
      };
    default:
      return reason satisfies never;
  }
}

/** What a phase of a step is called. */
export function phaseText(phase: Extract<Progress, { type: 'phase' }>['phase']): string {
  switch (phase) {
    case 'prefill':
      return say.reading;
    case 'environment':
      return say.acting;
    case 'train':
      return say.training;
    case 'measure':
      return say.measuring;
    case 'replay':
      return say.repeating;
    default:
      return phase satisfies never;
  }
}
