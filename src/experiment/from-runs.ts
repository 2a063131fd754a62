/** Single runs as an experiment, so that a report can be made of what was run by hand. */

import { changedFields, type Settings } from '../config.ts';
import { LabError } from '../errors.ts';
import type { EpisodeEvent, RunManifest } from '../records.ts';
import type { Header } from './header.ts';
import type { Arm } from './plan.ts';
import { closeRow, foldRow, openRow, type Row } from './row.ts';

export interface FinishedRun {
  readonly manifest: RunManifest;
  readonly events: readonly EpisodeEvent[];
}

export interface RunsAsExperiment {
  readonly header: Header;
  readonly rows: readonly Row[];
  /** Sentences for the reader: what such a report cannot say. */
  readonly notes: readonly string[];
}

/**
 * Runs of the newest run's model, start adapter, backend, world and split; others are left out and counted. Settings
 * that differ make different arms; a second run of one arm, task and seed is left out too. `runs` is
 * newest first. Throws `not_found` without a run.
 */
export function experimentOfRuns(runs: readonly FinishedRun[]): RunsAsExperiment {
  const [newest] = runs;
  if (!newest) {
    throw new LabError('not_found', 'There is no finished run yet. Let one run to its end first.');
  }
  const groupOf = ({ manifest: m }: FinishedRun) =>
    [m.modelSha256, m.startAdapter?.sha256, m.backend, m.env, m.task.split].join('\n');
  const same = runs.filter((run) => groupOf(run) === groupOf(newest));
  const arms: Arm[] = [];
  const rows = new Map<string, Row>();
  let repeated = 0;
  for (const { manifest, events } of same) {
    const arm = armOf(manifest.settings, arms);
    const { task, settings } = manifest;
    const key = `${arm.name}/${task.split}/${task.index}/${settings.seed}`;
    if (rows.has(key)) {
      repeated++;
      continue;
    }
    const open = openRow({ key, arm: arm.name, pair: 0, task, settings });
    rows.set(key, closeRow(events.reduce(foldRow, open), null, 0));
  }
  const all = [...rows.values()];
  const { manifest } = newest;
  const left = runs.length - same.length;
  return {
    header: {
      schema: 1,
      experiment: {
        name: 'Runs in this browser',
        question: '',
        env: manifest.env,
        split: manifest.task.split,
        tasks: [...new Set(all.map(({ task }) => task))].sort((a, b) => a - b),
        seeds: [...new Set(all.map(({ seed }) => seed))].sort((a, b) => a - b),
        methods: [...new Set(arms.map(({ method }) => method))],
        settings: {},
        sweeps: [],
      },
      env: manifest.env,
      taskSet: 'not recorded; each run’s first world is compared instead',
      model: manifest.modelName,
      modelSha256: manifest.modelSha256,
      backend: manifest.backend,
      appVersion: manifest.appVersion,
      arms,
      planned: all.length,
    },
    rows: all,
    notes: [
      'These runs were chosen by hand, so their rates are no measure of a method. Seconds and forgetting were not recorded.',
      ...(left > 0
        ? [`${left} runs of another model, start adapter, backend, world or split are left out.`]
        : []),
      ...(repeated > 0
        ? [`${repeated} repeats of the same task, seed and settings are left out.`]
        : []),
    ],
  };
}

/** The arm with these settings, seed aside; a new one is named by what differs from its method's first. */
function armOf(settings: Settings, arms: Arm[]): Arm {
  const differing = (arm: Arm) =>
    changedFields(arm.settings, settings).filter((name) => name !== 'seed');
  const known = arms.find((arm) => differing(arm).length === 0);
  if (known) return known;
  const plain = arms.find(({ method, name }) => method === settings.method && name === method);
  const parts = plain ? differing(plain).map((name) => `${name}=${String(settings[name])}`) : [];
  const arm: Arm = {
    name: [settings.method, ...parts].join(' '),
    method: settings.method,
    settings,
    notApplicable: null,
  };
  arms.push(arm);
  return arm;
}
