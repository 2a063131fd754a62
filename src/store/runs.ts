/** Runs and their event streams in IndexedDB. An event is stored before anyone sees it. */

import { del, get, promisifyRequest, set, values } from 'idb-keyval';
import { LabError } from '../errors.ts';
import { upgradeEvents } from '../formats/run-upgrade.ts';
import type { EpisodeEvent, RunSummary } from '../records.ts';
import { openStore, stored } from './database.ts';

/** Adds or replaces a run's summary. */
export function saveRun(run: RunSummary): Promise<void> {
  return stored('the run', () => set(run.id, run, openStore('runs')));
}

/** Appends one event; resolves after the commit. */
export function appendEvent(id: string, event: EpisodeEvent): Promise<void> {
  return stored('an event', () => set([id, event.seq], event, openStore('events')));
}

/** All runs, newest first. */
export async function listRuns(): Promise<readonly RunSummary[]> {
  const runs = await stored('the list of runs', () => values<RunSummary>(openStore('runs')));
  return runs.sort((a, b) => b.createdAt.localeCompare(a.createdAt));
}

/** Throws `not_found`. */
export async function getRun(id: string): Promise<RunSummary> {
  const run = await stored('the run', () => get<RunSummary>(id, openStore('runs')));
  if (run) return run;
  throw new LabError(
    'not_found',
    `There is no run "${id}" in this browser. It may have been deleted.`,
    {
      id,
    },
  );
}

/** A run's events in order; empty for an unknown run. */
export function runEvents(id: string): Promise<readonly EpisodeEvent[]> {
  return stored('the events of a run', () =>
    openStore('events')('readonly', (store) =>
      promisifyRequest<EpisodeEvent[]>(store.getAll(keysOf(id))),
    ).then(upgradeEvents),
  );
}

/** Removes the events from this sequence number on. */
export function dropEventsFrom(id: string, seq: number): Promise<void> {
  return stored('the events of a run', () =>
    openStore('events')('readwrite', (store) => {
      store.delete(IDBKeyRange.bound([id, seq], [id, []]));
      return promisifyRequest(store.transaction);
    }),
  );
}

/** Removes a run, its events, its snapshots and its notes. Deleting what is not there is no error. */
export async function deleteRun(id: string): Promise<void> {
  await stored('the run', async () => {
    await openStore('events')('readwrite', (store) => {
      store.delete(keysOf(id));
      return promisifyRequest(store.transaction);
    });
    await openStore('snapshots')('readwrite', (store) => {
      store.delete(keysOf(id));
      return promisifyRequest(store.transaction);
    });
    await del(id, openStore('notes'));
    await del(id, openStore('runs'));
  });
}

/** Every key [id, …]: an empty array sorts after all numbers and strings. */
function keysOf(id: string): IDBKeyRange {
  return IDBKeyRange.bound([id], [id, []]);
}
