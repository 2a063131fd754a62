import { afterEach, expect, test } from 'vitest';
import { LabError, toWire } from '../errors.ts';
import { engineDown } from './engine.ts';
import { attempt, report } from './report.ts';
import { initialState } from './state.ts';
import { dispatch, useLab } from './store.ts';

afterEach(() => useLab.setState(initialState, true));
const notices = () => useLab.getState().notices.map(({ title, message }) => [title, message]);
const bad = (message: string) => toWire(new LabError('bad_input', message));

test('a file that the title names is not named again by what is wrong with it', () => {
  report('run.jsonl was not opened', bad('run.jsonl: not JSON.'));
  report('run.jsonl was not opened', bad('run.jsonl, line 3: not JSON.'));
  report('The run was not saved', bad('run.jsonl: not JSON.'));
  expect(notices()).toEqual([
    ['run.jsonl was not opened', 'Not JSON.'],
    ['run.jsonl was not opened', 'Line 3: not JSON.'],
    ['The run was not saved', 'run.jsonl: not JSON.'],
  ]);
});

test('a dead engine is told once, with the way out; what it owed is not told besides', async () => {
  const died = new LabError('internal', 'The engine worker stopped.', engineDown);
  dispatch({ type: 'engine_failed', error: toWire(died) });
  await attempt('The list of runs could not be read', () => Promise.reject(died));
  await attempt('The run was not saved', () => Promise.reject(new LabError('quota', 'Full.')));
  expect(notices().map(([title]) => title)).toEqual([
    'The engine stopped',
    'The run was not saved',
  ]);
  dispatch({ type: 'notice_dismissed', id: useLab.getState().notices[0]?.id ?? -1 });
  await attempt('The list of runs could not be read', () => Promise.reject(died));
  expect(notices().at(-1)?.[0]).toBe('The list of runs could not be read');
});
