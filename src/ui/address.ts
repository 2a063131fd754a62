/** Keeps the page's address and what is on screen in step: a step can be linked to, and a link opens it. */

import { changedFields, type Settings, settingsInto } from '../config.ts';
import { chooseLinkedTask, openDemo, openRun } from './actions.ts';
import { chartKinds, ownTexts, readOwn } from './chart-choices.ts';
import { openComparison, pickRuns } from './compare-actions.ts';
import { knownWorld, startWorld, usualSettings } from './defaults.ts';
import { type Link, readLink, writeLink } from './link.ts';
import { initialReading } from './reading.ts';
import { inform } from './report.ts';
import { demoName, type RunView } from './run-view.ts';
import { changesText, linkedSettings } from './shared-settings.ts';
import { shownRun, type UiEvent, type UiState } from './state.ts';
import { dispatch, rememberedSettings, shareSettings, useLab } from './store.ts';
import { sharedSettings as say } from './strings.ts';
import { linkedTask } from './task-place.ts';

/** Browsers refuse more than some hundred changes of the address in half a minute. */
const writeAfterMs = 300;

/**
 * Copies the whole address of a step, or of one of its boundaries by its sequence number. False where the browser
 * refuses it: then it is looked at, so that it stands in the address.
 */
export async function copyAddress(
  run: RunView,
  step: number,
  boundary: number | null,
): Promise<boolean> {
  const url = new URL(location.href);
  url.hash = writeLink(url.hash, { run: nameOf(run), step, boundary, token: null });
  try {
    await navigator.clipboard.writeText(url.href);
    return true;
  } catch {
    dispatch({ type: 'step_selected', t: step, ...(boundary !== null && { seq: boundary }) });
    return false;
  }
}

/** Looks at the run on screen as the address says: for one that was opened by another way. */
export function applyAddress(): Promise<void> {
  return openLink({ ...readLink(location.hash), run: null });
}

/** Opens what the address names, then follows every change; until the returned function is called. */
export function followAddress(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let written = location.hash;
  tellSettings();
  const open = () => {
    void takeStart();
    if (location.hash !== written) void openLink(readLink(location.hash));
    written = location.hash;
  };
  void openLink(readLink(location.hash)).then(() => {
    written = location.hash;
  });
  const unsubscribe = useLab.subscribe((state, before) => {
    if (sameAddress(state, before)) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      const hash = writeLink(location.hash, linkOf(useLab.getState()));
      written = hash;
      setHash(hash);
    }, writeAfterMs);
  });
  window.addEventListener('hashchange', open);
  return () => {
    clearTimeout(timer);
    unsubscribe();
    window.removeEventListener('hashchange', open);
  };
}

function setHash(hash: string): void {
  history.replaceState(null, '', hash || `${location.pathname}${location.search}`);
}

/** The page began with the settings of its address: told where those of the last visit were others. */
function tellSettings(): void {
  const { settings } = useLab.getState();
  const world = knownWorld(readLink(location.hash).task?.[0]);
  const own = settingsInto(world, startWorld, rememberedSettings());
  if (!linkedSettings(location.hash)) shareOwn(settings);
  else if (
    changedFields(own, usualSettings(world)).length > 0 &&
    changedFields(own, settings).length > 0
  ) {
    inform(say.ofLink, `${changesText(own, settings)} ${say.ownKept}`);
  }
}

/**
 * Another address was entered: its task and settings are taken whole, and an address without any is given those in use.
 * The task first, as another world brings defaults of its own.
 */
async function takeStart(): Promise<void> {
  const { settings } = useLab.getState();
  const linked = linkedSettings(location.hash);
  if (!linked) {
    shareOwn(settings);
    setHash(writeLink(location.hash, taskIn(useLab.getState())));
    return;
  }
  await chooseLinkedTask();
  dispatch({ type: 'settings_replaced', settings: linked });
  if (changedFields(linked, settings).length > 0) {
    inform(say.ofLink, changesText(settings, linked));
  }
}

/** An address without settings says that all are as usual: where they are not, it is given them. */
function shareOwn(settings: Settings): void {
  const usual = usualSettings(useLab.getState().task?.env);
  if (changedFields(settings, usual).length > 0) shareSettings(settings);
}

/** A run opened from a file has no name that another visit could open. */
function nameOf(run: RunView): string | null {
  return run.id ?? (run.name === demoName ? 'demo' : null);
}

/** Until a task is chosen the address keeps the one that it names. */
function taskIn({ task, environments }: UiState): Partial<Link> {
  return task ? { task: linkedTask(task, environments) } : {};
}

function linkOf(state: UiState): Partial<Link> {
  const run = shownRun(state);
  const { reading, comparing } = state;
  const usual = reading.charts.every((kind, place) => kind === initialReading.charts[place]);
  return {
    run: run && nameOf(run),
    step: run && state.selected,
    boundary: run && reading.boundary,
    token: run && reading.token,
    colour: state.quantity === 'weight' ? null : state.quantity,
    tokens: state.tokenView === 'text' ? null : state.tokenView,
    panel: reading.lower === 'tokens' ? null : reading.lower,
    charts: usual ? null : reading.charts,
    smoothing: reading.smoothing === 0 ? null : reading.smoothing,
    own: Object.keys(reading.own).length === 0 ? null : ownTexts(reading.own),
    axis: reading.axis === 'step' ? null : reading.axis,
    log: reading.log || null,
    range: reading.range,
    // A file's run is known to this visit only.
    compare: comparing.open ? comparing.picked.filter((id) => !id.startsWith('file:')) : null,
    ...taskIn(state),
  };
}

function sameAddress(a: UiState, b: UiState): boolean {
  return (
    shownRun(a)?.started === shownRun(b)?.started &&
    a.selected === b.selected &&
    a.task === b.task &&
    a.quantity === b.quantity &&
    a.tokenView === b.tokenView &&
    a.reading === b.reading &&
    a.comparing.open === b.comparing.open &&
    a.comparing.picked === b.comparing.picked
  );
}

async function openLink(link: Link): Promise<void> {
  const { run, step, boundary, token, compare } = link;
  const shown = shownRun(useLab.getState());
  if (run !== null && (!shown || nameOf(shown) !== run)) {
    await (run === 'demo' ? openDemo() : openRun(run));
  }
  const there = shownRun(useLab.getState());
  // Another run was asked for meanwhile, or this one could not be opened: its steps mean nothing there.
  if (run === null || (there && nameOf(there) === run)) {
    const known = there?.boundaries.some(({ t, seq }) => t === step && seq === boundary);
    const seq = known && boundary !== null ? { seq: boundary } : {};
    if (step !== null) dispatch({ type: 'step_selected', t: step, ...seq });
    if (token !== null) dispatch({ type: 'token_chosen', j: token });
  }
  dispatch(...viewEvents(link));
  if (compare) {
    // Chosen first: whatever writes the address meanwhile has to know them.
    dispatch({ type: 'compare_picked', ids: compare });
    await openComparison();
    await pickRuns(compare);
  }
}

/** How the page is to look; what a link does not name stays as it is. */
function viewEvents(link: Link): readonly UiEvent[] {
  const { colour, tokens, panel, charts, smoothing, own, axis, log, range } = link;
  return [
    ...(colour ? [{ type: 'quantity', quantity: colour } as const] : []),
    ...(tokens ? [{ type: 'token_view', view: tokens } as const] : []),
    ...(panel ? [{ type: 'lower_panel', panel } as const] : []),
    ...(charts ?? []).map((kind, place) => ({ type: 'chart', place, kind }) as const),
    ...(smoothing !== null ? [{ type: 'smoothing', smoothing } as const] : []),
    ...chartKinds.flatMap((kind) => {
      const choice = readOwn(own ?? [])[kind];
      return choice ? [{ type: 'own_choice', kind, choice } as const] : [];
    }),
    ...(axis ? [{ type: 'step_axis', axis } as const] : []),
    ...(log ? [{ type: 'log_axis', on: true } as const] : []),
    ...(range ? [{ type: 'range', range } as const] : []),
  ];
}
