/** One tab of the notebook writes, the others read: a Web Lock says which, a channel asks for a change. */

import { refreshRuns } from './actions.ts';
import { readShelf } from './adapter-shelf-state.ts';
import { refreshModels } from './load.ts';
import { readNotes } from './notes.ts';
import { dispatch, useLab } from './store.ts';
import { hearOtherTabs, type TabMessage, tellOtherTabs } from './writer.ts';

const lockName = 'attt-notebook';
/** A tab that hangs does not answer; then the lock is taken from it. */
const patienceMs = 5000;

/** Gives the lock back, while this tab has it. */
let release: (() => void) | null = null;
/** This tab's place in the line for the lock. */
let inLine: AbortController | null = null;
/** Ends what runs in this tab. */
let stop: () => Promise<void> = async () => {};

/**
 * Becomes the writing tab, at once or when the other one goes; `stopRun` ends what runs here before
 * the lock is given away. Where there are no locks, every tab writes.
 */
export function watchTabs(stopRun: () => Promise<void>): void {
  if (!navigator.locks || typeof BroadcastChannel === 'undefined') {
    dispatch({ type: 'writer', writer: 'this_tab' });
    return;
  }
  stop = stopRun;
  hearOtherTabs(lockName, (message) => void hear(message));
  navigator.locks
    .request(lockName, { ifAvailable: true }, (lock) => (lock ? hold() : stepBack()))
    .then(waitForLock, taken);
}

async function hear(message: TabMessage): Promise<void> {
  switch (message) {
    case 'runs_changed':
      await refreshRuns();
      return;
    case 'notes_changed':
      await readNotes();
      return;
    case 'shelf_changed':
      await readShelf();
      return;
    case 'take_over':
      if (!release) return;
      stepBack(); // first, so that nothing new begins here while what runs ends
      await stop();
      release?.();
      return;
    default:
      message satisfies never;
  }
}

/** Asks the writing tab to stop and step back; takes the lock from it where it does not answer. */
export function takeOver(): void {
  dispatch({ type: 'writer', writer: 'taking_over' });
  tellOtherTabs('take_over');
  setTimeout(() => {
    if (useLab.getState().notebook.writer !== 'taking_over') return;
    inLine?.abort(); // what is taken by force needs no place in the line
    navigator.locks.request(lockName, { steal: true }, hold).then(waitForLock, taken);
  }, patienceMs);
}

/** In line for the lock, again and again: whoever gives it away wants it back when the other tab goes. */
function waitForLock(): void {
  const place = new AbortController();
  inLine = place;
  navigator.locks.request(lockName, { signal: place.signal }, hold).then(waitForLock, () => {
    if (!place.signal.aborted) taken();
  });
}

/** Another tab has taken the lock by force, since this one did not answer. */
function taken(): void {
  release = null;
  stepBack();
  void stop();
  waitForLock();
}

/** Has the lock until it is released, or until another tab takes it by force. */
async function hold(): Promise<void> {
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  dispatch({ type: 'writer', writer: 'this_tab' });
  await Promise.all([refreshRuns(), refreshModels(), readNotes(), readShelf()]);
  await released;
  release = null;
  stepBack();
}

function stepBack(): void {
  dispatch({ type: 'writer', writer: 'other_tab' });
}
