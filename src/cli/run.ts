/** `attt run`: episodes without a browser; their events and what came out of them go into a folder. */

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { methodNames, type Settings, settingsFor } from '../config.ts';
import { LabError } from '../errors.ts';
import { mergeFiles, parseConfigToml, parseSettingsJson } from '../formats/settings.ts';
import type { EpisodeEvent, RunManifest, TaskRef } from '../records.ts';
import { envHandlers } from '../workers/env-server.ts';
import { openModel, readText } from './files.ts';
import { runOnHost, type Where } from './host.ts';
import { note, WrongUse } from './output.ts';
import {
  type EpisodeResult,
  foldResult,
  isError,
  noResult,
  type RunSummary,
  summarise,
} from './summary.ts';

export interface RunOptions extends Where {
  readonly env: string;
  readonly split: string;
  readonly tasks: readonly number[];
  readonly method?: string;
  readonly config?: string;
  readonly settings?: string;
  readonly seed?: number;
  readonly out: string;
}

/** Runs the tasks in order. `failed` when an episode ended by an error of engine or environment. */
export async function run(
  options: RunOptions,
): Promise<{ readonly summary: RunSummary; readonly failed: boolean }> {
  const settings = await settingsOf(options);
  const tasks = await tasksOf(options);
  const modelSha256 = await sha256Of(options.model);
  await mkdir(options.out, { recursive: true });
  const file = await open(join(options.out, 'events.jsonl'), 'w');
  const results: EpisodeResult[] = [];
  const begun = (): EpisodeResult => {
    const { split = '', index = 0 } = tasks[results.length] ?? {};
    return { ...noResult, split, index };
  };
  let current = begun();
  let manifest: RunManifest | null = null;
  const take = async (event: EpisodeEvent) => {
    await file.write(`${JSON.stringify(event)}\n`);
    if (event.type === 'episode_started') manifest = event.manifest;
    current = foldResult(current, event);
    if (event.type !== 'episode_ended') return;
    results.push(current);
    note(`${results.length}/${tasks.length} ${inWords(current)}`);
    current = begun();
  };
  const began = performance.now();
  try {
    const job = { kind: 'run', tasks, settings, modelSha256 } as const;
    await runOnHost(job, options, take);
  } finally {
    await file.close();
  }
  const seconds = (performance.now() - began) / 1000;
  note(`${results.length} episodes in ${seconds.toFixed(1)} s.`);
  if (manifest === null) {
    const why = results[0]?.error ?? 'no episode began';
    throw new LabError('internal', `No episode could start: ${why}`);
  }
  const summary = summarise(manifest, results);
  await writeFile(join(options.out, 'summary.json'), `${JSON.stringify(summary, null, 2)}\n`);
  return { summary, failed: results.some(isError) };
}

/** Defaults, then config.toml, then settings.json, then what the command line names. */
async function settingsOf(options: RunOptions): Promise<Settings> {
  const { config, settings, method: asked, seed } = options;
  const { patch, notes } = mergeFiles(
    config === undefined ? null : parseConfigToml(await readText(config), config),
    settings === undefined ? null : parseSettingsJson(await readText(settings), settings),
  );
  for (const line of notes) note(line);
  const method = methodNames.find((name) => name === asked);
  return {
    ...settingsFor(options.env),
    ...patch,
    policy_model: basename(options.model),
    ...(method === undefined ? {} : { method }),
    ...(seed === undefined ? {} : { seed }),
  };
}

/** The tasks of a split by index. `household` alone stands for the first world of that name. */
async function tasksOf({ env: asked, split, tasks }: RunOptions): Promise<readonly TaskRef[]> {
  const { signal } = new AbortController();
  const worlds = await envHandlers.calls.describe(null, signal);
  const world = worlds.find(({ id }) => id === asked || id.startsWith(`${asked}/`));
  if (world === undefined) {
    const known = worlds.map(({ id }) => id).join(', ');
    throw new WrongUse(`--env ${asked} was given; there is ${known}.`);
  }
  const splits = world.splits.map(({ name }) => name);
  if (!splits.includes(split)) {
    throw new WrongUse(`--split ${split} was given; ${world.id} has ${splits.join(', ')}.`);
  }
  const all = await envHandlers.calls.tasks({ env: world.id, split }, signal);
  return tasks.map((index) => {
    const task = all[index];
    if (task !== undefined) return task;
    throw new WrongUse(`--tasks names ${index}; ${split} has tasks 0 to ${all.length - 1}.`);
  });
}

async function sha256Of(model: string): Promise<string> {
  await using source = await openModel(model);
  const hash = createHash('sha256');
  for await (const part of createReadStream(source.path)) hash.update(part);
  return hash.digest('hex');
}

function inWords({
  split,
  index,
  reason,
  steps,
  updates,
  rollbacks,
  error,
}: EpisodeResult): string {
  const why = error === null ? '' : ` (${error})`;
  return `${split} ${index}: ${reason}${why} after ${steps} steps, ${updates} updates, ${rollbacks} rollbacks.`;
}
