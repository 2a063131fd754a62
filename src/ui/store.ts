/** The page's one store: state, dispatch, and what is remembered between visits. */

import { create } from 'zustand';
import { fieldNames, fieldProblem, type Settings } from '../config.ts';
import { startSettings } from './defaults.ts';
import { initialState, reduce, type Theme, type UiEvent, type UiState } from './state.ts';

const settingsKey = 'attt.settings';
const themeKey = 'attt.theme';

/** Reads the state in a component; the selector's result decides when it draws again. */
export const useLab = create<UiState>()(() => ({
  ...initialState,
  settings: rememberedSettings(),
  theme: rememberedTheme(),
}));

/** Applies events in order as one change, so that the page draws once. */
export function dispatch(...events: readonly UiEvent[]): void {
  const before = useLab.getState();
  const after = events.reduce(reduce, before);
  if (after === before) return;
  useLab.setState(after, true);
  if (after.settings !== before.settings) remember(settingsKey, JSON.stringify(after.settings));
  if (after.theme !== before.theme) remember(themeKey, after.theme);
}

function rememberedTheme(): Theme {
  const found = recall(themeKey);
  return found === 'light' || found === 'dark' ? found : 'system';
}

/** Each remembered value that is still a valid one; an older page may have had other fields. */
function rememberedSettings(): Settings {
  let found: unknown;
  try {
    found = JSON.parse(recall(settingsKey) ?? '{}');
  } catch {
    return startSettings;
  }
  const values = new Map(Object.entries(found ?? {}));
  const valid = fieldNames.filter(
    (name) => values.has(name) && fieldProblem(name, values.get(name)) === null,
  );
  return {
    ...startSettings,
    ...Object.fromEntries(valid.map((name) => [name, values.get(name)])),
  };
}

/** Storage may be refused (private windows); the page then simply forgets. */
function recall(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function remember(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Nothing to tell: the page works the same, it only starts from the defaults next time.
  }
}
