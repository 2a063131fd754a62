/** The settings that the page starts from, and what changes are measured against. */

import { hasPreset, type Settings, settingsFor } from '../config.ts';

export const startWorld = 'household';
export const startSettings = settingsFor(startWorld);

/** The world that an id or its first word names; the one that the page starts with where that is none. */
export function knownWorld(world: string | undefined): string {
  return world !== undefined && hasPreset(world) ? world : startWorld;
}

/** The defaults of {@link knownWorld}. */
export function usualSettings(world: string | undefined): Settings {
  return settingsFor(knownWorld(world));
}
