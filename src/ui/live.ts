/** The episode that the engine runs, or ran last, in this tab, as folds over what the engine tells of it. */

import type { EpisodeEvent, Progress, RunSummary } from '../records.ts';
import type { Control } from '../workers/api.ts';
import { foldEvent, type RunView } from './run-view.ts';
import { live as say } from './strings.ts';

export type RunStatus = 'starting' | 'running' | 'pausing' | 'paused' | 'stopping' | 'ended';

/** The episode that the engine runs, or ran last, in this tab. */
export interface LiveRun {
  readonly status: RunStatus;
  readonly summary: RunSummary | null;
  readonly view: RunView | null;
  readonly phase: Extract<Progress, { type: 'phase' }> | null;
  /** The step in progress, as it is being written. */
  readonly writing: {
    readonly t: number;
    readonly text: string;
    readonly tokens: number;
    readonly firstAt: number;
    /** null until there are enough tokens to tell. */
    readonly tokensPerSecond: number | null;
  } | null;
  /** What was asked for at the next boundary of the loop and has not happened yet. */
  readonly asked: 'update_now' | 'roll_back_now' | null;
}

/** A run that was asked for and has not begun. */
export const requestedRun: LiveRun = {
  status: 'starting',
  summary: null,
  view: null,
  phase: null,
  writing: null,
  asked: null,
};

/** The run has begun and has a name; one that was stopped before is still to stop. */
export function withStart(live: LiveRun, summary: RunSummary): LiveRun {
  return { ...live, status: live.status === 'stopping' ? 'stopping' : 'running', summary };
}

/** The run after one more event, and what a screen reader says of it; null where that is nothing new. */
export function withEvent(
  before: LiveRun,
  event: EpisodeEvent,
): { readonly live: LiveRun; readonly status: string | null } {
  const label = { id: before.summary?.id ?? null, name: before.summary?.goal ?? say.run };
  const live = { ...before, view: foldEvent(before.view, event, label) };
  switch (event.type) {
    case 'episode_started':
      return { live, status: say.runStarted };
    case 'step':
      return {
        live: { ...live, writing: null, phase: null },
        status: event.action ? say.step(event.t, event.action) : say.stepNoAction(event.t),
      };
    case 'boundary':
      return {
        live: { ...live, phase: null, asked: event.trigger === 'manual' ? null : live.asked },
        status: event.why,
      };
    case 'rolled_back':
      return {
        live: { ...live, phase: null, asked: null },
        status: event.restored ? say.rolledBack : say.nothingToRollBack,
      };
    case 'episode_ended':
      return { live: { ...live, writing: null, phase: null }, status: null };
    default:
      return event satisfies never;
  }
}

/** What happens right now, at a time on any clock in milliseconds. */
export function withProgress(live: LiveRun, progress: Progress, at: number): LiveRun {
  switch (progress.type) {
    case 'phase':
      return { ...live, phase: progress, status: awake(live.status) };
    case 'token': {
      const before = live.writing?.t === progress.t ? live.writing : null;
      const firstAt = before?.firstAt ?? at;
      const tokens = (before?.tokens ?? 0) + 1;
      const seconds = (at - firstAt) / 1000;
      return {
        ...live,
        status: awake(live.status),
        phase: null,
        writing: {
          t: progress.t,
          text: (before?.text ?? '') + progress.piece,
          tokens,
          firstAt,
          tokensPerSecond: tokens > 3 && seconds > 0 ? (tokens - 1) / seconds : null,
        },
      };
    }
    case 'paused':
      return live.status === 'stopping'
        ? live
        : { ...live, status: 'paused', phase: null, writing: null };
    default:
      return progress satisfies never;
  }
}

/** Work that goes on says that a run which was starting or paused is running. */
function awake(status: RunStatus): RunStatus {
  return status === 'starting' || status === 'paused' ? 'running' : status;
}

/** What a person asked for, until the engine answers. */
export function withControl(live: LiveRun, command: Control): LiveRun {
  switch (command) {
    case 'pause':
      return live.status === 'running' ? { ...live, status: 'pausing' } : live;
    case 'resume':
    case 'step':
      return live.status === 'ended' || live.status === 'stopping'
        ? live
        : { ...live, status: command === 'step' ? 'pausing' : 'running' };
    case 'stop':
      return live.status === 'ended' ? live : { ...live, status: 'stopping' };
    case 'update_now':
    case 'roll_back_now':
      return { ...live, asked: command };
    default:
      return command satisfies never;
  }
}
