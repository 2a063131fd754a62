/** The settings that the page starts from, and what changes are measured against. */

import { hasPreset, type Settings, settingsFor } from '../config.ts';

export const startWorld = 'household';
export const startSettings = settingsFor(startWorld);

/** The defaults of a world, by its id or its id's first word; where it is not known, those that the page starts from. */
export function usualSettings(world: string | undefined): Settings {
  return world !== undefined && hasPreset(world) ? settingsFor(world) : startSettings;
}
