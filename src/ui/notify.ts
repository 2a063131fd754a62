/** Tells the end of a run to a person who is looking elsewhere, if they asked for it. */

import type { RunSummary } from '../records.ts';
import { plural } from './numbers.ts';
import { report } from './report.ts';
import { endWording } from './run-view.ts';
import { dispatch, useLab } from './store.ts';
import { notify as say } from './strings.ts';

/** Asks the browser for leave; off again where it is refused. */
export async function setNotify(on: boolean): Promise<void> {
  dispatch({ type: 'notify', on });
  if (!on || typeof Notification === 'undefined') return;
  if ((await Notification.requestPermission()) !== 'granted') {
    dispatch({ type: 'notify', on: false });
    report(say.notificationsOff, {
      code: 'unsupported',
      message: say.notAllowed,
      details: {},
    });
  }
}

/** A notification, where the tab is hidden and it was asked for. `run` null: it failed. */
export function tellEnd(run: RunSummary | null): void {
  if (!useLab.getState().notebook.notify || !document.hidden) return;
  if (typeof Notification === 'undefined' || Notification.permission !== 'granted') return;
  const title = run?.reason ? endWording(run.reason).label : say.stopped;
  const body = run
    ? `${run.goal} ${plural(run.steps, 'step')}, ${plural(run.updates, 'update')}.`
    : '';
  new Notification(say.appName(title), { body, tag: 'attt-run' });
}
