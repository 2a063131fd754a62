/** What a person writes beside runs and their steps: read, changed and stored at once. */

import type { RunNotes } from '../records.ts';
import { allNotes, changeStoredNotes, noNotes } from '../store/notes.ts';
import { attempt } from './report.ts';
import { shownRun, type UiState } from './state.ts';
import { dispatch, useLab } from './store.ts';
import { notes as say } from './strings.ts';
import { mayWrite, tellOtherTabs } from './writer.ts';

const noSteps: RunNotes['steps'] = {};

/** The notes as they are stored now. */
export async function readNotes(): Promise<void> {
  await attempt(say.notRead, async () => dispatch({ type: 'notes', notes: await allNotes() }));
}

/** Changes what is written beside a run, where that changes anything and this tab may write. */
export async function changeNotes(id: string, change: (was: RunNotes) => RunNotes): Promise<void> {
  const was = useLab.getState().notebook.notes[id] ?? noNotes;
  const now = change(was);
  if (JSON.stringify(now) === JSON.stringify(was) || !mayWrite()) return;
  show(id, now);
  await attempt(say.notSaved, async () => {
    show(id, await changeStoredNotes(id, change));
    tellOtherTabs('notes_changed');
  });
}

function show(id: string, notes: RunNotes): void {
  dispatch({ type: 'notes', notes: { ...useLab.getState().notebook.notes, [id]: notes } });
}

/** Writes beside step `t`; an empty text takes the note away. */
export function noteStep(id: string, t: number, text: string): Promise<void> {
  return changeNotes(id, (was) => {
    if ((was.steps[t] ?? '') === text) return was;
    const { [t]: _, ...others } = was.steps;
    return { ...was, steps: text === '' ? others : { ...others, [t]: text } };
  });
}

/** The notes on steps of the run on screen, by their number; a run of a file has none. */
export function stepNotes(state: UiState): RunNotes['steps'] {
  const id = shownRun(state)?.id;
  return (id && state.notebook.notes[id]?.steps) || noSteps;
}
