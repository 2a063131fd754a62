/** Tags and notes of runs and of their steps, beside the runs: writing one never touches what was recorded. */

import { del, entries, get, set } from 'idb-keyval';
import type { RunNotes } from '../records.ts';
import { openStore, stored } from './database.ts';

/** Nothing is written beside a run. */
export const noNotes: RunNotes = { tags: [], note: '', steps: {} };

/** Older versions had none on steps. */
type StoredNotes = Omit<RunNotes, 'steps'> & Partial<Pick<RunNotes, 'steps'>>;

/** All notes, by the id of their run. */
export async function allNotes(): Promise<Readonly<Record<string, RunNotes>>> {
  const found = await stored('the notes', () => entries<string, StoredNotes>(openStore('notes')));
  return Object.fromEntries(found.map(([id, notes]) => [id, { steps: {}, ...notes }]));
}

/** Changes the notes of a run as they are stored now, whichever tab wrote them; gives what is stored then. */
export async function changeStoredNotes(
  id: string,
  change: (was: RunNotes) => RunNotes,
): Promise<RunNotes> {
  const was = await stored('the notes', () => get<StoredNotes>(id, openStore('notes')));
  const now = change({ ...noNotes, ...was });
  await saveNotes(id, now);
  return now;
}

/** Adds or replaces the notes of a run; empty ones are removed. */
export function saveNotes(id: string, notes: RunNotes): Promise<void> {
  const empty =
    notes.tags.length === 0 && notes.note === '' && Object.keys(notes.steps).length === 0;
  return stored('the notes', () =>
    empty ? del(id, openStore('notes')) : set(id, notes, openStore('notes')),
  );
}
