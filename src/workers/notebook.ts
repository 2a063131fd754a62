/** The whole notebook out of the stores into one file, and back. */

import { notebookEnding } from '../formats/endings.ts';
import { type NotebookRun, readNotebook, writeNotebook } from '../formats/notebook-file.ts';
import { adapterData, listAdapters, shelveAdapter } from '../store/adapters.ts';
import { allNotes, saveNotes } from '../store/notes.ts';
import { appendEvent, listRuns, runEvents, saveRun } from '../store/runs.ts';
import { loadSnapshot, saveSnapshot } from '../store/snapshots.ts';
import { foldSummary, startSummary } from '../store/summary.ts';
import type { Download, Imported } from './api.ts';

export async function exportNotebook(): Promise<Download> {
  const runs: NotebookRun[] = [];
  const notes = await allNotes();
  for (const { id, createdAt } of await listRuns()) {
    const events = await runEvents(id);
    if (events.length === 0) continue; // it ended before its first event: there is nothing to keep
    // A run that ended before its first boundary has no latest one, and one from an older notebook no start.
    const [start = null, latest = null] = await Promise.all(
      (['start', 'latest'] as const).map((name) => loadSnapshot(id, name).catch(() => null)),
    );
    runs.push({ id, createdAt, events, start, latest, notes: notes[id] ?? null });
  }
  const adapters = [];
  for (const entry of await listAdapters()) {
    adapters.push({ entry, data: await adapterData(entry.id) });
  }
  const day = new Date().toISOString().slice(0, 10);
  return {
    name: `${day}${notebookEnding}`,
    type: 'application/zip',
    bytes: writeNotebook({ runs, adapters }),
  };
}

/** Reads the whole file before it stores anything; what is here already stays as it is. Throws what {@link readNotebook} throws. */
export async function importNotebook(name: string, file: Blob): Promise<Imported> {
  const { runs, adapters } = readNotebook(new Uint8Array(await file.arrayBuffer()), name);
  const here = new Set((await listRuns()).map(({ id }) => id));
  const fresh = runs.filter(({ id }) => !here.has(id));
  for (const { id, createdAt, events, start, latest, notes } of fresh) {
    const [first] = events;
    if (first?.type !== 'episode_started') continue; // parseRunFile has refused it
    for (const event of events) await appendEvent(id, event);
    if (start) await saveSnapshot(id, 'start', start);
    if (latest) await saveSnapshot(id, 'latest', latest);
    if (notes) await saveNotes(id, notes);
    // Last: a run that is listed is whole.
    await saveRun(events.reduce(foldSummary, startSummary(id, createdAt, first.manifest)));
  }
  const shelved = new Set((await listAdapters()).map(({ id }) => id));
  const unknown = adapters.filter(({ entry }) => !shelved.has(entry.id));
  for (const { entry, data } of unknown) await shelveAdapter(entry, data);
  return {
    added: fresh.length,
    known: runs.length - fresh.length,
    adapters: unknown.length,
  };
}
