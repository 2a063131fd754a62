/** The page's one store: state, dispatch, and what is remembered between visits. */

import { create } from 'zustand';
import { fieldNames, fieldProblem, type Settings, settingsInto } from '../config.ts';
import { readChoices, writeChoices } from './chart-choices.ts';
import { startSettings, startWorld, usualSettings } from './defaults.ts';
import { readLink } from './link.ts';
import { linkedSettings, writeSharedSettings } from './shared-settings.ts';
import { initialState, reduce, type Theme, type UiEvent, type UiState } from './state.ts';

const settingsKey = 'attt.settings';
/** index.html reads it as well. */
const themeKey = 'attt.theme';
const notifyKey = 'attt.notify';
const sideKey = 'attt.side';
const chartsKey = 'attt.charts';
/** Browsers refuse more than some hundred changes of the address in half a minute. */
const shareAfterMs = 300;

/** Reads the state in a component; the selector's result decides when it draws again. */
export const useLab = create<UiState>()(() => ({
  ...initialState,
  settings: linkedSettings(addressHash()) ?? rememberedSettings(),
  theme: rememberedTheme(),
  side: recall(sideKey) !== 'closed',
  reading: { ...initialState.reading, ...readChoices(recall(chartsKey)) },
  notebook: { ...initialState.notebook, notify: recall(notifyKey) === 'true' },
}));

/** Applies events in order as one change, so that the page draws once. */
export function dispatch(...events: readonly UiEvent[]): void {
  const before = useLab.getState();
  const after = events.reduce(reduce, before);
  if (after === before) return;
  useLab.setState(after, true);
  if (after.settings !== before.settings) {
    // The next visit begins in the first world: what another one wants is not what the person changed.
    const env = after.task?.env ?? startWorld;
    remember(settingsKey, JSON.stringify(settingsInto(startWorld, env, after.settings)));
    shareSettings(after.settings);
  }
  if (after.notebook.notify !== before.notebook.notify) {
    remember(notifyKey, String(after.notebook.notify));
  }
  if (after.reading !== before.reading) {
    const [was, is] = [writeChoices(before.reading), writeChoices(after.reading)];
    if (was !== is) remember(chartsKey, is);
  }
  if (after.side !== before.side) remember(sideKey, after.side ? 'open' : 'closed');
  if (after.theme !== before.theme) remember(themeKey, after.theme);
}

function addressHash(): string {
  return typeof location === 'undefined' ? '' : location.hash;
}

let sharing: ReturnType<typeof setTimeout> | undefined;

/** Keeps the address in step, so that it can be sent to somebody as it stands. */
export function shareSettings(settings: Settings): void {
  if (typeof location === 'undefined') return;
  clearTimeout(sharing);
  sharing = setTimeout(() => {
    const { task } = useLab.getState();
    const world = task?.env ?? readLink(location.hash).task?.[0];
    const hash = writeSharedSettings(location.hash, settings, usualSettings(world));
    history.replaceState(null, '', hash || `${location.pathname}${location.search}`);
  }, shareAfterMs);
}

function rememberedTheme(): Theme {
  const found = recall(themeKey);
  return found === 'light' || found === 'dark' ? found : 'system';
}

/** Each remembered value that is still a valid one; an older page may have had other fields. */
export function rememberedSettings(): Settings {
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

/** Kernels that this page's storage asks for, as tests of the page do; null: none. */
export const storedKernelWish = (): string | null => recall('attt-kernels');

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
