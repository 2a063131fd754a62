/** The whole notebook out of the stores into one file, and back. */

import { notebookEnding } from '../formats/endings.ts';
import { readNotebook, writeNotebook } from '../formats/notebook-file.ts';
import { appendEvent, listRuns, runEvents, saveRun } from '../store/runs.ts';
import { loadSnapshot, saveSnapshot } from '../store/snapshots.ts';
import { foldSummary, startSummary } from '../store/summary.ts';
import type { Download } from './api.ts';

export async function exportNotebook(): Promise<Download> {
  const runs = [];
  for (const { id, createdAt } of await listRuns()) {
    const events = await runEvents(id);
    if (events.length === 0) continue; // it ended before its first event: there is nothing to keep
    // A run that ended before its first boundary has no latest one, and one from an older notebook no start.
    const [start, latest] = await Promise.all(
      (['start', 'latest'] as const).map((name) => loadSnapshot(id, name).catch(() => null)),
    );
    runs.push({ id, createdAt, events, start: start ?? null, latest: latest ?? null });
  }
  const day = new Date().toISOString().slice(0, 10);
  return {
    name: `${day}${notebookEnding}`,
    type: 'application/zip',
    bytes: writeNotebook(runs),
  };
}

/** Reads the whole file before it stores anything. Throws what {@link readNotebook} throws. */
export async function importNotebook(
  name: string,
  file: Blob,
): Promise<{ added: number; known: number }> {
  const runs = readNotebook(new Uint8Array(await file.arrayBuffer()), name);
  const here = new Set((await listRuns()).map(({ id }) => id));
  const fresh = runs.filter(({ id }) => !here.has(id));
  for (const { id, createdAt, events, start, latest } of fresh) {
    const [first] = events;
    if (first?.type !== 'episode_started') continue; // parseRunFile has refused it
    for (const event of events) await appendEvent(id, event);
    if (start) await saveSnapshot(id, 'start', start);
    if (latest) await saveSnapshot(id, 'latest', latest);
    // Last: a run that is listed is whole.
    await saveRun(events.reduce(foldSummary, startSummary(id, createdAt, first.manifest)));
  }
  return { added: fresh.length, known: runs.length - fresh.length };
}
