/** What is written beside runs, with another tab at the same store. */

import 'fake-indexeddb/auto';
import { beforeEach, expect, test } from 'vitest';
import { allNotes, saveNotes } from '../store/notes.ts';
import { changeNotes, noteStep, readNotes } from './notes.ts';
import { initialState } from './state.ts';
import { dispatch, useLab } from './store.ts';

const here = () => useLab.getState().notebook.notes;

beforeEach(async () => {
  useLab.setState(initialState, true);
  dispatch({ type: 'writer', writer: 'this_tab' });
  await saveNotes('a', { tags: ['old'], note: 'first', steps: {} });
  await readNotes();
});

test('what did not change is not written: a stale record erases nothing', async () => {
  const stored = { tags: ['new'], note: 'by the other tab', steps: { 2: 'look' } };
  await saveNotes('a', stored);
  await changeNotes('a', (was) => ({ ...was, tags: ['old'] }));
  await changeNotes('b', (was) => ({ ...was, note: '' }));
  await noteStep('a', 7, '');
  expect(await allNotes()).toEqual({ a: stored });
});

test('a change is made to what is stored now, not to what this tab read long ago', async () => {
  await saveNotes('a', { tags: ['new'], note: 'first', steps: { 2: 'look' } });
  await changeNotes('a', (was) => ({ ...was, note: 'mine' }));
  await noteStep('a', 3, 'here');
  const both = { tags: ['new'], note: 'mine', steps: { 2: 'look', 3: 'here' } };
  expect(await allNotes()).toEqual({ a: both });
  expect(here()).toEqual({ a: both });
});

test('the tab that only reads writes no note, and says why', async () => {
  dispatch({ type: 'writer', writer: 'other_tab' });
  await changeNotes('a', (was) => ({ ...was, tags: ['mine'] }));
  expect((await allNotes()).a?.tags).toEqual(['old']);
  expect(here().a?.tags).toEqual(['old']);
  expect(useLab.getState().notices).toMatchObject([{ title: 'This tab only reads' }]);
});
