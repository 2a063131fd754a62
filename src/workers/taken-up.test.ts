/** A run that learns with everything that a boundary remembers, left and taken up again, against itself undisturbed. */

import 'fake-indexeddb/auto';
import { expect, test } from 'vitest';
import { randomPolicy } from '../cli/testing-policy.ts';
import { settingsFor } from '../config.ts';
import { readSnapshot, writeSnapshot } from '../formats/bundle-snapshot.ts';
import { bytesSource } from '../formats/source.ts';
import { nodeWasmPaths } from '../model/wasm-paths-node.ts';
import type { Boundary, EpisodeEvent, LearnerSnapshot, RunSummary } from '../records.ts';
import { dropEventsFrom, runEvents } from '../store/runs.ts';
import { loadSnapshot } from '../store/snapshots.ts';
import type { Control, RunItem } from './api.ts';
import { EngineHost } from './engine.ts';
import type { EnvHost } from './env-host.ts';
import { envHandlers } from './env-server.ts';
import { EpisodeRunner } from './runner.ts';

const env = 'household/ALFWorld-v0.4';
const never = new AbortController().signal;
const settings = {
  ...settingsFor(env),
  ...{ step_limit: 9, max_tokens: 12, seed: 2 },
  ...{ update_interval_k: 2, min_steps_before_first_update: 2, log_kl_every_n_updates: 1 },
  ...{ learning_rate: 0.02, kl_divergence_limit: 100, repetition_ratio_limit: 1 },
  ...{ ewc_strength: 5, replay_texts: 2, kl_penalty: 0.1, validation_texts: 2 },
};
const [task] = await envHandlers.calls.tasks({ env, split: 'train' }, never);
if (!task) throw new Error('the split has tasks');

async function loadedEngine(): Promise<EngineHost> {
  const engine = new EngineHost({ wasmPaths: nodeWasmPaths(import.meta.url) }, 'wasm');
  const file = { source: bytesSource(randomPolicy(1), 'random.gguf'), sha256: 'abc' };
  await engine.load(file, 4096, never, () => {});
  return engine;
}

/** A tab that has just been opened: an engine of its own, over the store that all tabs share. */
async function tab(): Promise<EpisodeRunner> {
  const engine = await loadedEngine();
  const worlds: Pick<EnvHost, 'call'> = {
    call: async (name, input) => envHandlers.calls[name](input, never),
  };
  return new EpisodeRunner(engine, worlds);
}

/** Runs to its end; `order` is asked after each event for what a person wants then. */
async function ended(
  runner: EpisodeRunner,
  items: AsyncGenerator<RunItem, RunSummary, void>,
  order: (event: EpisodeEvent) => Control | null = () => null,
): Promise<RunSummary> {
  let id = '';
  for (;;) {
    const next = await items.next();
    if (next.done) return next.value;
    if (next.value.kind === 'started') ({ id } = next.value.run);
    const control = next.value.kind === 'event' ? order(next.value.event) : null;
    if (control) runner.control(id, control);
  }
}

async function recorded({ id }: RunSummary): Promise<EpisodeEvent[]> {
  const events = await runEvents(id);
  return events.map(({ clock: _, ...event }) => event);
}

const begin = { task, settings, summaryServer: null };
const first = await tab();
const undisturbed = await ended(first, first.start(begin, never));
const whole = await recorded(undisturbed);
const latest = await loadSnapshot(undisturbed.id, 'latest');

test('the run of this test trains with every memory of a boundary, so that it can tell', () => {
  const boundaries = whole.filter((event): event is Boundary => event.type === 'boundary');
  expect(boundaries.filter(({ outcome }) => outcome === 'updated').length).toBeGreaterThan(1);
  expect(boundaries.some(({ replayed = 0 }) => replayed > 0)).toBe(true);
  expect(boundaries.some(({ check }) => check)).toBe(true);
  expect(latest.ewc?.fisher[0]?.some((x) => x > 0)).toBe(true);
});

test('stopped and taken up in another tab, it has the same numbers to the last bit', async () => {
  const one = await tab();
  const stopped = await ended(one, one.start(begin, never), (event) =>
    event.type === 'boundary' && event.t === 4 ? 'stop' : null,
  );
  expect(stopped.reason).toBe('stopped');
  const other = await tab();
  const resumed = await ended(other, other.resume({ id: stopped.id, summaryServer: null }, never));
  expect(await recorded(resumed)).toEqual(whole);
  expect(await loadSnapshot(resumed.id, 'latest')).toEqual(latest);
});

test('a tab that died after any step or boundary: the same', async () => {
  const one = await tab();
  const { id } = await ended(one, one.start(begin, never));
  for (const length of [whole.length - 2, 7, 6]) {
    await dropEventsFrom(id, length);
    const other = await tab();
    const resumed = await ended(other, other.resume({ id, summaryServer: null }, never));
    expect(await recorded(resumed), `cut to ${length} events`).toEqual(whole);
    expect(await loadSnapshot(id, 'latest')).toEqual(latest);
  }
});

test('forked at a step under its own settings, it goes on as it did', async () => {
  const one = await tab();
  const fork = { ...begin, record: whole, run: undisturbed.id, t: 5 };
  const forked = await ended(one, one.fork(fork, never));
  const [start, ...rest] = await recorded(forked);
  expect(rest).toEqual(whole.slice(1));
  expect(start).toMatchObject({ manifest: { forkedFrom: { t: 5 } } });
  expect(await loadSnapshot(forked.id, 'latest')).toEqual(latest);
});

test('the state that a bundle keeps is all that the next update reads', async () => {
  const engine = await loadedEngine();
  const text = { context: [3], ids: [7, 11, 20, 40], weights: [1, 1, 0.5, 1] };
  const after = async (from: LearnerSnapshot) => {
    const { learner, dispose } = await engine.episode(task, settings);
    learner.restore(from);
    const trained = await learner.train([text], settings, never, () => {});
    const left = await learner.snapshot();
    dispose();
    return { trained, left };
  };
  const kept = readSnapshot(writeSnapshot(latest), 'latest');
  expect(kept).toEqual(latest);
  expect(await after(kept)).toEqual(await after(latest));
});
