/** What the comparison asks of the engine and the store: events of chosen runs, and runs from files. */

import { parseRunFile } from '../formats/run-file.ts';
import { foldSummary, startSummary } from '../store/summary.ts';
import { isStale } from './comparing.ts';
import { engine } from './engine.ts';
import { screenRequests } from './latest.ts';
import { readNotes } from './notes.ts';
import { attempt } from './report.ts';
import { foldRun } from './run-view.ts';
import { dispatch, useLab } from './store.ts';
import { compareActions as say } from './strings.ts';

/** Shows the comparison, with the notes and the chosen runs as they are stored now. */
export async function openComparison(): Promise<void> {
  screenRequests.begin();
  dispatch({ type: 'compare_open', on: true });
  await Promise.all([readNotes(), readPicked()]);
}

/** Chooses runs, and reads the events of those that were not read to their end yet. */
export async function pickRuns(ids: readonly string[]): Promise<void> {
  dispatch({ type: 'compare_picked', ids });
  await readPicked();
}

/** Reads those of the chosen runs anew that were not read yet, or have more steps now. */
export async function readPicked(): Promise<void> {
  const stored = (id: string) => useLab.getState().runs.find((run) => run.id === id);
  const { picked, views } = useLab.getState().comparing;
  const wanted = picked.filter((id) => isStale(views[id], stored(id)));
  await attempt(say.runFailed, async () => {
    for (const id of wanted) {
      const name = stored(id)?.goal ?? id;
      const view = foldRun(await engine().call('runEvents', { id }), { id, name });
      if (view) dispatch({ type: 'compare_view', id, view });
    }
  });
}

/** Adds runs of JSONL files to the table, for this visit, and chooses them. */
export async function addFiles(files: readonly File[]): Promise<void> {
  for (const file of files) {
    await attempt(say.notAdded(file.name), async () => {
      const events = parseRunFile(await file.text(), file.name);
      const [first] = events;
      const id = `file:${file.name}`;
      const view = foldRun(events, { id: null, name: file.name });
      if (first?.type !== 'episode_started' || !view) return;
      const start = startSummary(id, new Date(file.lastModified).toISOString(), first.manifest);
      dispatch({
        type: 'compare_file',
        run: { summary: events.reduce(foldSummary, start), view },
      });
    });
  }
}
