/** What episodes changed in their tasks' files, as SWE-bench's predictions; nothing for worlds without files. */

import { type Prediction, predictionOf } from '../formats/predictions.ts';
import type { EpisodeEvent, EpisodeStarted } from '../records.ts';
import { envHandlers } from '../workers/env-server.ts';

/** Keeps the actions of one episode after the other. */
export class Predictions {
  #started: EpisodeStarted | null = null;
  #actions: string[] = [];

  take(event: EpisodeEvent): void {
    if (event.type === 'episode_started') {
      this.#started = event;
      this.#actions = [];
    }
    if (event.type === 'step') this.#actions.push(event.action);
  }

  /** Of the episode so far, its actions played again; null where it has no files, or did not begin. */
  async current(): Promise<Prediction | null> {
    if (this.#started === null) return null;
    const { manifest, task } = this.#started;
    const { signal } = new AbortController();
    const patch = await envHandlers.calls.patch({ task, actions: this.#actions }, signal);
    return patch === null ? null : predictionOf(manifest, task, patch);
  }
}
