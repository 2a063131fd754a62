/** Keeps the page's address and what is on screen in step: a step can be linked to, and a link opens it. */

import { openDemo, openRun } from './actions.ts';
import { type Link, readLink, writeLink } from './link.ts';
import { demoName, type RunView } from './run-view.ts';
import { shownRun, type UiState } from './state.ts';
import { dispatch, useLab } from './store.ts';

/** Browsers refuse more than some hundred changes of the address in half a minute. */
const writeAfterMs = 300;

/** The whole address of a step, for the clipboard. */
export function addressOf(run: RunView, step: number, token: number | null = null): string {
  const url = new URL(location.href);
  url.hash = writeLink(url.hash, { run: nameOf(run), step, token });
  return url.href;
}

/** Opens what the address names, then follows every change; until the returned function is called. */
export function followAddress(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let written = location.hash;
  const open = () => {
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
      history.replaceState(null, '', hash || `${location.pathname}${location.search}`);
    }, writeAfterMs);
  });
  window.addEventListener('hashchange', open);
  return () => {
    clearTimeout(timer);
    unsubscribe();
    window.removeEventListener('hashchange', open);
  };
}

/** A run opened from a file has no name that another visit could open. */
function nameOf(run: RunView): string | null {
  return run.id ?? (run.name === demoName ? 'demo' : null);
}

function linkOf(state: UiState): Link {
  const run = shownRun(state);
  if (!run) return { run: null, step: null, token: null };
  return { run: nameOf(run), step: state.selected, token: state.reading.token };
}

function sameAddress(a: UiState, b: UiState): boolean {
  return (
    shownRun(a)?.started === shownRun(b)?.started &&
    a.selected === b.selected &&
    a.reading.token === b.reading.token
  );
}

async function openLink({ run, step, token }: Link): Promise<void> {
  const shown = shownRun(useLab.getState());
  if (run !== null && (!shown || nameOf(shown) !== run)) {
    await (run === 'demo' ? openDemo() : openRun(run));
  }
  if (step !== null) dispatch({ type: 'step_selected', t: step });
  if (token !== null) dispatch({ type: 'token_chosen', j: token });
}
