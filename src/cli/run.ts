/** `attt run`: episodes without a browser; their events and what came out of them go into a folder. */

import { open, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { methodNames, type Settings, settingsFor } from '../config.ts';
import { LabError } from '../errors.ts';
import type { Channel } from '../formats/channel.ts';
import { predictionLine } from '../formats/predictions.ts';
import { mergeFiles, parseConfigToml, parseSettingsJson } from '../formats/settings.ts';
import type { RunManifest, TaskRef } from '../records.ts';
import { namedAdapter } from './adapters.ts';
import type { NamedAdapter } from './episodes.ts';
import { readText, sha256Of, withPath } from './files.ts';
import { makeFolder } from './folders.ts';
import { runOnHost, runRemote, type Where } from './host.ts';
import type { EpisodeItem, PortableFile } from './machine.ts';
import { note, WrongUse } from './output.ts';
import { Predictions } from './predictions.ts';
import { isRemote, remoteOf, summaryServerOf } from './remote.ts';
import { writeWhole } from './rows.ts';
import {
  type EpisodeResult,
  foldResult,
  isError,
  noResult,
  type RunSummary,
  summarise,
} from './summary.ts';
import { splitTasks } from './tasks.ts';

const SUMMARY = 'summary.json';
const PREDICTIONS = 'predictions.jsonl';

export interface RunOptions extends Where {
  readonly env: string;
  readonly split: string;
  readonly tasks: readonly number[];
  readonly method?: string;
  readonly config?: string;
  readonly settings?: string;
  readonly seed?: number;
  readonly out: string;
  /** What every episode starts from: a PEFT folder, a zip of one, or a GGUF. */
  readonly adapter?: string;
  /** Also a bundle for each task. */
  readonly bundles: boolean;
  /** Events say when they were recorded. */
  readonly times: boolean;
  /** Behind an address: the model's name there, in place of the one in config.toml. */
  readonly servedModel?: string;
  /** Behind an address: an adapter's path on the server's disk. */
  readonly servedAdapter?: string;
}

/** Runs the tasks in order. `failed` when an episode ended by an error of engine or environment. */
export async function run(
  options: RunOptions,
): Promise<{ readonly summary: RunSummary; readonly failed: boolean }> {
  const { settings, channel } = await settingsOf(options);
  const served = options.servedModel ?? settings.policy_model;
  const remote = isRemote(options.model)
    ? {
        ...remoteOf(options.model, served, channel, process.env),
        adapter: options.servedAdapter ?? '',
      }
    : null;
  const summaryServer = summaryServerOf(settings, channel, process.env);
  const start = await startOf(options);
  const tasks = await tasksOf(options);
  await makeFolder(options.out);
  const modelSha256 = remote ? '' : await sha256Of(options.model);
  // What an earlier run left there is not of these events, whether or not this one comes to its end.
  for (const name of [SUMMARY, PREDICTIONS]) await rm(join(options.out, name), { force: true });
  const path = join(options.out, 'events.jsonl');
  const file = await open(path, 'w');
  const results: EpisodeResult[] = [];
  const begun = (): EpisodeResult => {
    const { split = '', index = 0 } = tasks[results.length] ?? {};
    return { ...noResult, split, index };
  };
  let current = begun();
  let manifest: RunManifest | null = null;
  const predictions = new Predictions();
  let patches = '';
  const take = async (event: EpisodeItem) => {
    if (event.type !== 'episode_done') {
      await file.appendFile(`${JSON.stringify(event)}\n`).catch((thrown) => {
        throw withPath(thrown, path);
      });
      if (event.type === 'episode_started') manifest = event.manifest;
      current = foldResult(current, event);
      predictions.take(event);
      return;
    }
    const prediction = await predictions.current();
    if (prediction !== null) patches += predictionLine(prediction);
    results.push(current);
    note(`${results.length}/${tasks.length} ${inWords(current)}`);
    current = begun();
  };
  const began = performance.now();
  try {
    const episodes = tasks.map((task) => ({
      task,
      settings,
      ...(start && { adapter: start.path }),
    }));
    const { bundles, times } = options;
    const from = { remote, summaryServer, adapters: start ? [start] : [] };
    const job = {
      kind: 'run',
      episodes,
      modelSha256,
      retention: false,
      ...from,
      bundles,
      times,
    } as const;
    const keep = ({ name, base64 }: PortableFile) =>
      writeWhole(options.out, name, Buffer.from(base64, 'base64'));
    await (remote ? runRemote(job, take, keep) : runOnHost(job, options, { emit: take, keep }));
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
  await writeWhole(options.out, SUMMARY, `${JSON.stringify(summary, null, 2)}\n`);
  if (patches !== '') await writeWhole(options.out, PREDICTIONS, patches);
  return { summary, failed: results.some(isError) };
}

/** Defaults, then config.toml, then settings.json, then what the command line names. */
async function settingsOf(
  options: RunOptions,
): Promise<{ readonly settings: Settings; readonly channel: Channel | null }> {
  const { config, settings, method: asked, seed } = options;
  const toml = config === undefined ? null : parseConfigToml(await readText(config), config);
  const { patch, notes } = mergeFiles(
    toml,
    settings === undefined ? null : parseSettingsJson(await readText(settings), settings),
  );
  for (const line of notes) note(line);
  const method = methodNames.find((name) => name === asked);
  const own: Settings = {
    ...settingsFor(options.env),
    ...patch,
    ...(isRemote(options.model) ? {} : { policy_model: basename(options.model) }),
    ...(method === undefined ? {} : { method }),
    ...(seed === undefined ? {} : { seed }),
  };
  return { settings: own, channel: toml?.channel ?? null };
}

async function startOf({ adapter: path, model }: RunOptions): Promise<NamedAdapter | null> {
  if (path === undefined) return null;
  if (!isRemote(model)) return namedAdapter(path, path);
  throw new WrongUse(
    `--adapter ${path} was given beside a served model, which reads adapters from its own disk: name its path there with --served-adapter.`,
  );
}

/** The tasks of a split by index. */
async function tasksOf({ env, split, tasks }: RunOptions): Promise<readonly TaskRef[]> {
  const all = await splitTasks(env, split);
  return tasks.map((index) => {
    const task = all[index];
    if (task !== undefined) return task;
    throw new WrongUse(`--tasks names ${index}; ${split} has tasks 0 to ${all.length - 1}.`);
  });
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
