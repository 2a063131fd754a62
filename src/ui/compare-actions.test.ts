/** Which events the comparison reads, and when it reads them again. Runs are made by hand. */

import { beforeEach, expect, test, vi } from 'vitest';
import { madeRun } from '../../e2e/fixtures/recorded/household-run.ts';
import type { RunSummary } from '../records.ts';
import { startSummary } from '../store/summary.ts';
import { deleteRun, refreshRuns } from './actions.ts';
import { pickRuns } from './compare-actions.ts';
import { initialState } from './state.ts';
import { dispatch, useLab } from './store.ts';
import { testingEngine } from './testing-engine.ts';

const events = madeRun({ steps: 12, seed: 3 });
const [first] = events;
if (first?.type !== 'episode_started') throw new Error('the made run starts with its manifest');
const summary = (steps: number, reason: RunSummary['reason']): RunSummary => ({
  ...startSummary('a', '2026-01-01T00:00:00.000Z', first.manifest),
  ...{ steps, reason },
});
let engine = testingEngine();
vi.mock('./engine.ts', () => ({ engine: () => engine.client, engineDown: { engine: 'down' } }));
const steps = () => useLab.getState().comparing.views.a?.steps.length;

beforeEach(() => useLab.setState(initialState, true));

test('a run that was chosen while it ran is read again when it has more steps, and not once it has all', async () => {
  engine = testingEngine({ runEvents: events.slice(0, 5), runs: [summary(4, null)] });
  await refreshRuns();
  await pickRuns(['a']);
  expect(steps()).toBe(4);
  engine = testingEngine({ runEvents: events, runs: [summary(12, 'step_limit')] });
  await refreshRuns();
  expect(steps()).toBe(12);
  await pickRuns(['a']);
  expect(engine.asked.filter(({ name }) => name === 'runEvents')).toHaveLength(1);
});

test('deleting a run that just ended clears it from the screen and the comparison', async () => {
  engine = testingEngine({ runEvents: events, runs: [], deleteRun: null });
  dispatch(
    { type: 'run_requested', asked: true },
    { type: 'run_started', run: summary(0, null) },
    ...events.map((event) => ({ type: 'run_event', event }) as const),
    { type: 'run_ended', run: summary(12, 'step_limit') },
    { type: 'runs', runs: [summary(12, 'step_limit')] },
  );
  await pickRuns(['a']);
  await deleteRun('a');
  expect(useLab.getState()).toMatchObject({
    live: null,
    runs: [],
    comparing: { picked: [], views: {} },
  });
});
