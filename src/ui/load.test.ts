/** Which model is loaded where none was asked for by name: the one in use before, else the one that the settings name. */

import { beforeEach, expect, test, vi } from 'vitest';
import { LabError } from '../errors.ts';
import type { ModelInfo, StoredModel } from '../records.ts';
import { startLab } from './actions.ts';
import { connectModel, loadModel, loadNamed } from './load.ts';
import { startRun } from './running.ts';
import { initialState } from './state.ts';
import { dispatch, useLab } from './store.ts';
import { settled, testingEngine } from './testing-engine.ts';

vi.stubGlobal('location', { search: '', hash: '', pathname: '/' });
vi.stubGlobal('history', { replaceState: () => {} });
const quiet = {
  ...{ runs: [], models: [], snapshotSizes: {}, environments: [], loadedModel: null },
  previewModel: { limit: null, memory: [] },
};
let engine = testingEngine(quiet);
vi.mock('./engine.ts', () => ({
  engine: () => engine.client,
  startEngine: () => engine.client,
  engineDown: { engine: 'down' },
}));
vi.mock('./notes.ts', () => ({ readNotes: async () => {} }));

const url = 'https://models.example/smollm2.gguf';
const kept = { key: url, name: 'smollm2.gguf', complete: true } as StoredModel; // what is read of it
const model = { name: 'SmolLM2', sha256: 'abc', contextLength: 2048 } as ModelInfo; // as above
const named = () => useLab.getState().settings.policy_model;
const loads = () => engine.asked.filter(({ name }) => name === 'loadModel').map((a) => a.input);
/** A fresh engine, as after a restart or another choice of what computes. */
async function restart(also: Readonly<Record<string, unknown>> = {}) {
  engine = testingEngine({ ...quiet, probe: {}, loadModel: model, ...also });
  await startLab();
}

beforeEach(() => {
  engine = testingEngine({ ...quiet, loadModel: model });
  useLab.setState({ ...initialState, engine: 'ready' }, true);
  dispatch({ type: 'writer', writer: 'this_tab' });
});

test('Run loads the model that the settings name from the cache, and asks before a download', async () => {
  dispatch({ type: 'setting_changed', patch: { policy_model: url } });
  await startRun('run');
  expect(loads()).toEqual([]);
  expect(useLab.getState().notices).toMatchObject([{ action: 'download_model', url }]);
  dispatch({ type: 'stored_models', models: [kept] });
  await startRun('run');
  expect(loads()).toMatchObject([{ ref: { kind: 'cached', key: url } }]);
  expect(useLab.getState()).toMatchObject({
    model: { name: 'SmolLM2' },
    notices: [{ title: 'The run was not started' }],
  });
  expect(named()).toBe(url);
});

test('a setting that names a file of the person is left as it is and asked for', async () => {
  await loadModel({ kind: 'bundled', name: 'household' });
  dispatch({ type: 'setting_changed', patch: { policy_model: 'mine.gguf' } });
  expect(await loadNamed(named())).toBe(false);
  expect(useLab.getState().notices.at(-1)?.message).toMatch(/“mine.gguf” is wanted/);
  expect([loads().length, named()]).toEqual([1, 'mine.gguf']);
});

test('a restart loads the very file again, and leaves what the settings say', async () => {
  const file = new File(['GGUF'], 'mine.gguf');
  await loadModel({ kind: 'file', file });
  expect(named()).toBe('mine.gguf');
  dispatch({ type: 'setting_changed', patch: { policy_model: 'household' } });
  await restart();
  expect(loads()).toMatchObject([{ ref: { kind: 'file', file } }]);
  expect(named()).toBe('household');
});

test('an engine that died took the model along: the restart loads it again, from the cache', async () => {
  await loadModel({ kind: 'url', url });
  dispatch({ type: 'engine_failed', error: { code: 'internal', message: 'gone', details: {} } });
  expect(useLab.getState().model).toBeNull();
  await restart({ models: [kept] });
  expect(loads()).toMatchObject([{ ref: { kind: 'cached', key: url } }]);
  expect(useLab.getState()).toMatchObject({
    model: { name: 'SmolLM2' },
    settings: { policy_model: url },
  });
});

test('a restart connects the server again, with the key of this visit', async () => {
  const ref = { baseUrl: 'http://127.0.0.1:9', model: 'm', apiKey: 'k', timeout: 1 };
  engine = testingEngine({ ...quiet, connectModel: { ...model, name: 'served' } });
  await connectModel(ref);
  await restart({ connectModel: { ...model, name: 'served' } });
  await settled();
  expect(engine.asked.find(({ name }) => name === 'connectModel')?.input).toEqual(ref);
  expect([loads(), named()]).toEqual([[], 'served']);
});

test('a restart during a start leaves one engine, and tells of no failure', async () => {
  engine = testingEngine(quiet);
  const first = startLab();
  const probe = await engine.newest('probe');
  const second = startLab();
  probe.fail(new LabError('aborted', 'The engine was restarted.'));
  await first;
  expect(useLab.getState()).toMatchObject({ engine: 'starting', notices: [] });
  (await engine.newest('probe')).answer({});
  (await engine.newest('connectModel')).answer({ ...model, name: 'served' });
  await second;
  expect(useLab.getState().engine).toBe('ready');
});
