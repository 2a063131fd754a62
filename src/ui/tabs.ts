/** One tab of the notebook writes, the others read: a Web Lock says which, a channel asks for a change. */

import { LabError, toWire } from '../errors.ts';
import { refreshRuns } from './actions.ts';
import { refreshModels } from './load.ts';
import { report } from './report.ts';
import { dispatch, useLab } from './store.ts';
import { tabs as say } from './strings.ts';

const lockName = 'attt-notebook';
/** A tab that hangs does not answer; then the lock is taken from it. */
const patienceMs = 5000;

type Message = 'take_over' | 'runs_changed';

let channel: BroadcastChannel | null = null;
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
  channel = new BroadcastChannel(lockName);
  channel.onmessage = async ({ data }: MessageEvent<Message>) => {
    if (data === 'runs_changed') await refreshRuns();
    if (data !== 'take_over' || !release) return;
    await stop();
    release?.();
  };
  navigator.locks
    .request(lockName, { ifAvailable: true }, (lock) => (lock ? hold() : stepBack()))
    .then(waitForLock, taken);
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

/** True when this tab may write; says why not otherwise. */
export function mayWrite(): boolean {
  const { writer } = useLab.getState().notebook;
  if (writer === 'this_tab' || writer === 'unknown') return true;
  report(say.tabOnlyReads, toWire(new LabError('unsupported', say.takeOverFirst)));
  return false;
}

export function tellOtherTabs(message: Message): void {
  channel?.postMessage(message);
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
  await Promise.all([refreshRuns(), refreshModels()]);
  await released;
  release = null;
  stepBack();
}

function stepBack(): void {
  dispatch({ type: 'writer', writer: 'other_tab' });
}
