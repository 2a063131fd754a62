/** The numbers behind comparing runs: lines, groups, final values, differing settings. Pure. */

import { type FieldName, fields } from '../config.ts';
import { type Clusters, singles, taskInterval, tInterval } from '../math/clusters.ts';
import { deriveRng } from '../math/rng.ts';
import { type Interval, mean, wilson } from '../math/statistics.ts';
import type { RunManifest, StartAdapterRef } from '../records.ts';
import type { ChartKind } from './chart-choices.ts';
import { settingText } from './numbers.ts';
import type { RunView } from './run-view.ts';
import {
  countSeries,
  gradientSeries,
  klSeries,
  lossSeries,
  noveltySeries,
  rewardSeries,
} from './series.ts';
import { type Places, stepAt } from './step-axis.ts';
import { compareNumbers as say } from './strings.ts';

/** One number of each chart is compared. */
export type CompareQuantity = ChartKind;

export const compareQuantities: Readonly<Record<CompareQuantity, string>> = {
  repetition: say.repetition,
  kl: say.kl,
  loss: say.loss,
  updates: say.updates,
  reward: say.reward,
  novelty: say.novelty,
  gradient: say.gradient,
};

export interface StepValue {
  readonly t: number;
  readonly value: number;
}

/** One quantity of one run over its steps. */
export function valuesOf(run: RunView, quantity: CompareQuantity): readonly StepValue[] {
  const known = (t: number, value: number | null) => (value === null ? [] : [{ t, value }]);
  switch (quantity) {
    case 'repetition':
      return run.steps.map(({ t, repetition }) => ({ t, value: repetition }));
    case 'kl':
      return klSeries(run).flatMap(({ t, kl }) => known(t, kl));
    case 'loss':
      return lossSeries(run).flatMap(({ t, before }) => known(t, before));
    case 'updates':
      return countSeries(run).map(({ t, updates }) => ({ t, value: updates }));
    case 'reward':
      return rewardSeries(run).map(({ t, reward }) => ({ t, value: reward }));
    case 'novelty':
      return noveltySeries(run).flatMap(({ t, novelty }) => known(t, novelty));
    case 'gradient':
      return gradientSeries(run).flatMap(({ t, first }) => known(t, first));
    default:
      return quantity satisfies never;
  }
}

export interface Group {
  readonly name: string;
  readonly runs: readonly RunView[];
}

/** Runs by method, in the order of their first run. */
export function byMethod(runs: readonly RunView[]): readonly Group[] {
  const groups = new Map<string, RunView[]>();
  for (const run of runs) {
    const { method, observe_only } = run.started.manifest.settings;
    const name = observe_only ? say.observeOnly(method) : method;
    addTo(groups, name, run);
  }
  return [...groups].map(([name, list]) => ({ name, runs: list }));
}

/** A value of one run. */
interface Measured {
  readonly run: RunView;
  readonly value: number;
}

/** Equal for runs of one task. A file's task is told by its world: it has no place in a split. */
export function taskOf({ started: { task, stateHash } }: RunView): string {
  const place = task.data === undefined ? String(task.index) : stateHash;
  return [task.env, task.split, place].join('\n');
}

export interface MeanPoint {
  /** The step, or another place along the episode. */
  readonly t: number;
  readonly mean: number;
  /** How many runs had a value here; runs end at different steps. */
  readonly n: number;
  /** Of the mean, 95 %; null where nothing can be said: fewer than two runs, or all equal. */
  readonly interval: Interval | null;
}

/** The mean over runs at each step where any has a value. */
export function meanLine(
  runs: readonly RunView[],
  quantity: CompareQuantity,
): readonly MeanPoint[] {
  const at = new Map<number, Measured[]>();
  for (const run of runs) {
    for (const { t, value } of valuesOf(run, quantity)) addTo(at, t, { run, value });
  }
  return [...at].sort(([a], [b]) => a - b).map(([t, values]) => meanPoint(t, values, quantity));
}

/** Of how many parts the axis is on which runs are averaged that share no places. */
const gridParts = 100;

/**
 * The mean over runs along another axis than steps: at each of {@link gridParts} + 1 places over those runs that reach so
 * far, each with its last value at or before it.
 */
export function meanAlong(
  runs: readonly RunView[],
  quantity: CompareQuantity,
  places: readonly Places[],
): readonly MeanPoint[] {
  const lines = runs.map((run, index) => ({
    run,
    places: places[index] ?? [],
    values: valuesOf(run, quantity),
  }));
  const end = Math.max(0, ...lines.map((line) => line.places.at(-1) ?? 0));
  return Array.from({ length: gridParts + 1 }, (_, n) => (end * n) / gridParts).flatMap((place) => {
    const known = lines.flatMap((line) => {
      if ((line.places.at(-1) ?? 0) < place * (1 - 1e-12)) return [];
      const step = stepAt(line.places, place);
      const last = line.values.findLast(({ t }) => t <= step);
      return last ? [{ run: line.run, value: last.value }] : [];
    });
    return known.length === 0 ? [] : [meanPoint(place, known, quantity)];
  });
}

/** The mean over runs. Where tasks repeat, the interval is Student's over tasks. */
function meanPoint(t: number, measured: readonly Measured[], quantity: CompareQuantity): MeanPoint {
  const values = measured.map(({ value }) => value);
  const tasks = repeatedTasks(measured);
  const range = ranges[quantity];
  return {
    t,
    n: values.length,
    mean: mean(values),
    interval: tasks ? tInterval(tasks, spanOf(range, values)) : intervalOf(values, range),
  };
}

/**
 * The values of each task, where some of them repeat: runs of a task are not independent of each other. null where none
 * does, and of one task alone: its runs then say something of that task only.
 */
function repeatedTasks(measured: readonly Measured[]): Clusters | null {
  const tasks = valuesByTask(measured);
  if (tasks.size < 2 || tasks.size === measured.length) return null;
  return [...tasks.values()];
}

function valuesByTask(measured: readonly Measured[]): ReadonlyMap<string, readonly number[]> {
  const tasks = new Map<string, number[]>();
  for (const { run, value } of measured) addTo(tasks, taskOf(run), value);
  return tasks;
}

function addTo<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

/** Which values are possible; `rate` where every run has 0 or 1, or else anything. */
const ranges: Readonly<Record<CompareQuantity, Interval | 'rate'>> = {
  repetition: { low: 0, high: 1 },
  novelty: { low: 0, high: 1 },
  kl: { low: 0, high: Infinity },
  loss: { low: 0, high: Infinity },
  updates: { low: 0, high: Infinity },
  reward: 'rate',
  gradient: { low: 0, high: Infinity },
};

/** What a mean of these values can be. */
function spanOf(range: Interval | 'rate', values: readonly number[]): Interval {
  if (range !== 'rate') return range;
  const isRate = values.every((value) => value === 0 || value === 1);
  return isRate ? { low: 0, high: 1 } : { low: -Infinity, high: Infinity };
}

/** Wilson's interval of a rate, Student's of other means; never outside of what is possible. */
function intervalOf(values: readonly number[], range: Interval | 'rate'): Interval | null {
  if (range !== 'rate') return tInterval(singles(values), range);
  if (values.some((value) => value !== 0 && value !== 1)) return tInterval(singles(values));
  return values.length < 2 ? null : wilson(values.filter(Boolean).length, values.length);
}

/** A number of a group of runs with what is known of its precision. */
export interface Estimate {
  readonly label: string;
  readonly value: number | null;
  /** How many runs have such a value, and of how many tasks. */
  readonly n: number;
  readonly tasks: number;
  readonly interval: Interval | null;
  /** What the interval draws from: null without one. */
  readonly over: 'runs' | 'tasks' | null;
}

interface Final {
  readonly label: string;
  /** null where the run has no such value. */
  readonly of: (run: RunView) => number | null;
  /** What is possible, or `rate` where every run has 0 or 1. */
  readonly range: Interval | 'rate';
}

export const finalNames = [
  'success',
  'steps',
  'repetition',
  'updates',
  'rollbacks',
  'last_kl',
] as const;
export type FinalName = (typeof finalNames)[number];

/** What an ended run is reduced to. */
export const finals: Readonly<Record<FinalName, Final>> = {
  success: {
    label: say.success,
    of: ({ ended }) => Number(ended?.reason === 'solved'),
    range: 'rate',
  },
  steps: { label: 'steps', of: ({ steps }) => steps.length, range: { low: 0, high: Infinity } },
  repetition: {
    label: say.meanRepetition,
    of: ({ steps }) =>
      steps.length === 0 ? null : mean(steps.map(({ repetition }) => repetition)),
    range: { low: 0, high: 1 },
  },
  updates: {
    label: 'updates',
    of: (run) => countSeries(run).at(-1)?.updates ?? 0,
    range: { low: 0, high: Infinity },
  },
  rollbacks: {
    label: 'rollbacks',
    of: (run) => countSeries(run).at(-1)?.rollbacks ?? 0,
    range: { low: 0, high: Infinity },
  },
  last_kl: {
    label: say.lastKl,
    of: (run) => klSeries(run).findLast(({ kl }) => kl !== null)?.kl ?? null,
    range: { low: 0, high: Infinity },
  },
};

/** False for runs that a person or an error ended, or that never ended: they say nothing of the method, as in reports. */
export function hasOutcome({ ended }: RunView): boolean {
  return ended !== null && !['stopped', 'engine_error', 'environment_error'].includes(ended.reason);
}

/**
 * What came out of a group of runs: means over runs, as in reports. Success has Wilson's interval, the others Student's,
 * cut to what is possible; where tasks repeat, whole tasks are drawn (bootstrap).
 */
export function finalValues(runs: readonly RunView[]): readonly Estimate[] {
  const done = runs.filter(hasOutcome);
  return finalNames.map((name) => {
    const { label, of, range } = finals[name];
    const measured = done.flatMap((run) => {
      const value = of(run);
      return value === null ? [] : [{ run, value }];
    });
    const values = measured.map(({ value }) => value);
    const tasks = repeatedTasks(measured);
    const interval = tasks
      ? taskInterval(tasks, spanOf(range, values), deriveRng(0, 'final values', name))
      : range === 'rate'
        ? wilson(values.filter(Boolean).length, values.length)
        : tInterval(singles(values), range);
    return {
      label,
      n: values.length,
      tasks: valuesByTask(measured).size,
      value: values.length === 0 ? null : mean(values),
      interval,
      over: interval && (tasks ? 'tasks' : 'runs'),
    };
  });
}

export interface Difference {
  readonly label: string;
  readonly help: string;
  /** One text a run. */
  readonly values: readonly string[];
}

/** Adapters of one name are told apart by their content. */
function startText({ name, sha256 }: StartAdapterRef): string {
  return `${name} (${sha256.slice(0, 8)})`;
}

/** The settings and the facts of the run in which runs differ; equal ones are left out. */
export function differences(runs: readonly RunView[]): readonly Difference[] {
  const manifests = runs.map((run) => run.started.manifest);
  const facts: readonly (readonly [string, (manifest: RunManifest) => string])[] = [
    ['model', ({ modelName }) => modelName],
    [say.modelSha256, ({ modelSha256 }) => modelSha256.slice(0, 12)],
    ['backend', ({ backend }) => backend],
    [say.world, ({ env }) => env],
    ['task', ({ task }) => `${task.split} ${task.index}`],
    [say.startAdapter, ({ startAdapter: from }) => (from ? startText(from) : say.fresh)],
    [say.forkedFrom, ({ forkedFrom: from }) => (from ? say.fork(from.run, from.t) : say.noFork)],
    ['version', ({ appVersion }) => appVersion],
  ];
  const rows = [
    ...facts.map(([label, of]) => ({ label, help: '', values: manifests.map(of) })),
    ...(Object.keys(fields) as FieldName[]) // keys of the table itself
      .map((name) => ({
        label: fields[name].label,
        help: fields[name].help,
        values: manifests.map(({ settings }) => settingText(settings[name])),
      })),
  ];
  return rows.filter(({ values }) => new Set(values).size > 1);
}
