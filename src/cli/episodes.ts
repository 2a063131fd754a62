/** Runs episodes one after another on one engine; every event goes out before the next is asked for. */

import type { Settings } from '../config.ts';
import { runEpisode } from '../episode.ts';
import type { Snapshots } from '../ports.ts';
import type { LearnerSnapshot, TaskRef } from '../records.ts';
import { EngineHost } from '../workers/engine.ts';
import { localWorld } from '../workers/world-local.ts';
import type { Machine } from './jobs.ts';

/** Episodes of one model under one set of settings. */
export interface EpisodesJob {
  readonly kind: 'run';
  readonly tasks: readonly TaskRef[];
  readonly settings: Settings;
  /** Of the model's file, hex. */
  readonly modelSha256: string;
}

/** An episode that fails ends with its own event, and the next one begins. */
export async function runEpisodes(job: EpisodesJob, machine: Machine): Promise<void> {
  const { source, backend, env, note, emit } = machine;
  const { tasks, settings, modelSha256: sha256 } = job;
  const { signal } = new AbortController();
  const engine = new EngineHost(env, backend);
  const { device } = await engine.capabilities();
  note(`Backend: ${backend}, ${device}.`);
  await engine.load({ source, sha256 }, settings.context_length, signal, () => {});
  for (const task of tasks) {
    const faces = await engine.episode(task, settings);
    try {
      const ports = {
        policy: faces.policy,
        learner: faces.learner,
        world: localWorld(),
        snapshots: heldSnapshots(),
        nextOrder: async () => 'continue' as const,
        onProgress: () => {},
      };
      for await (const event of runEpisode(faces.manifest, ports, signal)) await emit(event);
    } finally {
      faces.dispose();
    }
  }
}

/** The episode's start as bytes of its own, so that nothing that learns can reach it. */
function heldSnapshots(): Snapshots {
  let held: LearnerSnapshot | null = null;
  return {
    async save(snapshot) {
      held = structuredClone(snapshot);
    },
    async load() {
      if (held === null) throw new Error('The episode start was never saved.');
      return structuredClone(held);
    },
  };
}
