import 'fake-indexeddb/auto';
import { expect, test } from 'vitest';
import { defaultSettings } from '../config.ts';
import { startAdapterRef } from '../model/start-adapter.ts';
import type { EpisodeStarted, RunSummary } from '../records.ts';
import { shelveAdapter } from '../store/adapters.ts';
import { dropEventsFrom, runEvents } from '../store/runs.ts';
import { loadSnapshot, saveSnapshot } from '../store/snapshots.ts';
import { fresh, run, scripted } from '../train/testing-episode.ts';
import type { RunItem } from './api.ts';
import type { EngineHost, EpisodeExtras } from './engine.ts';
import type { EnvHost } from './env-host.ts';
import { EpisodeRunner } from './runner.ts';

const settings = { ...defaultSettings, step_limit: 5 };
const never = new AbortController().signal;
const { events: made } = await run(fresh, settings);
const started = made.find((event): event is EpisodeStarted => event.type === 'episode_started');
if (!started) throw new Error('the run starts');
const { manifest, task } = started;

/** A runner over scripted ports; `extras` holds what each episode was given. */
function runner() {
  const extras: EpisodeExtras[] = [];
  const engine = {
    backend: async () => ({ lost: new Promise(() => {}) }),
    async episode(_task: unknown, _settings: unknown, extra: EpisodeExtras) {
      extras.push(extra);
      const start = extra.startAdapter && { startAdapter: startAdapterRef(extra.startAdapter) };
      return { ...scripted(fresh).ports, manifest: { ...manifest, ...start }, dispose() {} };
    },
  } as unknown as EngineHost; // the parts that the runner uses
  let n = 0;
  const view = { observation: 'A room.', admissible: null, reward: 0, terminated: false };
  const worlds = {
    call: async () => ({ state: null, view: { ...view, stateHash: `s${n++}` } }),
  } as unknown as EnvHost; // as above
  return { runner: new EpisodeRunner(engine, worlds), extras };
}

async function ended(items: AsyncGenerator<RunItem, RunSummary, void>): Promise<RunSummary> {
  for (;;) {
    const next = await items.next();
    if (next.done) return next.value;
  }
}

test('a tab that goes between an update and its snapshot loses neither: resuming keeps the adapter', async () => {
  const { id } = await ended(runner().runner.start({ task, settings, summaryServer: null }, never));
  const events = await runEvents(id);
  expect(events.map(({ type }) => type).slice(-2)).toEqual(['boundary', 'episode_ended']);
  expect((await loadSnapshot(id, 'latest')).optimiser.step).toBe(1);
  await dropEventsFrom(id, events.length - 1);
  await saveSnapshot(id, 'latest', await loadSnapshot(id, 'start'));
  const { reason } = await ended(runner().runner.resume({ id, summaryServer: null }, never));
  expect(reason).toBe('step_limit');
  expect((await loadSnapshot(id, 'latest')).optimiser.step).toBe(1);
});

test('a fork of a later try begins with the reflections that its recorded turns were written after', async () => {
  const { runner: one, extras } = runner();
  const reflections = ['Look behind the door.'];
  const record = [{ ...started, manifest: { ...manifest, reflections } }, ...made.slice(1)];
  await ended(one.fork({ record, run: null, t: 1, settings, summaryServer: null }, never));
  expect(extras).toMatchObject([{ reflections }]);
});

test('what a run starts from goes with its resumption, its forks and its next tries', async () => {
  const data = { modules: [] };
  const facts = { targets: [], ranks: [], modules: 0, parameters: 0, norm: 0 };
  const named = { name: 'mine', note: '', modelName: 'm', modelSha256: 'abc' };
  await shelveAdapter({ id: 'a', createdAt: '2026-01-01', ...named, ...facts }, data);
  const { runner: one, extras } = runner();
  const own = { task, settings, summaryServer: null };
  const first = await ended(one.start({ ...own, startFrom: { kind: 'shelf', id: 'a' } }, never));
  const events = await runEvents(first.id);
  await dropEventsFrom(first.id, events.length - 1);
  const { runner: other, extras: resumed } = runner();
  await ended(other.resume({ id: first.id, summaryServer: null }, never));
  const fork = { record: events, run: null, t: 1, settings, summaryServer: null };
  expect((await ended(one.fork(fork, never))).manifest.startAdapter?.name).toBe('mine');
  await ended(one.start({ ...own, startFrom: { kind: 'run', id: first.id } }, never));
  await ended(one.start(own, never));
  const names = extras.map(({ startAdapter }) => startAdapter?.name ?? null);
  expect(names).toEqual(['mine', 'mine', 'mine', null]);
  expect(resumed.map(({ startAdapter }) => startAdapter?.name)).toEqual(['mine']);
});
