/** Tells the person what went wrong or what happened, with what to do about it. */

import { isAbort, type LabErrorCode, toWire } from '../errors.ts';
import { engineDown } from './engine.ts';
import type { Notice } from './state.ts';
import { dispatch, useLab } from './store.ts';
import { report as say } from './strings.ts';

/** What to do about each kind of error, beyond what its message says. */
const remedies: Readonly<Record<LabErrorCode, string>> = {
  bad_input: say.badInput,
  bad_config: say.badConfig,
  unsupported: '',
  not_found: '',
  network: say.network,
  quota: say.quota,
  no_adapter: say.noAdapter,
  device_lost: say.deviceLost,
  limit: say.limit,
  timeout: say.timeout,
  environment: say.environment,
  aborted: '',
  internal: say.internal,
};

/** What the page can do about it itself. */
const actions: Readonly<Partial<Record<LabErrorCode, Notice['action']>>> = {
  device_lost: 'restart_engine',
  quota: 'free_storage',
};

export function report(title: string, error: ReturnType<typeof toWire>): void {
  // An engine that died refuses all that waited for it: one notice with the way out is enough.
  const { notices } = useLab.getState();
  const told = notices.some(({ action }) => action === 'restart_engine');
  if (told && error.details.engine === engineDown.engine) return;
  dispatch({
    type: 'notice',
    notice: {
      tone: 'error',
      title,
      message: withoutName(error.message, title),
      next: remedies[error.code],
      action: actions[error.code] ?? null,
    },
  });
}

/** A message that begins with the name of a file which the title names already goes on without it. */
function withoutName(message: string, title: string): string {
  const [, name, text] = /^([^:,]+)[:,] (.+)$/s.exec(message) ?? [];
  if (name === undefined || text === undefined || !title.startsWith(`${name} `)) return message;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Reports an error that nothing on the page waited for. */
export function reportStray(thrown: unknown): void {
  report(say.stray, toWire(thrown));
}

export function inform(title: string, message: string): void {
  dispatch({
    type: 'notice',
    notice: { tone: 'info', title, message, next: '', action: null },
  });
}

/** Takes back what was said under this title: it has gone well since. */
export function settle(title: string): void {
  for (const { id, ...notice } of useLab.getState().notices) {
    if (notice.title === title) dispatch({ type: 'notice_dismissed', id });
  }
}

/** Does something, and says in words what prevented it; a stop is no failure. */
export async function attempt(title: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    if (!isAbort(thrown)) report(title, toWire(thrown));
  }
}
