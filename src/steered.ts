/** Whether a person took part in an episode, so that its run is no result of its settings alone. */

import type { EpisodeEvent } from './records.ts';

/**
 * True for what only a person asks for while an episode runs: "Update now" and "Roll back now". Also where it was refused or
 * had nothing to undo: a refused update may have rolled back, and an episode played again costs less than a wrong row.
 */
export function isSteering(event: EpisodeEvent): boolean {
  return event.type === 'boundary' ? event.trigger === 'manual' : event.type === 'rolled_back';
}
