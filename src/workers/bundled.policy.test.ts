/** The bundled policy from its own file, in the real world: it solves tasks, and shuffled it solves none. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Settings, settingsFor } from '../config.ts';
import { runEpisode } from '../episode.ts';
import { readGguf } from '../formats/gguf.ts';
import { bytesSource } from '../formats/source.ts';
import { deriveRng } from '../math/rng.ts';
import { nodeWasmPaths } from '../model/wasm-paths-node.ts';
import type { LearnerSnapshot, TaskRef } from '../records.ts';
import { bundledModels } from '../store/models.ts';
import { EngineHost } from './engine.ts';
import { envHandlers } from './env-server.ts';
import { localWorld } from './world-local.ts';

const env = 'household/ALFWorld-v0.4';
const { signal } = new AbortController();

/** The first 20 tasks of the frozen training split. */
const tasks = await envHandlers.calls.tasks({ env, split: 'train' }, signal);

async function solved(file: Uint8Array, chosen: readonly TaskRef[], settings: Settings) {
  const engine = new EngineHost({ wasmPaths: nodeWasmPaths(import.meta.url) }, 'wasm');
  await engine.load({ source: bytesSource(file, 'policy'), sha256: '' }, 4096, signal, () => {});
  let count = 0;
  for (const task of chosen) {
    const faces = await engine.episode(task, settings);
    let kept: LearnerSnapshot | null = null;
    const snapshots = {
      save: async (snapshot: LearnerSnapshot) => {
        kept = snapshot;
      },
      load: async () => kept ?? faces.learner.snapshot(),
    };
    const ports = {
      policy: faces.policy,
      learner: faces.learner,
      summaries: faces.summaries,
      world: localWorld(),
      snapshots,
      nextOrder: async () => 'continue' as const,
      onProgress: () => {},
    };
    for await (const event of runEpisode(faces.manifest, ports, signal)) {
      if (event.type === 'episode_ended' && event.reason === 'solved') count++;
    }
    faces.dispose();
  }
  return count;
}

/** The file with the blocks of each quantised matrix in random order: same sizes, no knowledge. */
async function shuffled(file: Uint8Array): Promise<Uint8Array> {
  const copy = file.slice();
  const { tensors } = await readGguf(bytesSource(file, 'policy'));
  const rng = deriveRng(1, 'shuffle');
  const block = 34; // Q8_0: a float16 scale and 32 int8
  for (const { type, offset, bytes } of tensors) {
    if (type !== 'Q8_0') continue;
    const order = rng.shuffle(Array.from({ length: bytes / block }, (_, i) => i));
    order.forEach((from, to) => {
      copy.set(
        file.subarray(offset + from * block, offset + (from + 1) * block),
        offset + to * block,
      );
    });
  }
  return copy;
}

const path = bundledModels[0]?.path ?? '';
const settings: Settings = { ...settingsFor(env), method: 'frozen' };

test('the bundled policy solves at least 40 % of 20 frozen training tasks', async () => {
  const file = new Uint8Array(readFileSync(path));
  const count = await solved(file, tasks.slice(0, 20), settings);
  console.log(`Solved ${count} of 20.`);
  expect(count).toBeGreaterThanOrEqual(8);
});

test('with its weights shuffled it solves none of them', async () => {
  const file = await shuffled(new Uint8Array(readFileSync(path)));
  // Ten steps keep the test short: noise writes to the token limit at every step.
  expect(await solved(file, tasks.slice(0, 20), { ...settings, step_limit: 10 })).toBe(0);
});
