/** What the browser says of this page's storage, and the wish that it be kept. */

import type { RunSummary } from '../records.ts';
import { engine } from './engine.ts';
import { dispatch, useLab } from './store.ts';

/** A run of fewer steps was a try. */
const worthKeeping = 5;

/** Asks how much is used and allowed, and whether the browser may clear it. */
export async function refreshStorage(): Promise<void> {
  const manager = typeof navigator === 'undefined' ? undefined : navigator.storage;
  if (!manager?.estimate) return;
  const [{ usage = 0, quota = 0 }, persisted, snapshots] = await Promise.all([
    manager.estimate(),
    manager.persisted(),
    // Without an engine, or with an unreadable store, the rest is told all the same.
    engine()
      .call('snapshotSizes', null)
      .catch(() => ({})),
  ]);
  dispatch({ type: 'storage', storage: { usage, quota, persisted, snapshots } });
}

/** Asks the browser not to clear this page's storage; true when it agrees. */
export async function persistStorage(): Promise<boolean> {
  const agreed = (await navigator.storage?.persist?.()) ?? false;
  await refreshStorage();
  return agreed;
}

/** After the first run worth keeping the browser is asked to keep it. */
export async function keepStorage(run: RunSummary): Promise<void> {
  const { storage } = useLab.getState().notebook;
  if (run.steps >= worthKeeping && storage?.persisted === false) await persistStorage();
  else await refreshStorage();
}
