/** `attt experiment`: runs what a file plans, goes on where it was left, and joins shards. */

import { availableParallelism } from 'node:os';
import { basename, dirname, resolve } from 'node:path';
import { taskSetHash } from '../envs/task-set.ts';
import { LabError } from '../errors.ts';
import type { ModelFacts } from '../experiment/applicable.ts';
import { type Experiment, readExperiment } from '../experiment/experiment.ts';
import { checkSame, type Header, plannedKeys } from '../experiment/header.ts';
import { mix, rowIn } from '../experiment/mix.ts';
import {
  type Arm,
  type Plan,
  type PlannedEpisode,
  planExperiment,
  shardOf,
} from '../experiment/plan.ts';
import { designOf, pointsTold, powerInWords } from '../experiment/power.ts';
import { addRow, sameResult } from '../experiment/read-rows.ts';
import {
  closeRow,
  foldRow,
  isErrorRow,
  type OpenRow,
  openRow,
  type Row,
} from '../experiment/row.ts';
import { countParameters, readGguf } from '../formats/gguf.ts';
import { parseConfigToml } from '../formats/settings.ts';
import { type LlamaConfig, readLlamaConfig } from '../model/llama-config.ts';
import { startAdapterRef } from '../model/start-adapter.ts';
import type { RemoteRef } from '../records.ts';
import { checkStart } from '../train/start-check.ts';
import { version } from '../version.ts';
import { namedAdapter } from './adapters.ts';
import { type EpisodesJob, type NamedAdapter, openStart } from './episodes.ts';
import { openModel, readText, sha256Of } from './files.ts';
import { makeFolder } from './folders.ts';
import type { Where } from './host.ts';
import { note, WrongUse } from './output.ts';
import { remoteOf } from './remote.ts';
import { checkKnown, openRows, readHeader, readRows, writeHeader } from './rows.ts';
import { runSideBySide, type Take } from './side-by-side.ts';
import { splitTasks } from './tasks.ts';

export interface ExperimentOptions extends Setup {
  readonly out: string;
  /** i of n, from 1. */
  readonly shard: Shard;
  /** How many episodes are played side by side; no result depends on it. */
  readonly jobs: number;
  /** Names of the arms to run now; empty for all. The others are left for another call. */
  readonly arm: readonly string[];
}

/** What a plan depends on besides its file. */
export interface Setup extends Where {
  /** A config.toml whose channel serves the summary models; nothing else of it is read. */
  readonly config?: string;
}

export interface Shard {
  readonly index: number;
  readonly count: number;
}

export interface Done {
  readonly planned: number;
  readonly finished: number;
  readonly errors: number;
}

/** Reads `--shard 2/8`. */
export function shardOption(text: string): Shard {
  const [, index, count] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number);
  if (index !== undefined && count !== undefined && index >= 1 && index <= count) {
    return { index, count };
  }
  throw new WrongUse(`--shard ${text} was given; expected i/n such as 2/8, with i from 1 to n.`);
}

/** What a file plans and what it could tell, with nothing run; the difference in points of success, null where none is. */
export async function showPlan(file: string, setup: Setup) {
  const experiment = readExperiment(await readText(file), file);
  const { plan, header } = await prepare(experiment, file, setup);
  const design = designOf(plan);
  return {
    name: experiment.name,
    task_set: header.taskSet,
    episodes: plan.episodes.length,
    arms: plan.arms.map(({ name, notApplicable }) => ({ name, not_applicable: notApplicable })),
    smallest_difference: design && {
      ...design,
      alone: pointsTold({ ...design, comparisons: 1 }),
      among_all: pointsTold(design),
    },
  };
}

/** Runs the episodes of this shard that have no result in the folder yet; those that ended by an error again. */
export async function runExperiment(file: string, options: ExperimentOptions): Promise<Done> {
  const { out, shard, jobs } = options;
  if (jobs > 1 && options.backend === 'webgpu') {
    throw new WrongUse(
      `--jobs ${jobs} was given with --backend webgpu; a graphics device computes one episode at a time. Leave out --jobs, or take --backend wasm.`,
    );
  }
  const cores = availableParallelism();
  if (jobs > cores) {
    note(
      `--jobs ${jobs}: this machine computes ${cores} at once; more take memory and save no time.`,
    );
  }
  const experiment = readExperiment(await readText(file), file);
  await makeFolder(out);
  const { plan, header, summaryServer, adapters } = await prepare(experiment, file, options);
  for (const { name, notApplicable } of plan.arms) {
    if (notApplicable !== null) note(`${name} is not applicable: ${notApplicable}`);
  }
  const design = designOf(plan);
  if (design) note(powerInWords(design));
  await checkKnown(out);
  const begun = await readHeader(out);
  if (begun === null) await writeHeader(out, header);
  else checkSame(begun, header, out);
  const chosen = chosenArms(plan, options.arm);
  const own = shardOf(plan.episodes, shard.index - 1, shard.count).filter(({ arm }) =>
    chosen.has(arm),
  );
  const there = await readRows(out);
  const rows = own.flatMap(({ key }) => there.get(key) ?? []).filter((row) => !isErrorRow(row));
  const known = new Set(rows.map(({ key }) => key));
  const episodes = own.filter(({ key }) => !known.has(key));
  const again = episodes.filter(({ key }) => there.has(key)).length;
  if (again > 0) note(`${again} that ended by an error ${again === 1 ? 'is' : 'are'} tried again.`);
  const progress = startProgress(rows.length, own.length, jobs);
  if (episodes.length > 0) {
    await using writer = await openRows(out, `rows-${shard.index}-of-${shard.count}.jsonl`);
    const models = { modelSha256: header.modelSha256, summaryServer, adapters };
    const finish = async (row: Row) => {
      await writer.append(row);
      rows.push(row);
      progress(row);
    };
    const job = jobOf(episodes, models);
    await runSideBySide(job, jobs, options, rowsFrom(episodes, finish));
  }
  return { planned: own.length, finished: rows.length, errors: rows.filter(isErrorRow).length };
}

/** Throws wrong use for a name that the plan does not have. */
function chosenArms({ arms }: Plan, asked: readonly string[]): ReadonlySet<string> {
  const names = arms.map(({ name }) => name);
  for (const name of asked) {
    if (names.includes(name)) continue;
    throw new WrongUse(`--arm names "${name}"; the arms of this file are ${names.join('; ')}.`);
  }
  return new Set(asked.length > 0 ? asked : names);
}

/**
 * Joins the rows of folders of one experiment into another folder, each episode once; of several experiments
 * where `mixes` says so, which the header then tells.
 */
export async function mergeExperiments(
  folders: readonly string[],
  out: string,
  mixes: boolean,
): Promise<Done> {
  const [one, ...others] = folders;
  if (one === undefined) throw new WrongUse('experiment merge: no folder was given.');
  const known = await readHeader(out);
  const more = known === null || folders.includes(out) ? others : [...others, out];
  const header = await joinedHeader([one, ...more], mixes);
  if (known !== null) checkNames(known, header, out);
  const rows = new Map<string, Row>();
  for (const folder of [one, ...more]) {
    const named = rowIn(header, await headerOf(folder));
    for (const row of (await readRows(folder)).values()) addRow(rows, named(row), folder);
  }
  await makeFolder(out);
  await checkKnown(out);
  await writeHeader(out, header);
  await using writer = await openRows(out, 'rows-merged.jsonl');
  const there = await readRows(out);
  for (const row of rows.values()) {
    const same = there.get(row.key);
    if (!same || !sameResult(same, row)) await writer.append(row);
  }
  const own = plannedKeys(header).flatMap((key) => rows.get(key) ?? []);
  const strange = rows.size - own.length;
  if (strange > 0)
    note(`${strange} rows of arms, tasks or seeds that are not planned count for nothing.`);
  return {
    planned: header.planned,
    finished: own.length,
    errors: own.filter(isErrorRow).length,
  };
}

/** Throws `bad_input` where the rows that the folder has already would stand there by other names. */
function checkNames(known: Header, header: Header, out: string): void {
  const names = new Set(header.arms.map(({ name }) => name));
  const lost = known.arms.filter(({ name }) => !names.has(name)).map(({ name }) => name);
  if (lost.length === 0) return;
  throw new LabError(
    'bad_input',
    `${out} has rows of ${lost.join('; ')}, and a mix calls arms of other models or settings otherwise. Take another folder for --out.`,
    { out },
  );
}

/** The header of all folders' rows together. Throws `bad_input` where they may not be joined. */
async function joinedHeader(
  [one, ...others]: readonly [string, ...string[]],
  mixes: boolean,
): Promise<Header> {
  const first = await headerOf(one);
  const headers: [Header, ...Header[]] = [first];
  for (const folder of others) {
    const header = await headerOf(folder);
    if (!mixes) {
      const advice = 'Use another folder, or say --mix to compare them all the same.';
      checkSame(first, header, folder, advice);
    }
    headers.push(header);
  }
  return mixes ? mix(headers) : first;
}

/** A folder's header. Throws wrong use where there is none. */
export async function headerOf(folder: string): Promise<Header> {
  const header = await readHeader(folder);
  if (header !== null) return header;
  throw new WrongUse(`${folder} holds no experiment: there is no experiment.json in it.`);
}

interface Prepared {
  readonly plan: Plan;
  readonly header: Header;
  readonly summaryServer: RemoteRef | null;
  readonly adapters: readonly NamedAdapter[];
}

async function prepare(
  experiment: Experiment,
  file: string,
  { model, backend, config }: Setup,
): Promise<Prepared> {
  const summaryServer = config === undefined ? null : await serverOf(config);
  const tasks = await inFile(file, () => splitTasks(experiment.env, experiment.split));
  const env = tasks[0]?.env ?? experiment.env;
  const settings = { ...experiment.settings, policy_model: basename(model) };
  const named = { ...experiment, env, settings };
  const { llama, facts } = await factsOf(model, summaryServer);
  const plan = await inFile(file, () => planExperiment(named, tasks, facts));
  const { adapters, arms } = await withStarts(plan.arms, file, llama);
  return {
    plan,
    summaryServer,
    adapters,
    header: {
      schema: 1,
      experiment: named,
      env,
      taskSet: taskSetHash(env, experiment.split),
      model: basename(model),
      modelSha256: await sha256Of(model),
      backend,
      appVersion: version,
      arms,
      planned: plan.episodes.length,
    },
  };
}

/** What the file says and the world or the method does not take is told with the file's name. */
async function inFile<T>(file: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    const unknown = thrown instanceof WrongUse; // a world or a split
    const refused = thrown instanceof LabError && thrown.code === 'bad_config';
    if (!unknown && !refused) throw thrown;
    const next = unknown ? ' Correct it, then start again.' : '';
    throw new LabError('bad_config', `${file}: ${thrown.message}${next}`, { file });
  }
}

/**
 * The adapters that arms start from, each read once, beside the experiment's file; and the arms with what these
 * hold. Throws what reading an adapter throws, and {@link checkStart} for an arm that cannot start there.
 */
async function withStarts(
  arms: readonly Arm[],
  file: string,
  config: LlamaConfig,
): Promise<{ readonly adapters: readonly NamedAdapter[]; readonly arms: readonly Arm[] }> {
  const adapters = new Map<string, NamedAdapter>();
  const own: Arm[] = [];
  for (const arm of arms) {
    const { adapter: path, settings, notApplicable } = arm;
    if (path === undefined || notApplicable !== null) {
      own.push(arm);
      continue;
    }
    const adapter = adapters.get(path) ?? (await namedAdapter(resolve(dirname(file), path), path));
    adapters.set(path, adapter);
    const start = await openStart(adapter, config);
    checkStart(start, settings, config);
    own.push({ ...arm, startAdapter: startAdapterRef(start) });
  }
  return { adapters: [...adapters.values()], arms: own };
}

/** The server of a config.toml's channel; an arm's settings name the model on it. */
async function serverOf(file: string): Promise<RemoteRef> {
  const { channel } = parseConfigToml(await readText(file), file);
  if (channel) return remoteOf(channel.base_url, '', channel, process.env);
  throw new WrongUse(
    `${file} says nowhere what serves summaries; expected a table with base_url. Add one, or leave out --config.`,
  );
}

async function factsOf(
  model: string,
  summaryServer: RemoteRef | null,
): Promise<{ readonly llama: LlamaConfig; readonly facts: ModelFacts }> {
  await using source = await openModel(model);
  const gguf = await readGguf(source);
  const parameters = countParameters(gguf);
  const llama = readLlamaConfig(gguf);
  const { contextLength } = llama;
  return {
    llama,
    facts: { contextLength, parameters, trains: true, summaries: summaryServer !== null },
  };
}

function jobOf(
  episodes: readonly PlannedEpisode[],
  models: Pick<EpisodesJob, 'modelSha256' | 'summaryServer' | 'adapters'>,
): EpisodesJob {
  return {
    kind: 'run',
    episodes: episodes.map(({ task, settings, adapter }) => ({
      task,
      settings,
      ...(adapter !== undefined && { adapter }),
    })),
    ...models,
    ...{ retention: true, bundles: false, times: false, remote: null },
  };
}

/** Hands over a row as each episode is done. */
function rowsFrom(episodes: readonly PlannedEpisode[], finish: (row: Row) => Promise<void>): Take {
  const open = new Map<number, OpenRow>();
  return async (at, item) => {
    const planned = episodes[at];
    if (planned === undefined) return;
    const row = open.get(at) ?? openRow(planned);
    if (item.type === 'episode_done') {
      open.delete(at);
      await finish(closeRow(row, item.retention, item.seconds));
    } else {
      open.set(at, foldRow(row, item));
    }
  };
}

/**
 * One line an episode, with the time that is left at the pace so far. Of several that began at once the first says nothing of
 * the pace of all, so the time is left out until as many are done as are played side by side.
 */
function startProgress(before: number, total: number, jobs: number): (row: Row) => void {
  let done = before;
  const began = performance.now();
  if (before > 0) note(`${before} of ${total} episodes are there already.`);
  return ({ key, reason, steps, updates, rollbacks }) => {
    done++;
    const pace = (performance.now() - began) / 1000 / (done - before);
    const left = done - before < jobs ? '' : `; ${inWords(pace * (total - done))} left`;
    note(
      `${done}/${total} ${key}: ${reason} after ${steps} steps, ${updates} updates, ${rollbacks} rollbacks${left}.`,
    );
  };
}

function inWords(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`;
}
