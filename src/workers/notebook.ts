/** The whole notebook out of the stores into one file, and back. */

import { notebookEnding } from '../formats/endings.ts';
import { readNotebook, writeNotebook } from '../formats/notebook-file.ts';
import { appendEvent, listRuns, runEvents, saveRun } from '../store/runs.ts';
import { loadSnapshot, saveSnapshot } from '../store/snapshots.ts';
import type { Download } from './api.ts';

export async function exportNotebook(): Promise<Download> {
  const runs = [];
  for (const summary of await listRuns()) {
    runs.push({
      summary,
      events: await runEvents(summary.id),
      // A run that ended before its first boundary has none.
      latest: await loadSnapshot(summary.id, 'latest').catch(() => null),
    });
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
  const fresh = runs.filter(({ summary }) => !here.has(summary.id));
  for (const { summary, events, latest } of fresh) {
    for (const event of events) await appendEvent(summary.id, event);
    if (latest) await saveSnapshot(summary.id, 'latest', latest);
    await saveRun(summary); // last: a run that is listed is whole
  }
  return { added: fresh.length, known: runs.length - fresh.length };
}
