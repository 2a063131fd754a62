/** The settings that the page starts from and measures changes against: the household's. */

import { settingsFor } from '../config.ts';

export const startWorld = 'household';
export const startSettings = settingsFor(startWorld);
