/** Finds the adapter that an episode starts from: on the shelf, or where the record of a run kept it. */

import { LabError } from '../errors.ts';
import { type StartAdapter, startAdapter } from '../model/start-adapter.ts';
import type { AdapterData, RunManifest } from '../records.ts';
import { adapterData, getAdapter, listAdapters } from '../store/adapters.ts';
import { getRun } from '../store/runs.ts';
import { loadSnapshot } from '../store/snapshots.ts';
import type { StartFrom } from './api.ts';

/** Null where it names a run that started from a fresh adapter. Throws `not_found`. */
export async function startOf({ kind, id }: StartFrom): Promise<StartAdapter | null> {
  switch (kind) {
    case 'shelf':
      return startAdapter((await getAdapter(id)).name, await adapterData(id));
    case 'run':
      return recordedStart((await getRun(id)).manifest, id);
    default:
      return kind satisfies never;
  }
}

/**
 * What a recorded run started from, null where it was a fresh adapter: from its own snapshot where it is
 * stored here under `run`, else from the shelf, where it may have come out of the run's bundle. Throws
 * `not_found` where neither has an adapter of that content.
 */
export async function recordedStart(
  { startAdapter: was }: RunManifest,
  run: string | null,
): Promise<StartAdapter | null> {
  if (!was) return null;
  for (const read of [() => snapshotOf(run), ...(await shelved())]) {
    const data = await read();
    const found = data && (await startAdapter(was.name, data));
    if (found?.sha256 === was.sha256) return found;
  }
  throw new LabError(
    'not_found',
    `The run started from the adapter "${was.name}" (sha256 ${was.sha256.slice(0, 12)}), which is not in this browser. Add it to the shelf, from its file or from the folder adapter-start of the run's bundle, then try again.`,
    { sha256: was.sha256 },
  );
}

async function snapshotOf(run: string | null): Promise<AdapterData | null> {
  if (run === null) return null;
  return loadSnapshot(run, 'start').then(
    ({ adapter }) => adapter,
    () => null, // a run that came in a notebook of an older version has none
  );
}

async function shelved(): Promise<(() => Promise<AdapterData>)[]> {
  return (await listAdapters()).map(
    ({ id }) =>
      () =>
        adapterData(id),
  );
}
