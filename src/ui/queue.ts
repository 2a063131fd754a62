/** Several episodes in a row: from a wish of the form or an experiment file to runs of this browser. */

import {
  changedFields,
  type FieldName,
  fieldNames,
  fields,
  type MethodName,
  retrying,
  type Settings,
  type SettingsPatch,
} from '../config.ts';
import { LabError } from '../errors.ts';
import { type Experiment, readExperiment } from '../experiment/experiment.ts';
import { release } from '../experiment/header.ts';
import { type Arm, type Plan, type PlannedEpisode, planExperiment } from '../experiment/plan.ts';
import type { RunManifest, RunSummary, StopReason } from '../records.ts';
import { isSteering } from '../steered.ts';
import { nextOf } from '../tries.ts';
import { version } from '../version.ts';
import type { StartFrom } from '../workers/api.ts';
import { loadTasks } from './actions.ts';
import { startProblem, useShelf } from './adapter-shelf-state.ts';
import { engine } from './engine.ts';
import { attempt, inform } from './report.ts';
import { followTries, readyToRun, startAlone } from './running.ts';
import { dispatch, useLab } from './store.ts';
import { queue as say } from './strings.ts';

/** Ends that an episode came to by itself: there is nothing to run again. */
const ownEnds: readonly StopReason[] = ['solved', 'failed', 'step_limit', 'context_full'];

type Tasks = Parameters<typeof planExperiment>[1];

/** All episodes of these tasks, seeds and methods at the present settings. */
export function planQueue(
  wish: Pick<Experiment, 'env' | 'split' | 'tasks' | 'seeds' | 'methods'>,
  tasks: Tasks,
): Plan {
  const { method: _, seed: __, ...settings } = useLab.getState().settings;
  return planNow({ name: 'queue', question: '', settings, sweeps: [], ...wish }, tasks);
}

/** An experiment file with its tasks. Throws what {@link readExperiment} throws, and `bad_config` for a world that is not here. */
export async function openExperiment(text: string, file: string): Promise<Plan> {
  const read = readExperiment(text, file);
  const adapter = read.adapter ?? read.sweeps.flatMap(({ adapters = [] }) => adapters)[0];
  if (adapter !== undefined) throw new LabError('unsupported', say.noPath(file, adapter));
  const { environments, settings } = useLab.getState();
  const world = environments.find(({ id }) => id === read.env || id.startsWith(`${read.env}/`));
  if (!world?.splits.some(({ name }) => name === read.split)) {
    const known = environments.flatMap(({ id, splits }) => splits.map((s) => `${id} ${s.name}`));
    throw new LabError('bad_config', say.noSuchTasks(file, read.env, read.split, known.join(', ')));
  }
  // Which models there are is the page's matter, all else the file's.
  const models = fieldNames.filter((name) => name === 'policy_model' || isSummary(name));
  const own: SettingsPatch = Object.fromEntries(models.map((name) => [name, settings[name]]));
  const experiment = { ...read, env: world.id, settings: { ...own, ...read.settings } };
  return planNow(experiment, await loadTasks(world.id, read.split));
}

function isSummary(name: FieldName): boolean {
  return fields[name].group === 'summary';
}

function planNow(experiment: Experiment, tasks: Tasks): Plan {
  const { model, summaryServer } = useLab.getState();
  const here = model !== null && model.endpoint === undefined;
  const facts = model && {
    contextLength: here ? model.contextLength : null,
    parameters: here ? model.parameters : null,
    trains: here,
    summaries: summaryServer !== null,
  };
  return planExperiment(experiment, tasks, facts);
}

/**
 * Runs a plan's episodes one after another: one made by hand from what the form starts runs from, a file's from
 * fresh adapters and without those that have a run here already.
 */
export function startQueue(plan: Plan, fromFile: boolean): Promise<void> {
  return startAlone(() => runPlan(plan, fromFile));
}

async function runPlan({ experiment }: Plan, fromFile: boolean): Promise<void> {
  await attempt(say.notRun, async () => {
    if (!(await readyToRun())) return;
    // The model may have been loaded only now, and what is applicable depends on it.
    const { arms, episodes } = planNow(
      experiment,
      await loadTasks(experiment.env, experiment.split),
    );
    const start = fromFile ? null : useShelf.getState().start;
    if (start) await checkStarts(start.id, arms);
    const { left, again } = fromFile ? await withoutRun(episodes) : { left: episodes, again: 0 };
    const there = episodes.length - left.length;
    if (there + again > 0) {
      inform(experiment.name, say.someAreThere(there, episodes.length, again));
    }
    if (left.length > 0) await runQueue(left, start && { kind: 'shelf', id: start.id });
  });
}

/** Throws `bad_config` where an arm that is run cannot start from the adapter. */
async function checkStarts(id: string, arms: readonly Arm[]): Promise<void> {
  for (const { name, settings, notApplicable } of arms) {
    const problem = notApplicable === null ? await startProblem(id, settings) : null;
    if (problem !== null) throw new LabError('bad_config', `${name}: ${problem}`);
  }
}

/** An episode with what its next try begins with; absent for the first one. */
interface DueEpisode extends PlannedEpisode {
  readonly reflections?: readonly string[];
}

/**
 * The episodes that the runs of this browser, made with the present model, engine and release, have not brought to their end;
 * and how many of them are run again although they have runs here, since those do not count.
 */
async function withoutRun(
  episodes: readonly PlannedEpisode[],
): Promise<{ readonly left: readonly DueEpisode[]; readonly again: number }> {
  const settled = await engine().call(
    'settle',
    episodes.map(({ settings }) => settings),
  );
  const left: DueEpisode[] = [];
  let again = 0;
  for (const [i, episode] of episodes.entries()) {
    const found = runsOf(episode, settled[i]);
    const runs = await unsteered(found.filter(({ manifest }) => isOfThisRelease(manifest)));
    const reflections = await nextTryOf(runs, episode.settings.method);
    if (!reflections) continue;
    left.push(reflections.length > 0 ? { ...episode, reflections } : episode);
    if (runs.length < found.length) again++;
  }
  return { left, again };
}

/** As the command, which lets rows of several builds stand in one table, and none of another release. */
function isOfThisRelease({ appVersion }: RunManifest): boolean {
  return release(appVersion) === release(version);
}

/** The runs that are what their settings made of them. A summary of an earlier version does not say it: the events do. */
async function unsteered(runs: readonly RunSummary[]): Promise<readonly RunSummary[]> {
  const steered = await Promise.all(
    runs.map(
      async ({ id, steered }) =>
        steered ?? (await engine().call('runEvents', { id })).some(isSteering),
    ),
  );
  return runs.filter((_, i) => !steered[i]);
}

function runsOf({ task }: PlannedEpisode, wanted: Settings | undefined): readonly RunSummary[] {
  const { model, capabilities, runs } = useLab.getState();
  return runs.filter(({ manifest, reason }) => {
    const { task: was, settings, backend } = manifest;
    return (
      wanted !== undefined &&
      reason !== null &&
      ownEnds.includes(reason) &&
      was.env === task.env &&
      was.split === task.split &&
      was.index === task.index &&
      manifest.modelSha256 === model?.sha256 &&
      backend === capabilities?.backend &&
      manifest.forkedFrom === undefined &&
      manifest.startAdapter === undefined &&
      changedFields(settings, wanted).length === 0
    );
  });
}

/** What the next try begins with; null when the episode's runs are all that it has. */
async function nextTryOf(
  runs: readonly RunSummary[],
  method: MethodName,
): Promise<readonly string[] | null> {
  if (runs.length > 0 && !retrying.includes(method)) return null;
  const tried = runs.map(async ({ id, manifest }) => {
    const last = (await engine().call('runEvents', { id })).at(-1);
    return { manifest, ended: last?.type === 'episode_ended' ? last : null };
  });
  return nextOf(await Promise.all(tried));
}

async function runQueue(
  episodes: readonly DueEpisode[],
  startFrom: StartFrom | null,
): Promise<void> {
  dispatch({ type: 'queue_started', episodes });
  try {
    for (const [place, { task, settings, reflections }] of episodes.entries()) {
      if (useLab.getState().notebook.queue?.stopping !== false) break;
      const began = performance.now();
      const { summaryServer } = useLab.getState();
      const own = { task, settings, summaryServer, startFrom };
      const input = reflections ? { ...own, reflections } : own;
      const run = await followTries(() => engine().stream('run', input), 'run', place === 0);
      // An end that was not the episode's own would meet the next one as well.
      if (!run || run.reason === 'stopped' || run.reason === 'engine_error') break;
      dispatch({ type: 'queue_advanced', seconds: (performance.now() - began) / 1000 });
    }
  } finally {
    dispatch({ type: 'queue_ended' });
  }
}
