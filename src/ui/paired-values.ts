/** Methods compared run by run: what each run differs by from one of the same task and seed. Pure. */

import { taskDifference } from '../math/clusters.ts';
import { deriveRng } from '../math/rng.ts';
import { holm, type Interval, mean } from '../math/statistics.ts';
import { type FinalName, finalNames, finals, type Group, hasOutcome } from './compare-numbers.ts';
import type { RunView } from './run-view.ts';

/** A method's mean less that of the method it is paired with. */
export interface PairedValue {
  readonly label: string;
  /** Mean over tasks of the mean over seeds; null where no run has such a value. */
  readonly difference: number | null;
  /** Of 95 %, drawing whole tasks; where all differ alike, by the rule of three, or null of steps, which have no end. */
  readonly interval: Interval | null;
  /** Sign-flip test over tasks, by Holm over all comparisons of the table; null where no run has such a value. */
  readonly p: number | null;
}

export interface PairedMethod {
  readonly name: string;
  /** How many combinations of task and seed both methods have, and of how many tasks. */
  readonly pairs: number;
  readonly tasks: number;
  readonly values: readonly PairedValue[];
}

export interface Paired {
  readonly against: string;
  readonly methods: readonly PairedMethod[];
  /** For how many comparisons p is corrected. */
  readonly comparisons: number;
}

/** Of these a difference between methods says something; updates are not an outcome. */
const compared: readonly FinalName[] = finalNames.filter((name) =>
  ['success', 'steps', 'repetition'].includes(name),
);

/**
 * Every method against frozen, or against the first where frozen is not among them; methods that share no task and
 * seed with it are left out. null when none is left.
 */
export function pairedValues(groups: readonly Group[]): Paired | null {
  const base = groups.find(({ name }) => name === 'frozen') ?? groups[0];
  if (!base) return null;
  const bases = byTask(base.runs);
  const methods = groups
    .filter((group) => group !== base)
    .map((group) => pairedMethod(group, bases))
    .filter(({ pairs }) => pairs > 0);
  if (methods.length === 0) return null;
  const tested = methods.flatMap(({ values }) => values).filter(({ p }) => p !== null);
  const adjusted = holm(tested.map(({ p }) => p ?? 1));
  const correct = (value: PairedValue): PairedValue => {
    const at = tested.indexOf(value);
    return at < 0 ? value : { ...value, p: adjusted[at] ?? null };
  };
  return {
    against: base.name,
    comparisons: tested.length,
    methods: methods.map((method) => ({ ...method, values: method.values.map(correct) })),
  };
}

/** Runs by task, then by seed. */
type ByTask = ReadonlyMap<string, ReadonlyMap<number, readonly RunView[]>>;

function byTask(runs: readonly RunView[]): ByTask {
  const tasks = new Map<string, Map<number, RunView[]>>();
  for (const run of runs.filter(hasOutcome)) {
    const { modelSha256, env, task, settings } = run.started.manifest;
    const key = [modelSha256, env, task.split, task.index].join('\n');
    const seeds = tasks.get(key) ?? new Map<number, RunView[]>();
    seeds.set(settings.seed, [...(seeds.get(settings.seed) ?? []), run]);
    tasks.set(key, seeds);
  }
  return tasks;
}

function pairedMethod({ name, runs }: Group, bases: ByTask): PairedMethod {
  const tasks = [...byTask(runs)].flatMap(([key, seeds]) => {
    const pairs = [...seeds].flatMap(([seed, ours]) => {
      const theirs = bases.get(key)?.get(seed);
      return theirs ? [{ ours, theirs }] : [];
    });
    return pairs.length > 0 ? [pairs] : [];
  });
  const values = compared.map((quantity): PairedValue => {
    const { label, of, range } = finals[quantity];
    const meanOf = (list: readonly RunView[]) => mean(list.flatMap((run) => of(run) ?? []));
    const known = tasks
      .map((pairs) =>
        pairs
          .map(({ ours, theirs }) => meanOf(ours) - meanOf(theirs))
          .filter((difference) => !Number.isNaN(difference)),
      )
      .filter((differences) => differences.length > 0);
    const { low, high } = range === 'rate' ? { low: 0, high: 1 } : range;
    const found = taskDifference(known, { low: low - high, high: high - low }, (purpose) =>
      deriveRng(0, purpose, name),
    );
    return {
      label,
      difference: found?.mean ?? null,
      interval: found?.interval ?? null,
      p: found?.p ?? null,
    };
  });
  return { name, pairs: tasks.flat().length, tasks: tasks.length, values };
}
