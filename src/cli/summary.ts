/** What came out of a run of episodes, as a fold over their events. No clock, so equal runs are equal. */

import type { Settings } from '../config.ts';
import type { EpisodeEvent, RunManifest, StopReason } from '../records.ts';

/** One episode. */
export interface EpisodeResult {
  readonly split: string;
  readonly index: number;
  /** The kind of task; null where the world does not say. */
  readonly kind: string | null;
  readonly goal: string | null;
  readonly solved: boolean;
  /** null until it has ended. */
  readonly reason: StopReason | null;
  readonly reward: number;
  readonly steps: number;
  readonly updates: number;
  readonly rollbacks: number;
  /** Mean over the steps of each step's repetition. */
  readonly mean_repetition: number;
  /** The largest KL to the episode start that was measured; null when none was. */
  readonly max_kl: number | null;
  readonly error: string | null;
}

export interface RunSummary {
  readonly model_name: string;
  readonly model_sha256: string;
  readonly app_version: string;
  readonly backend: string;
  readonly device: string;
  readonly env: string;
  readonly settings: Settings;
  readonly episodes: readonly EpisodeResult[];
  readonly totals: {
    readonly episodes: number;
    readonly solved: number;
    /** Ended by an error of engine or environment: in no rate. */
    readonly errors: number;
    /** solved / (episodes - errors); null when that is 0. */
    readonly success_rate: number | null;
    readonly mean_steps: number | null;
    readonly mean_repetition: number | null;
    readonly updates: number;
    readonly rollbacks: number;
  };
}

export const noResult: EpisodeResult = {
  split: '',
  index: 0,
  kind: null,
  goal: null,
  solved: false,
  reason: null,
  reward: 0,
  steps: 0,
  updates: 0,
  rollbacks: 0,
  mean_repetition: 0,
  max_kl: null,
  error: null,
};

/** An episode's result after one more of its events. */
export function foldResult(result: EpisodeResult, event: EpisodeEvent): EpisodeResult {
  switch (event.type) {
    case 'episode_started': {
      const { split, index, kind = null, goal = null } = event.task;
      return { ...noResult, split, index, kind, goal };
    }
    case 'step': {
      const sum = result.mean_repetition * result.steps + event.repetition;
      return { ...result, steps: event.t, mean_repetition: sum / event.t };
    }
    case 'boundary': {
      const kl = event.kl ?? Number.NEGATIVE_INFINITY;
      const most = Math.max(result.max_kl ?? Number.NEGATIVE_INFINITY, kl);
      return { ...result, max_kl: Number.isFinite(most) ? most : null };
    }
    case 'rolled_back':
      return result;
    case 'episode_ended':
      return {
        ...result,
        solved: event.reason === 'solved',
        reason: event.reason,
        reward: event.reward,
        updates: event.updates,
        rollbacks: event.rollbacks,
        error: event.error?.message ?? null,
      };
    default:
      return event satisfies never;
  }
}

/** True for an episode that says nothing about the policy. */
export function isError({ reason }: EpisodeResult): boolean {
  return reason === 'engine_error' || reason === 'environment_error';
}

/** The whole run. `manifest` is that of any of its episodes. */
export function summarise(manifest: RunManifest, episodes: readonly EpisodeResult[]): RunSummary {
  const valid = episodes.filter((episode) => !isError(episode));
  const solved = valid.filter((episode) => episode.solved).length;
  const total = (value: (episode: EpisodeResult) => number) =>
    valid.reduce((sum, episode) => sum + value(episode), 0);
  const mean = (sum: number) => (valid.length === 0 ? null : sum / valid.length);
  return {
    model_name: manifest.modelName,
    model_sha256: manifest.modelSha256,
    app_version: manifest.appVersion,
    backend: manifest.backend,
    device: manifest.device,
    env: manifest.env,
    settings: manifest.settings,
    episodes,
    totals: {
      episodes: episodes.length,
      solved,
      errors: episodes.length - valid.length,
      success_rate: mean(solved),
      mean_steps: mean(total(({ steps }) => steps)),
      mean_repetition: mean(total((episode) => episode.mean_repetition)),
      updates: total(({ updates }) => updates),
      rollbacks: total(({ rollbacks }) => rollbacks),
    },
  };
}
