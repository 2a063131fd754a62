/** One episode on engines that were opened for contexts of two lengths. */

import { expect, test } from 'vitest';
import { randomPolicy } from '../cli/testing-policy.ts';
import { defaultSettings, type Settings } from '../config.ts';
import { runEpisode } from '../episode.ts';
import { bytesSource } from '../formats/source.ts';
import { nodeWasmPaths } from '../model/wasm-paths-node.ts';
import type { Boundary, EpisodeEvent, LearnerSnapshot } from '../records.ts';
import { EngineHost } from './engine.ts';
import { envHandlers } from './env-server.ts';
import { localWorld } from './world-local.ts';

const never = new AbortController().signal;
const env = 'household/ALFWorld-v0.4';
// The first prompt has 444 ids, each turn up to 39: the third one is more than the context holds.
const settings: Settings = {
  ...defaultSettings,
  ...{ context_length: 540, max_tokens: 4, step_limit: 4, update_interval_k: 1 },
  ...{ min_steps_before_first_update: 0, novelty_threshold: 0, rollback_enable: false },
  ...{ text_source: 'env', train_context: 'conversation', log_kl_every_n_updates: 1 },
  learning_rate: 0.01,
};

async function eventsOf(contextLength: number): Promise<readonly EpisodeEvent[]> {
  const [task] = await envHandlers.calls.tasks({ env, split: 'valid_unseen' }, never);
  if (!task) throw new Error('the split has tasks');
  const engine = new EngineHost({ wasmPaths: nodeWasmPaths(import.meta.url) }, 'wasm');
  const file = { source: bytesSource(randomPolicy(1), 'random.gguf'), sha256: 'abc' };
  await engine.load(file, contextLength, never, () => {});
  const { manifest, dispose, ...faces } = await engine.episode(task, settings);
  let start: LearnerSnapshot | null = null;
  const snapshots = {
    async save(snapshot: LearnerSnapshot) {
      start = snapshot;
    },
    async load() {
      if (!start) throw new Error('no snapshot');
      return start;
    },
  };
  const nextOrder = async () => 'continue' as const;
  const ports = { ...faces, world: localWorld(), snapshots, nextOrder, onProgress: () => {} };
  const events: EpisodeEvent[] = [];
  for await (const event of runEpisode(manifest, ports, never)) events.push(event);
  dispose();
  return events;
}

test('an engine that holds more than the run’s context gives the same episode, to the last bit', async () => {
  const events = await eventsOf(540);
  const boundaries = events.filter((event): event is Boundary => event.type === 'boundary');
  expect(boundaries.map(({ outcome }) => outcome)).toEqual(Array(4).fill('updated'));
  for (const { tokens } of boundaries) {
    expect((tokens?.context?.length ?? 0) + (tokens?.ids.length ?? 0)).toBeLessThanOrEqual(540);
  }
  expect(await eventsOf(4096)).toEqual(events);
});
