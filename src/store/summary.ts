/** A run's one-line summary as a fold over its events. */

import type { EpisodeEvent, RunManifest, RunSummary } from '../records.ts';
import { isSteering } from '../steered.ts';

/** The summary of a run that has no event yet. `createdAt` is ISO 8601. */
export function startSummary(id: string, createdAt: string, manifest: RunManifest): RunSummary {
  return {
    id,
    createdAt,
    manifest,
    goal: manifest.task.goal ?? '',
    steps: 0,
    updates: 0,
    rollbacks: 0,
    steered: false,
    reason: null,
    reward: 0,
  };
}

/** The summary after one more event. */
export function foldSummary(before: RunSummary, event: EpisodeEvent): RunSummary {
  const summary = isSteering(event) ? { ...before, steered: true } : before;
  switch (event.type) {
    case 'episode_started':
      return summary;
    case 'step':
      return { ...summary, steps: event.t, reward: summary.reward + event.reward };
    case 'boundary':
      return {
        ...summary,
        updates: event.updates,
        rollbacks: summary.rollbacks + Number(event.restored),
      };
    case 'rolled_back':
      return { ...summary, rollbacks: summary.rollbacks + Number(event.restored) };
    case 'episode_ended':
      return { ...summary, reason: event.reason };
    default:
      return event satisfies never;
  }
}
