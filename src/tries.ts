/** Methods that try a failed task again: what the next try begins with. */

import type { EpisodeEnded, RunManifest } from './records.ts';

/** True when no try comes after this one, so that nothing has to be written for it. */
export function isLastTry({ reflections = [], settings }: RunManifest): boolean {
  return reflections.length + 1 >= settings.reflexion_tries;
}

/** All reflections on the tries so far, for the prompt of the next one; null when there is none to come. */
export function nextTry(manifest: RunManifest, ended: EpisodeEnded): readonly string[] | null {
  const written = ended.reflection?.text.trim();
  if (written === undefined || isLastTry(manifest)) return null;
  return [...(manifest.reflections ?? []), written];
}
