/** Starts that wait for something: what else may begin meanwhile, and who has the screen. Runs are made by hand. */

import { beforeEach, expect, test, vi } from 'vitest';
import { madeRun, startOf } from '../../e2e/fixtures/recorded/household-run.ts';
import type { ModelInfo, RunSummary } from '../records.ts';
import { startSummary } from '../store/summary.ts';
import { connectModel, loadModel } from './load.ts';
import { planQueue, startQueue } from './queue.ts';
import { resumeRun, startRun, stopAndWait } from './running.ts';
import { initialState, isRunning } from './state.ts';
import { dispatch, useLab } from './store.ts';
import { settled, testingEngine } from './testing-engine.ts';

const lists = { runs: [], models: [], snapshotSizes: {}, control: null, startProblem: null };
let engine = testingEngine(lists);
vi.mock('./engine.ts', () => ({ engine: () => engine.client, engineDown: { engine: 'down' } }));

const events = madeRun({ steps: 4, seed: 3 });
const { manifest, task } = startOf(events);
const model = { name: 'household', sha256: manifest.modelSha256, contextLength: 512 } as ModelInfo; // what is read of it
const run = (id: string, settings: Partial<typeof manifest.settings> = {}): RunSummary => ({
  ...startSummary(id, '2026-01-01T00:00:00.000Z', {
    ...manifest,
    settings: { ...manifest.settings, ...settings },
  }),
  reason: 'failed',
});
const environments = [
  {
    ...{ id: task.env, label: '', help: '', citation: '', oracleScore: 1, idleScore: 0 },
    splits: [{ name: task.split, size: 2, help: '' }],
  },
];
const plan = () => {
  const wish = { env: task.env, split: task.split, tasks: [0, 1], seeds: [1], methods: ['frozen'] };
  const tasks = [0, 1].map((index) => ({ ...task, index }));
  return planQueue({ ...wish, methods: ['frozen'] as const }, tasks);
};
const asked = (name: string) => engine.asked.filter((one) => one.name === name).length;

beforeEach(() => {
  engine = testingEngine(lists);
  useLab.setState({ ...initialState, engine: 'ready', environments, task, model }, true);
  dispatch({ type: 'writer', writer: 'this_tab' });
});

test('Run while a queue still asks for its tasks starts no second run', async () => {
  const queued = startQueue(plan(), false);
  void startRun('run');
  (await engine.newest('tasks')).answer([task, { ...task, index: 1 }]);
  const stream = await engine.newest('run');
  void startRun('run');
  await settled();
  expect(asked('run')).toBe(1);
  expect(useLab.getState().notebook.queue?.episodes).toHaveLength(2);
  stream.item({ kind: 'started', run: run('a') });
  await settled();
  expect(useLab.getState().live).toMatchObject({ status: 'running', summary: { id: 'a' } });
  stream.answer({ ...run('a'), reason: 'stopped' });
  await queued;
  expect(useLab.getState().notebook.queue).toBeNull();
});

test('a tab that gives the lock away while the model loads begins no run when it has loaded', async () => {
  useLab.setState({ model: null });
  const started = startRun('run');
  const load = await engine.newest('loadModel');
  dispatch({ type: 'writer', writer: 'other_tab' });
  await stopAndWait();
  expect(load.signal?.aborted).toBe(true);
  load.answer(model);
  await started;
  expect(asked('run')).toBe(0);
  expect(useLab.getState().loading).toBeNull();
});

test('a run that is taken up again waits for its model, and begins only while this tab writes', async () => {
  const other = { ...run('a'), reason: null, steps: 2 };
  dispatch({ type: 'runs', runs: [other] });
  useLab.setState({ model: { ...model, sha256: 'another' } });
  const resumed = resumeRun('a');
  const load = await engine.newest('loadModel');
  dispatch({ type: 'writer', writer: 'other_tab' });
  load.answer(model);
  await resumed;
  expect(asked('resume')).toBe(0);
  expect(isRunning(useLab.getState())).toBe(false);
});

/** A first Reflexion try that failed and wrote what to do better, up to its end. */
async function firstTry() {
  const tries = { method: 'reflexion', reflexion_tries: 3 } as const;
  const stream = await engine.newest('run');
  stream.item({ kind: 'started', run: run('a', tries) });
  for (const event of events) {
    const written = { text: 'Look in the fridge.', ids: [1], promptTokens: 1 };
    const ended = event.type === 'episode_ended' ? { ...event, reflection: written } : event;
    stream.item({ kind: 'event', event: ended });
  }
  return () => stream.answer(run('a', tries));
}

test('no next try begins where the tab has stepped back meanwhile', async () => {
  const started = startRun('run');
  const end = await firstTry();
  dispatch({ type: 'writer', writer: 'other_tab' });
  end();
  await started;
  expect(asked('run')).toBe(1);
});

test('the next try leaves the screen to who reads something else', async () => {
  const started = startRun('run');
  const end = await firstTry();
  await settled();
  dispatch(
    { type: 'run_opened', label: { id: 'old', name: 'old' }, events },
    { type: 'step_selected', t: 2 },
    { type: 'find', text: 'fridge' },
  );
  end();
  await vi.waitFor(() => expect(asked('run')).toBe(2));
  expect(useLab.getState()).toMatchObject({
    ...{ opened: { id: 'old' }, selected: 2, reading: { find: 'fridge' } },
    live: { status: 'starting' },
  });
  (await engine.newest('run')).answer(run('b'));
  await started;
});

test('while a server is asked, Run is refused; while an episode runs, no server is asked', async () => {
  const ref = { baseUrl: 'http://127.0.0.1:9', model: 'm', apiKey: null, timeout: 1 };
  const connected = connectModel(ref);
  await startRun('run');
  expect(asked('run')).toBe(0);
  expect(useLab.getState().loading).toMatchObject({ label: 'm', from: 'server' });
  (await engine.newest('connectModel')).answer({ ...model, name: 'served' });
  await connected;
  expect(useLab.getState()).toMatchObject({ model: { name: 'served' }, modelFrom: 'server' });
  const started = startRun('run');
  (await engine.newest('run')).item({ kind: 'started', run: run('a') });
  await connectModel(ref);
  await loadModel({ kind: 'bundled', name: 'household' });
  expect([asked('connectModel'), asked('loadModel')]).toEqual([1, 0]);
  (await engine.newest('run')).answer(run('a'));
  await started;
});
