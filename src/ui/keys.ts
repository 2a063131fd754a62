/** The keys of the page: steps, boundaries, play and pause, search, notes, back to the newest, help. Fields and windows keep their own. */

import { tinykeys } from 'tinykeys';
import { boundaryBeside } from './run-view.ts';
import { control } from './running.ts';
import { shownRun, shownStep, type UiState } from './state.ts';
import { dispatch, useLab } from './store.ts';

/** Listens until the returned function is called. */
export function listenToKeys(target: Window): () => void {
  const free = (action: () => void) => (event: KeyboardEvent) => {
    if (isTaken(event)) return;
    event.preventDefault();
    action();
  };
  const select = (t: number | null) => dispatch({ type: 'step_selected', t });
  const here = () => shownStep(useLab.getState());
  /** To the boundary before (-1) or after (1) the one on screen. */
  const boundary = (way: -1 | 1) => {
    const run = shownRun(useLab.getState());
    const to = run && boundaryBeside(run, way, here(), useLab.getState().reading.boundary);
    if (to) dispatch({ type: 'step_selected', t: to.t, seq: to.seq });
  };
  return tinykeys(target, {
    ArrowLeft: free(() => select(here() - 1)),
    ArrowRight: free(() => select(here() + 1)),
    k: free(() => select(here() - 1)),
    j: free(() => select(here() + 1)),
    '[': free(() => boundary(-1)),
    ']': free(() => boundary(1)),
    '/': free(() => document.querySelector<HTMLElement>('[data-find]')?.focus()),
    n: free(() => document.querySelector<HTMLElement>('[data-note]')?.click()),
    Home: free(() => select(1)),
    End: free(() => select(null)),
    Escape: free(() => {
      const last = useLab.getState().notices.at(-1);
      if (last) dispatch({ type: 'notice_dismissed', id: last.id });
      else if (useLab.getState().reading.enlarged) dispatch({ type: 'enlarged', panel: null });
      else if (useLab.getState().reading.playing) dispatch({ type: 'play', on: false });
      else select(null);
    }),
    Space: (event) => {
      if (isTaken(event) || isButton(event.target)) return;
      const meant = spaceMeans(useLab.getState());
      if (meant === null) return;
      event.preventDefault();
      if (event.repeat || meant === 'wait') return; // a key that is held was pressed once
      if (meant === 'play') dispatch({ type: 'play', on: !useLab.getState().reading.playing });
      else void control(meant);
    },
    'Shift+?': free(() => document.querySelector<HTMLElement>('[data-help]')?.click()),
  });
}

/** What Space does to the run on screen; `wait`: it is starting, or on its way to a pause or its end. */
export function spaceMeans(state: UiState): 'play' | 'pause' | 'resume' | 'wait' | null {
  if (state.opened) return 'play';
  const { live } = state;
  if (!live) return null;
  switch (live.status) {
    case 'ended':
      return live.view ? 'play' : null;
    case 'running':
      return 'pause';
    case 'paused':
      return 'resume';
    case 'starting':
    case 'pausing':
    case 'stopping':
      return 'wait';
    default:
      return live.status satisfies never;
  }
}

/** True when the key belongs to a field, an open window or a widget that has handled it. */
function isTaken(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || document.querySelector('dialog[open]')) return true;
  const { target, key } = event;
  if (!(target instanceof Element)) return false;
  if (target.matches('[type=radio]')) return key.startsWith('Arrow') || key === ' ';
  if (target.matches('[type=checkbox]')) return key === ' ';
  return target.matches('input, select, textarea, [contenteditable]');
}

function isButton(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches('button, summary, a');
}
