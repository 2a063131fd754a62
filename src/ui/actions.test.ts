/** Answers that come out of order, and a tab that only reads. */

import { beforeEach, expect, test, vi } from 'vitest';
import { madeRun } from '../../e2e/fixtures/recorded/household-run.ts';
import type { TaskRef } from '../records.ts';
import {
  chooseTask,
  deleteAllRuns,
  deleteRun,
  openDemo,
  openFile,
  openRun,
  openRunAt,
  refreshRuns,
} from './actions.ts';
import {
  chooseStart,
  deleteAdapter,
  openAdapter,
  renameAdapter,
  shelveRun,
  useShelf,
} from './adapter-shelf-state.ts';
import { openComparison } from './compare-actions.ts';
import { deleteAllModels, deleteModel } from './load.ts';
import { initialState } from './state.ts';
import { dispatch, useLab } from './store.ts';
import { testingEngine } from './testing-engine.ts';

const events = madeRun({ steps: 4, seed: 3 });
const text = events.map((event) => JSON.stringify(event)).join('\n');
let engine = testingEngine();
vi.mock('./engine.ts', () => ({ engine: () => engine.client, engineDown: { engine: 'down' } }));
const shown = () => useLab.getState().opened?.name;

beforeEach(() => {
  engine = testingEngine({ runs: [] });
  useLab.setState(initialState, true);
  dispatch({ type: 'writer', writer: 'this_tab' });
});

test('of two runs that were clicked the last one is shown, whichever answers last', async () => {
  const large = openRun('large');
  const answer = await engine.newest('runEvents');
  const small = openRun('small');
  (await engine.newest('runEvents')).answer(events);
  await small;
  answer.answer(events);
  await large;
  expect(shown()).toBe('small');
});

test('a slow address, a slow demo and a slow file give way to what was opened after them', async () => {
  const replies: ((response: Response) => void)[] = [];
  vi.stubGlobal('fetch', () => new Promise((resolve) => replies.push(resolve)));
  const slow = [openRunAt('https://runs.example/a.jsonl'), openDemo()];
  const file = new File([text], 'late.jsonl');
  let read = (_: string) => {};
  vi.spyOn(file, 'text').mockReturnValue(
    new Promise((resolve) => {
      read = resolve;
    }),
  );
  slow.push(openFile(file));
  await openFile(new File([text], 'last.jsonl'));
  for (const reply of replies) reply(new Response(text));
  read(text);
  await Promise.all(slow);
  expect([replies.length, shown()]).toEqual([2, 'last.jsonl']);
  vi.unstubAllGlobals();
});

test('a run that is still being read does not close the comparison that was opened after it', async () => {
  const slow = openRun('a');
  const answer = await engine.newest('runEvents');
  void openComparison();
  answer.answer(events);
  await slow;
  expect(useLab.getState()).toMatchObject({ opened: null, comparing: { open: true } });
});

test('of two tasks the one chosen last is run, also where one of them is a file', async () => {
  const tasks = (split: string): readonly TaskRef[] => [{ env: 'household', split, index: 0 }];
  const first = chooseTask('household', 'large', 0);
  const answer = await engine.newest('tasks');
  const second = chooseTask('household', 'small', 0);
  (await engine.newest('tasks')).answer(tasks('small'));
  await second;
  answer.answer(tasks('large'));
  await first;
  expect(useLab.getState().task?.split).toBe('small');
  const file = openFile(new File(['{}'], 'scene.json'));
  const opened = await engine.newest('openTask');
  await chooseTask('household', 'large', 0);
  opened.answer({ env: 'household', split: 'file', index: 0 });
  await file;
  expect(useLab.getState().task?.split).toBe('large');
});

test('an older list of runs does not take away what a newer one has', async () => {
  engine = testingEngine({ runEvents: events });
  const older = refreshRuns();
  const answer = await engine.newest('runs');
  const newer = refreshRuns();
  const run = { id: 'a', steps: 4 };
  (await engine.newest('runs')).answer([run]);
  await newer;
  answer.answer([]);
  await older;
  expect(useLab.getState().runs).toEqual([run]);
});

test('a run starts from the adapter that was chosen last', async () => {
  const slow = chooseStart('a');
  const answer = await engine.newest('adapterModules');
  await chooseStart(null);
  answer.answer([{ name: 'q_proj', rank: 4, alpha: 8 }]);
  await slow;
  expect(useShelf.getState().start).toBeNull();
});

test('the tab that only reads deletes, imports and keeps nothing', async () => {
  dispatch({ type: 'writer', writer: 'other_tab' });
  await deleteRun('a');
  await deleteAllRuns();
  await deleteModel('a');
  await deleteAllModels();
  await openFile(new File(['PK'], 'mine.attt-notebook.zip'));
  await openAdapter([new File(['PK'], 'a.zip')]);
  for (const done of [shelveRun('a', 'n'), renameAdapter('a', 'n', ''), deleteAdapter('a')]) {
    expect(await done).toBe(false);
  }
  expect(engine.asked).toEqual([]);
  expect(useLab.getState().notices).toMatchObject([{ title: 'This tab only reads' }]);
});
