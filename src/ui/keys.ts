/** The keys of the page: steps, boundaries, play and pause, search, notes, back to the newest, help. Fields and windows keep their own. */

import { tinykeys } from 'tinykeys';
import { control } from './running.ts';
import { shownRun, shownStep } from './state.ts';
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
  /** The boundary before (-1) or after (1) the step on screen. */
  const boundary = (way: -1 | 1) => {
    const steps = shownRun(useLab.getState())?.boundaries.map(({ t }) => t) ?? [];
    const t = way < 0 ? steps.findLast((one) => one < here()) : steps.find((one) => one > here());
    if (t !== undefined) select(t);
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
      const state = useLab.getState();
      const status = state.opened ? null : state.live?.status;
      const recorded = shownRun(state) && status !== 'running' && status !== 'paused';
      if (!recorded && status !== 'running' && status !== 'paused') return;
      event.preventDefault();
      if (recorded) dispatch({ type: 'play', on: !state.reading.playing });
      else void control(status === 'paused' ? 'resume' : 'pause');
    },
    'Shift+?': free(() => document.querySelector<HTMLElement>('[data-help]')?.click()),
  });
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
