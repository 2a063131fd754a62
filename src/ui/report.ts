/** Tells the person what went wrong or what happened, with what to do about it. */

import { isAbort, type LabErrorCode, toWire } from '../errors.ts';
import { dispatch } from './store.ts';

/** What to do about each kind of error, beyond what its message says. */
const remedies: Readonly<Record<LabErrorCode, string>> = {
  bad_input: 'Nothing was changed. Check the file, or choose another one.',
  bad_config: 'The settings are as they were before.',
  unsupported: '',
  not_found: '',
  network: 'Check the address and the connection; a file on this computer can be opened instead.',
  quota: 'Delete runs or models that are no longer needed; the run on screen can still be saved.',
  no_adapter: 'Click the badge at the top to see which step failed and what to do about it.',
  device_lost: 'The events so far are kept. Restart the engine, then run again.',
  limit: 'Choose a smaller model, a shorter context or a lower rank.',
  timeout: 'The events so far are kept. Try again, or raise the time limit in the settings.',
  environment: 'The agent is not to blame. Try another task, or run again.',
  aborted: '',
  internal: 'The events so far are kept. If it happens again, restart the engine.',
};

export function report(title: string, error: ReturnType<typeof toWire>): void {
  dispatch({
    type: 'notice',
    notice: {
      tone: 'error',
      title,
      message: error.message,
      next: remedies[error.code],
      action: error.code === 'device_lost' ? 'restart_engine' : null,
    },
  });
}

/** Reports an error that nothing on the page waited for. */
export function reportStray(thrown: unknown): void {
  report('Something on the page went wrong', toWire(thrown));
}

export function inform(title: string, message: string): void {
  dispatch({
    type: 'notice',
    notice: { tone: 'info', title, message, next: '', action: null },
  });
}

/** Does something, and says in words what prevented it; a stop is no failure. */
export async function attempt(title: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    if (!isAbort(thrown)) report(title, toWire(thrown));
  }
}
