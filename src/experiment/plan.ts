/** From an experiment to the episodes it consists of: pure, so that page and command plan alike. */

import {
  changedFields,
  defaultSettings,
  type FieldName,
  fieldNames,
  type MethodName,
  type Settings,
  type SettingsPatch,
  settingsFor,
} from '../config.ts';
import { LabError } from '../errors.ts';
import type { StartAdapterRef, TaskRef } from '../records.ts';
import { unused } from '../train/methods.ts';
import { type ModelFacts, notApplicable } from './applicable.ts';
import { armName, withOwnNames } from './arm-names.ts';
import type { Experiment, Sweep } from './experiment.ts';

/** The method, and the name of its plain arm, on every paired difference's other side. */
export const BASELINE = 'frozen';

/** Arms that are read side by side: far more than a table shows, far fewer than fill the memory. */
const MOST_ARMS = 1000;

/** Their rows, of 1 to 2 kB, fit into one text, of which an engine takes 2^29 characters. */
const MOST_EPISODES = 250_000;

/** One line of the table: a method with its settings. Episodes of an arm differ by task and seed alone. */
export interface Arm {
  /** `attt`, or `attt lora_rank=4` for a line of a sweep. */
  readonly name: string;
  readonly method: MethodName;
  /** In a mix that keeps equal names apart: whose arm it is, as in its name. Arms are compared within one. */
  readonly of?: string;
  /** With the seed of the first episode; compare arms by everything else. */
  readonly settings: Settings;
  /** What its episodes start from, as the file names it; absent for fresh adapters. */
  readonly adapter?: string;
  /** The same by its content, once it was read. */
  readonly startAdapter?: StartAdapterRef;
  /** Why it is not run with this model, in words; null when it is. Never counted as 0. */
  readonly notApplicable: string | null;
}

/** An arm's settings; one that a file of before it lacks had no effect then, as its default has none now. */
export function settingsOf({ settings }: Pick<Arm, 'settings'>): Settings {
  return { ...defaultSettings, ...settings };
}

/**
 * The settings that two arms differ in; not the seed, which is only that of their first episodes, and not what the model
 * is called, which a header knows by its hash.
 */
export function differing(
  one: Pick<Arm, 'settings'>,
  other: Pick<Arm, 'settings'>,
): readonly FieldName[] {
  return changedFields(settingsOf(one), settingsOf(other)).filter(
    (name) => name !== 'seed' && name !== 'policy_model',
  );
}

export interface PlannedEpisode {
  /** Names it within the experiment, e.g. `attt/valid_seen/3/1`: arm, split, task, seed. */
  readonly key: string;
  readonly arm: string;
  /** Episodes of one task and seed share a pair; shards never part them. */
  readonly pair: number;
  readonly task: TaskRef;
  readonly settings: Settings;
  /** As in its arm. */
  readonly adapter?: string;
}

export interface Plan {
  readonly experiment: Experiment;
  readonly arms: readonly Arm[];
  /** Pair by pair, all arms of a pair in a row, so that what is finished can be compared. */
  readonly episodes: readonly PlannedEpisode[];
}

/**
 * All episodes of an experiment. `tasks` is the whole split, in order; `model` is null while it is
 * not known, and then nothing that depends on it counts as not applicable. Throws `bad_config` for a task that the
 * split does not have, for a sweep over a setting that does nothing in its method, and for more than can be held.
 */
export function planExperiment(
  experiment: Experiment,
  tasks: readonly TaskRef[],
  model: ModelFacts | null,
): Plan {
  const arms = armsOf(experiment).map((arm): Arm => {
    return { ...arm, notApplicable: notApplicable(arm.method, arm.settings, model) };
  });
  const chosen = experiment.tasks.map((index) => {
    const task = tasks[index];
    if (task !== undefined) return task;
    throw new LabError(
      'bad_config',
      `tasks names ${index}; ${experiment.split} has tasks 0 to ${tasks.length - 1}. Correct it, then start again.`,
      { split: experiment.split, index },
    );
  });
  const run = arms.filter((arm) => arm.notApplicable === null);
  checkSize(experiment, run.length);
  const episodes = experiment.seeds.flatMap((seed, nth) => {
    const own = run.map((arm) => ({ ...arm, settings: { ...arm.settings, seed } }));
    return chosen.flatMap((task, place) =>
      own.map(({ name, settings, adapter }) => ({
        key: keyOf({ arm: name, split: task.split, task: task.index, seed }),
        arm: name,
        pair: nth * chosen.length + place,
        task,
        settings,
        ...(adapter !== undefined && { adapter }),
      })),
    );
  });
  return { experiment, arms, episodes };
}

/** Throws `bad_config` for more episodes than a plan can hold, before any is made. */
function checkSize({ tasks, seeds }: Experiment, arms: number): void {
  const count = tasks.length * seeds.length * arms;
  if (arms <= MOST_ARMS && count <= MOST_EPISODES) return;
  throw new LabError(
    'bad_config',
    `The experiment has ${inFull(tasks.length)} tasks × ${inFull(seeds.length)} seeds × ${inFull(arms)} arms; expected at most ${inFull(MOST_ARMS)} arms and ${inFull(MOST_EPISODES)} episodes. Take fewer, or part it into several files.`,
    { count },
  );
}

function inFull(count: number): string {
  return count.toLocaleString('en-GB');
}

/** Names an episode within its experiment. */
export function keyOf({
  arm,
  split,
  task,
  seed,
}: {
  readonly arm: string;
  readonly split: string;
  /** Its place in the split. */
  readonly task: number;
  readonly seed: number;
}): string {
  return `${arm}/${split}/${task}/${seed}`;
}

/** The i-th of n parts, i from 0. Every pair is in exactly one. */
export function shardOf(
  episodes: readonly PlannedEpisode[],
  index: number,
  count: number,
): readonly PlannedEpisode[] {
  return episodes.filter(({ pair }) => pair % count === index);
}

/** The methods at the experiment's settings, then the sweeps; arms that do the same are one, by its first name. */
function armsOf(experiment: Experiment): readonly Omit<Arm, 'notApplicable'>[] {
  const { env, settings, methods, sweeps, adapter: whole } = experiment;
  const base = { ...settingsFor(env), ...settings, seed: experiment.seeds[0] ?? 1 };
  const arm = (method: MethodName, patch: SettingsPatch, own?: string) => {
    const adapter = own ?? whole;
    return {
      name: armName(method, { ...patch, ...(own !== undefined && { adapter: own }) }),
      method,
      settings: { ...base, ...patch, method },
      ...(adapter !== undefined && { adapter }),
    };
  };
  const all = [
    ...methods.map((method) => arm(method, {})),
    ...sweeps.flatMap((sweep) => {
      const patches = combinations(sweep);
      checkSweep(
        sweep,
        patches.map((patch) => arm(sweep.method, patch).settings),
      );
      return patches.flatMap((patch) =>
        (sweep.adapters ?? [undefined]).map((adapter) => arm(sweep.method, patch, adapter)),
      );
    }),
  ];
  const seen = new Set<string>();
  const different = all.filter(({ settings: own, adapter }) => {
    const idle = unused(own);
    const used = fieldNames.filter((field) => !idle.has(field) && field !== 'triggers');
    // Any of the triggers is enough, in whatever order they stand.
    const triggers = idle.has('triggers') ? [] : own.triggers.toSorted();
    const same = JSON.stringify([used.map((field) => [field, own[field]]), triggers, adapter]);
    return seen.has(same) ? false : seen.add(same);
  });
  return withOwnNames(different);
}

/** Throws `bad_config` for a setting that does nothing in any of the sweep's arms. */
function checkSweep({ method, vary }: Sweep, arms: readonly Settings[]): void {
  const idle = arms.map(unused);
  for (const { field } of vary) {
    const reasons = idle.map((whys) => whys.get(field));
    const [first] = reasons;
    if (first === undefined || reasons.includes(undefined)) continue;
    throw new LabError(
      'bad_config',
      `A [[sweep]] of ${method} varies ${field}, which does nothing there: ${first}. Correct it, then start again.`,
      { method, field },
    );
  }
}

/** Throws `bad_config` where there are more than a table can hold, before any is made. */
function combinations({ method, vary, adapters }: Sweep): readonly SettingsPatch[] {
  const count = vary.reduce(
    (product, { values }) => product * values.length,
    adapters?.length ?? 1,
  );
  if (count > MOST_ARMS) {
    throw new LabError(
      'bad_config',
      `A [[sweep]] of ${method} has ${inFull(count)} combinations; expected at most ${inFull(MOST_ARMS)}. Vary fewer settings together, or part it into several files.`,
      { method, count },
    );
  }
  return vary.reduce<readonly SettingsPatch[]>(
    (patches, { field, values }) =>
      patches.flatMap((patch) => values.map((value) => ({ ...patch, [field]: value }))),
    [{}],
  );
}
