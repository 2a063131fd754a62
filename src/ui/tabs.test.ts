/** Two tabs and one lock. The lock manager is made by hand: it gives the lock at once and says when it is back. */

import 'fake-indexeddb/auto';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { saveNotes } from '../store/notes.ts';
import { initialState } from './state.ts';
import { useLab } from './store.ts';
import { watchTabs } from './tabs.ts';
import { testingEngine } from './testing-engine.ts';
import { mayWrite } from './writer.ts';

const engine = testingEngine({ runs: [], models: [], adapters: [] });
vi.mock('./engine.ts', () => ({ engine: () => engine.client, engineDown: { engine: 'down' } }));
let returned = 0;
const waiting: unknown[] = [];
vi.stubGlobal('navigator', {
  locks: {
    async request(_: string, options: LockOptions, take: (lock: unknown) => Promise<void>) {
      if (!options.ifAvailable) return new Promise(() => waiting.push(take));
      await take({});
      returned++;
    },
  },
});
const other = new BroadcastChannel('attt-notebook');
const writer = () => useLab.getState().notebook.writer;

beforeEach(() => useLab.setState(initialState, true));
afterAll(() => {
  other.close();
  vi.unstubAllGlobals();
});

test('a tab that is asked for the lock begins nothing more, and gives it away once its run has ended', async () => {
  let ended = () => {};
  let asked = false;
  watchTabs(() => {
    asked = true;
    return new Promise((resolve) => {
      ended = resolve;
    });
  });
  expect(writer()).toBe('this_tab');
  await saveNotes('a', { tags: ['new'], note: '', steps: {} });
  other.postMessage('notes_changed');
  await vi.waitFor(() => expect(useLab.getState().notebook.notes.a?.tags).toEqual(['new']));
  other.postMessage('take_over');
  await vi.waitFor(() => expect(asked).toBe(true));
  expect([writer(), mayWrite(), returned]).toEqual(['other_tab', false, 0]);
  ended();
  await vi.waitFor(() => expect([returned, waiting.length]).toEqual([1, 1]));
});
