/** What a person writes beside runs and their steps: read, changed and stored at once. */

import type { RunNotes } from '../records.ts';
import { allNotes, saveNotes } from '../store/notes.ts';
import { attempt } from './report.ts';
import { shownRun, type UiState } from './state.ts';
import { dispatch, useLab } from './store.ts';
import { notes as say } from './strings.ts';

export const noNotes: RunNotes = { tags: [], note: '', steps: {} };

const noSteps: RunNotes['steps'] = {};

/** The notes as they are stored now. */
export async function readNotes(): Promise<void> {
  await attempt(say.notRead, async () => dispatch({ type: 'notes', notes: await allNotes() }));
}

export async function changeNotes(id: string, notes: RunNotes): Promise<void> {
  dispatch({ type: 'notes', notes: { ...useLab.getState().notebook.notes, [id]: notes } });
  await attempt(say.notSaved, () => saveNotes(id, notes));
}

/** Writes beside step `t`; an empty text takes the note away. */
export function noteStep(id: string, t: number, text: string): Promise<void> {
  const notes = useLab.getState().notebook.notes[id] ?? noNotes;
  const { [t]: _, ...others } = notes.steps;
  return changeNotes(id, { ...notes, steps: text === '' ? others : { ...others, [t]: text } });
}

/** The notes on steps of the run on screen, by their number; a run of a file has none. */
export function stepNotes(state: UiState): RunNotes['steps'] {
  const id = shownRun(state)?.id;
  return (id && state.notebook.notes[id]?.steps) || noSteps;
}
