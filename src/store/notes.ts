/** Tags and notes of runs, beside the runs: writing one never touches what was recorded. */

import { del, entries, set } from 'idb-keyval';
import type { RunNotes } from '../records.ts';
import { openStore, stored } from './database.ts';

/** All notes, by the id of their run. */
export async function allNotes(): Promise<Readonly<Record<string, RunNotes>>> {
  const found = await stored('the notes', () => entries<string, RunNotes>(openStore('notes')));
  return Object.fromEntries(found);
}

/** Adds or replaces the notes of a run; empty ones are removed. */
export function saveNotes(id: string, notes: RunNotes): Promise<void> {
  const empty = notes.tags.length === 0 && notes.note === '';
  return stored('the notes', () =>
    empty ? del(id, openStore('notes')) : set(id, notes, openStore('notes')),
  );
}
