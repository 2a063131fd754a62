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

/** What the recorded run that comes with the page is called. */
export const demoName = 'Recorded demo run';

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

/** The boundary whose tokens the heatmap shows at step t: the last one at or before it that has any. */
export function boundaryAt(view: RunView, t: number | null): Boundary | null {
  const limit = t ?? Number.POSITIVE_INFINITY;
  const withTokens = view.boundaries.filter((boundary) => boundary.tokens);
  return withTokens.findLast((boundary) => boundary.t <= limit) ?? withTokens[0] ?? null;
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
      return { label: 'Updates off', tone: 'quiet', help: 'Training is switched off in this run.' };
    case 'too_early':
      return {
        label: 'Too early',
        tone: 'quiet',
        help: 'The boundary came before the first step at which this run may train.',
      };
    case 'no_text':
      return { label: 'No text', tone: 'quiet', help: 'There was nothing usable to train on.' };
    case 'rolled_back_ratio':
      return {
        label: restored ? 'Rolled back: repetition' : 'Repetition over its limit',
        tone: 'bad',
        help: 'The update text repeats an earlier one too closely, so the adapter went back to the episode start.',
      };
    case 'max_updates':
      return {
        label: 'Most updates reached',
        tone: 'quiet',
        help: 'This episode has had as many updates as its settings allow.',
      };
    case 'skipped_novelty':
      return {
        label: 'Skipped: too little new',
        tone: 'warn',
        help: 'Novelty 1 − r_k was under its threshold, so nothing was trained.',
      };
    case 'observed':
      return {
        label: 'Observed only',
        tone: 'note',
        help: 'It would have trained; in observe-only mode everything is measured and nothing is trained.',
      };
    case 'updated':
      return {
        label: 'Updated',
        tone: 'good',
        help: 'The adapter was trained on the update text and kept.',
      };
    case 'rolled_back_kl':
      return {
        label: restored ? 'Rolled back: KL' : 'KL over its limit',
        tone: 'bad',
        help: 'After training, the policy had moved further from the episode start than the KL limit allows.',
      };
    case 'discarded_check':
      return {
        label: 'Discarded: held texts got worse',
        tone: 'bad',
        help: 'Quick validation: texts that were never trained on became less likely, so this update alone was undone.',
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
        label: 'changed the world',
        tone: 'good',
        help: 'The world accepted the action and changed.',
      };
    case 'without_effect':
      return {
        label: 'no effect',
        tone: 'quiet',
        help: 'The world accepted the action, but nothing changed; looking around is of this kind.',
      };
    case 'not_admissible':
      return {
        label: 'not admissible',
        tone: 'warn',
        help: 'An action was read from the text, but the world does not accept it in this state.',
      };
    case 'malformed':
      return {
        label: 'no action',
        tone: 'bad',
        help: 'No action could be read from the text.',
      };
    case 'cut_off':
      return {
        label: 'cut off',
        tone: 'bad',
        help: 'The limit of tokens per step ended the text before an action.',
      };
    default:
      return actionClass satisfies never;
  }
}

/** How an episode ended, in words. */
export function endWording(reason: StopReason): Wording {
  switch (reason) {
    case 'solved':
      return { label: 'Solved', tone: 'good', help: 'The world says that the goal holds.' };
    case 'failed':
      return { label: 'Failed', tone: 'bad', help: 'The world ended the task without a reward.' };
    case 'step_limit':
      return {
        label: 'Step limit reached',
        tone: 'warn',
        help: 'The episode was cut at its step limit; the task counts as not solved.',
      };
    case 'context_full':
      return {
        label: 'Context full',
        tone: 'warn',
        help: 'The conversation no longer fits into the context of the model.',
      };
    case 'stopped':
      return { label: 'Stopped by you', tone: 'note', help: 'Everything up to here is kept.' };
    case 'environment_error':
      return {
        label: 'The world failed',
        tone: 'bad',
        help: 'The task environment crashed or took too long. This is not a failure of the agent.',
      };
    case 'engine_error':
      return {
        label: 'The engine failed',
        tone: 'bad',
        help: 'The model or the training stopped with an error. Everything up to here is kept.',
      };
    default:
      return reason satisfies never;
  }
}

/** What a phase of a step is called. */
export function phaseText(phase: Extract<Progress, { type: 'phase' }>['phase']): string {
  switch (phase) {
    case 'prefill':
      return 'reading the conversation';
    case 'decode':
      return 'writing';
    case 'environment':
      return 'acting in the world';
    case 'train':
      return 'training the adapter';
    case 'measure':
      return 'measuring the drift';
    case 'snapshot':
      return 'saving the adapter';
    case 'replay':
      return 'repeating what was recorded';
    default:
      return phase satisfies never;
  }
}
