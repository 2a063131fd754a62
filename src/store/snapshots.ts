/** Learner snapshots in IndexedDB: what a rollback reads back. */

import { get, promisifyRequest } from 'idb-keyval';
import { LabError } from '../errors.ts';
import type { KeptSnapshots, LearnerSnapshot } from '../records.ts';
import { openStore, stored } from './database.ts';

/**
 * The episode's start, and its latest state (kept for exports). No run keeps more, however long it is: any
 * state between follows from the record.
 */
export type SnapshotName = 'start' | 'latest';

/** Resolves after the commit; a failed save leaves the previous snapshot intact. */
export function saveSnapshot(
  runId: string,
  name: SnapshotName,
  snapshot: LearnerSnapshot,
): Promise<void> {
  return stored('the adapter snapshot', () =>
    openStore('snapshots')('readwrite', (store) => {
      store.put(snapshot, [runId, name]);
      store.put(bytesOf(snapshot), [runId, name, 'bytes']); // so that sizes are told without reading it
      return promisifyRequest(store.transaction);
    }),
  );
}

/** How many snapshots each run keeps, and their bytes, by the run's id. */
export function snapshotSizes(): Promise<Readonly<Record<string, KeptSnapshots>>> {
  return stored('the sizes of snapshots', () =>
    openStore('snapshots')('readwrite', async (store) => {
      const keys = await promisifyRequest(store.getAllKeys());
      const runs: Record<string, KeptSnapshots> = {};
      for (const key of keys) {
        if (!Array.isArray(key) || key.length !== 2) continue;
        const [run, name] = key.map(String);
        if (run === undefined || name === undefined) continue;
        const sizeKey = [run, name, 'bytes'];
        let bytes = await promisifyRequest<number | undefined>(store.get(sizeKey));
        if (bytes === undefined) {
          // Saved by a version that noted no sizes.
          bytes = bytesOf(await promisifyRequest<LearnerSnapshot>(store.get(key)));
          store.put(bytes, sizeKey);
        }
        const { count, bytes: before } = runs[run] ?? { count: 0, bytes: 0 };
        runs[run] = { count: count + 1, bytes: before + bytes };
      }
      return runs;
    }),
  );
}

/** Of its arrays; the rest is names and shapes. */
function bytesOf({ adapter, optimiser, ewc }: LearnerSnapshot): number {
  const arrays = [
    ...adapter.modules.flatMap(({ aT, bT }) => [aT, bT]),
    ...[optimiser.m, optimiser.v, ewc?.fisher ?? [], ewc?.anchor ?? []].flat(),
  ];
  return arrays.reduce((sum, array) => sum + array.byteLength, 0);
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
