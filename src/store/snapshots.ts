/** Learner snapshots in IndexedDB: what a rollback reads back. */

import { get, set } from 'idb-keyval';
import { LabError } from '../errors.ts';
import type { LearnerSnapshot } from '../records.ts';
import { openStore, stored } from './database.ts';

/** The episode's start, and its latest state (kept for exports). */
export type SnapshotName = 'start' | 'latest';

/** Resolves after the commit; a failed save leaves the previous snapshot intact. */
export function saveSnapshot(
  runId: string,
  name: SnapshotName,
  snapshot: LearnerSnapshot,
): Promise<void> {
  return stored('the adapter snapshot', () => set([runId, name], snapshot, openStore('snapshots')));
}

/** Throws `not_found` when the run has none. */
export async function loadSnapshot(runId: string, name: SnapshotName): Promise<LearnerSnapshot> {
  const snapshot = await stored('the adapter snapshot', () =>
    get<LearnerSnapshot>([runId, name], openStore('snapshots')),
  );
  if (snapshot) return snapshot;
  throw new LabError(
    'not_found',
    `The run "${runId}" has no "${name}" snapshot in this browser. It may have been deleted in another tab.`,
    { runId, name },
  );
}
