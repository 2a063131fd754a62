/** What a link opens, and what stands in the address: the update that is looked at, and the task of the next episode. */

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { madeRun } from '../../e2e/fixtures/recorded/household-run.ts';
import type { EnvDescription, TaskRef } from '../records.ts';
import { chooseTask } from './actions.ts';
import { copyAddress, followAddress } from './address.ts';
import { startSettings } from './defaults.ts';
import { initialState, shownRun } from './state.ts';
import { dispatch, useLab } from './store.ts';
import { settled, testingEngine } from './testing-engine.ts';

const address = {
  ...{ search: '', hash: '', pathname: '/' },
  get href(): string {
    return `http://lab.example/${this.hash}`;
  },
};
const page = new EventTarget();
const clipboard = { writeText: async (_: string) => {} };
vi.stubGlobal('location', address);
vi.stubGlobal('window', page);
vi.stubGlobal('navigator', { clipboard });
vi.stubGlobal('history', {
  replaceState: (_state: null, _title: string, url: string) => {
    address.hash = url.startsWith('#') ? url : '';
  },
});
const kept = new Map<string, string>();
vi.stubGlobal('localStorage', {
  getItem: (key: string) => kept.get(key) ?? null,
  setItem: (key: string, value: string) => kept.set(key, value),
});
let engine = testingEngine();
vi.mock('./engine.ts', () => ({ engine: () => engine.client, engineDown: { engine: 'down' } }));

const splits = ['train', 'valid_unseen'].map((name) => ({ name, size: 9, help: '' }));
const environments = ['household/ALFWorld-v0.4', 'repair/Programs-v1'].map(
  (id) => ({ id, splits }) as unknown as EnvDescription, // what is read of it
);
const [household = '', repair = ''] = environments.map(({ id }) => id);
const tasksOf = (env: string, split: string): readonly TaskRef[] =>
  Array.from({ length: 9 }, (_, index) => ({ env, split, index }));
const chosen = () => {
  const { task } = useLab.getState();
  return task && [task.env, task.split, task.index];
};
/** Longer than the page waits before it writes the address. */
const written = () => new Promise((resolve) => setTimeout(resolve, 350));
let leave = () => {};
async function enter(hash: string) {
  address.hash = hash;
  page.dispatchEvent(new Event('hashchange'));
  await settled();
}

beforeEach(() => {
  kept.clear();
  address.hash = '';
  engine = testingEngine({ runEvents: events });
  useLab.setState(initialState, true);
  dispatch({ type: 'environments', environments });
  for (const { id } of environments) {
    for (const { name } of splits) {
      dispatch({ type: 'tasks', env: id, split: name, tasks: tasksOf(id, name) });
    }
  }
});
afterEach(() => leave());

const events = madeRun({ steps: 12, seed: 6 });
const boundaries = events.filter((event) => event.type === 'boundary');
const [early, late] = boundaries;
if (!early || !late) throw new Error('the made run has boundaries');

test('a link copied at an update opens that update', async () => {
  const copied = vi.spyOn(clipboard, 'writeText');
  dispatch({ type: 'run_opened', label: { id: 'a', name: 'a' }, events });
  const run = shownRun(useLab.getState());
  if (!run) throw new Error('no run');
  expect(await copyAddress(run, early.t, early.seq)).toBe(true);
  const hash = `#run=a&step=${early.t}&boundary=${early.seq}`;
  expect(copied).toHaveBeenLastCalledWith(`http://lab.example/${hash}`);

  useLab.setState(initialState, true);
  address.hash = hash;
  leave = followAddress();
  await settled();
  const { selected, reading } = useLab.getState();
  expect([selected, reading.boundary]).toEqual([early.t, early.seq]);
  // Another update is looked at: the address follows. One that the step does not have is none.
  dispatch({ type: 'step_selected', t: late.t, seq: late.seq });
  await written();
  expect(address.hash).toBe(`#run=a&step=${late.t}&boundary=${late.seq}`);
  await enter(`#run=a&step=${early.t}&boundary=${late.seq}`);
  expect(useLab.getState().reading.boundary).toBeNull();
});

test('what the browser does not let copy is looked at, so that it stands in the address', async () => {
  vi.spyOn(clipboard, 'writeText').mockRejectedValueOnce(new Error('not allowed'));
  dispatch({ type: 'run_opened', label: { id: 'a', name: 'a' }, events });
  const run = shownRun(useLab.getState());
  if (!run) throw new Error('no run');
  expect(await copyAddress(run, early.t, early.seq)).toBe(false);
  expect(useLab.getState().reading.boundary).toBe(early.seq);
});

test('another task than the first stands in the address, and a link chooses it with its settings', async () => {
  leave = followAddress();
  await chooseTask(household, 'valid_unseen', 0);
  await written();
  expect(address.hash).toBe('');
  await chooseTask(repair, 'train', 3);
  dispatch({ type: 'setting_changed', patch: { max_tokens: 64 } });
  await written();
  const link = address.hash;
  // 64 is what the first world wants and this one does not; its own prompt is not named.
  expect(link).toBe('#task=repair.train.3&max_tokens=64');
  const sent = useLab.getState().settings;

  await enter('#lora_rank=4');
  expect(chosen()).toEqual([household, 'valid_unseen', 0]);
  expect(useLab.getState().settings).toEqual({ ...startSettings, lora_rank: 4 });
  await enter(link);
  expect(chosen()).toEqual([repair, 'train', 3]);
  expect(useLab.getState().settings).toEqual(sent);
  // One that names neither is given both.
  await enter('#step=2');
  expect(address.hash).toBe('#step=2&task=repair.train.3');
});

test('the next visit begins in the first world, without what another one wants', async () => {
  await chooseTask(household, 'valid_unseen', 0);
  await chooseTask(repair, 'train', 3);
  dispatch({ type: 'setting_changed', patch: { lora_rank: 4 } });
  expect(useLab.getState().settings.max_tokens).toBe(512);
  expect(JSON.parse(kept.get('attt.settings') ?? '')).toEqual({ ...startSettings, lora_rank: 4 });
});
