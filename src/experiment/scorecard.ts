/** What came out of an experiment, arm by arm, from its rows. Pure: equal rows give equal numbers. */

import { LabError } from '../errors.ts';
import { standardError, taskInterval } from '../math/clusters.ts';
import { isOverflowed } from '../math/overflow.ts';
import { deriveRng } from '../math/rng.ts';
import {
  holm,
  type Interval,
  mean,
  passAtK,
  passHatK,
  quantile,
  wilson,
} from '../math/statistics.ts';
import type { ActionClass, BoundaryOutcome } from '../records.ts';
import { baselineOf } from './comparable.ts';
import type { Header } from './header.ts';
import {
  type Difference,
  type Divergence,
  differenceOf,
  divergenceOf,
  type Pair,
  pairsOf,
} from './paired.ts';
import type { Arm } from './plan.ts';
import {
  FIFTHS,
  fifthsOf,
  type HeldLoss,
  isErrorRow,
  lastSteps,
  type Row,
  rowsBy,
  taskOf,
} from './row.ts';

export interface Score {
  readonly arm: Arm;
  /** That say something about the policy. */
  readonly episodes: number;
  /** Ended by engine or environment, or stopped: in no other number. */
  readonly errors: number;
  readonly tasks: number;
  readonly solved: number;
  /** null without episodes: not available is never 0. */
  readonly rate: number | null;
  readonly wilson: Interval | null;
  /** Of the rate, from the spread of whole tasks: the cluster-robust standard error, and the interval that draws tasks. */
  readonly clusteredError: number | null;
  readonly clustered: Interval | null;
  /** The chance that one of k, and that all of k tries solve a task; mean over tasks with k tries. */
  readonly passes: readonly {
    readonly k: number;
    readonly at: number | null;
    readonly hat: number | null;
    /** Tasks with k tries. */
    readonly tasks: number;
  }[];
  /** What it is compared to; null for the first frozen arm, and where no frozen arm starts and acts as it does. */
  readonly baseline: Arm | null;
  /** To that one, over the tasks that both have. */
  readonly difference: Difference | null;
  /** From what that one did on the same tasks and seeds. */
  readonly divergence: Divergence | null;
  /** Tries of a task, a mean over episodes: above 1 only of a method that tries again. */
  readonly tries: number | null;
  /** Median steps of solved episodes, each those of the try that solved it. */
  readonly stepsSolved: number | null;
  /** Mean repetition in each fifth of the steps; null where there is no such episode. */
  readonly repetitionSolved: readonly (number | null)[];
  readonly repetitionFailed: readonly (number | null)[];
  /** A mean an episode. */
  readonly updates: number | null;
  readonly rollbacks: number | null;
  readonly outcomes: Partial<Readonly<Record<BoundaryOutcome, number>>>;
  readonly kl: {
    readonly median: number | null;
    readonly p95: number | null;
    readonly max: number | null;
    /** Shares of the episodes that measured it in which it passed 0.5 and 2 nats; null where none did. */
    readonly past: { readonly half: number | null; readonly two: number | null };
    /** How many there are, and how many of them were no finite number: those are in none of the others. */
    readonly measured: number;
    readonly overflowed: number;
  };
  /** Median KL at the i-th measurement of an episode; null where all overflowed. */
  readonly klByUpdate: readonly (number | null)[];
  readonly meanWeight: number | null;
  readonly actions: Partial<Readonly<Record<ActionClass, number>>>;
  readonly refused: number;
  /** All that was spent, failures included, over the number of solved episodes; null when none is. */
  readonly generatedPerSolved: number | null;
  readonly trainedPerSolved: number | null;
  /** A mean over episodes. */
  readonly trainedPerEpisode: number | null;
  /** null too where some of it was not recorded. */
  readonly secondsPerSolved: number | null;
  /** Mean rise of the loss on held texts, nats a token. */
  readonly forgetting: number | null;
  /** The same on the turns of a held conversation. */
  readonly forgettingTurns: number | null;
}

/** Throws `bad_input` when rows of one task do not begin in one world. */
export function scorecard(header: Header, rows: readonly Row[]): readonly Score[] {
  checkStarts(rows);
  const byArm = rowsBy(rows, ({ arm }) => arm);
  const rowsOf = (arm: Arm | null) => byArm.get(arm?.name ?? '') ?? [];
  const scores = header.arms.map((arm) => {
    const baseline = baselineOf(arm, header.arms);
    const pairs = pairsOf(rowsOf(arm), rowsOf(baseline));
    return scoreOf(arm, rowsOf(arm), baseline, pairs, header.experiment.seeds.length);
  });
  const tested = scores.filter(({ difference }) => difference !== null);
  const adjusted = holm(tested.map(({ difference }) => difference?.p ?? 1));
  return scores.map((score) => {
    const at = tested.indexOf(score);
    if (at < 0 || !score.difference) return score;
    return { ...score, difference: { ...score.difference, adjusted: adjusted[at] ?? null } };
  });
}

function scoreOf(
  arm: Arm,
  all: readonly Row[],
  baseline: Arm | null,
  pairs: readonly Pair[],
  seeds: number,
): Score {
  const rows = all.filter((row) => !isErrorRow(row));
  const solved = rows.filter((row) => row.solved);
  const failed = rows.filter((row) => !row.solved);
  const tasks = rowsBy(rows, taskOf);
  const outcomes = [...tasks.values()].map((group) => group.map((row) => Number(row.solved)));
  const measured = rows.flatMap((row) => row.kl);
  const kls = measured.filter((kl) => !isOverflowed(kl));
  const perSolved = (value: (row: Row) => number) =>
    solved.length === 0 ? null : total(rows, value) / solved.length;
  const perEpisode = (value: (row: Row) => number) =>
    rows.length === 0 ? null : total(rows, value) / rows.length;
  const retained = rows.flatMap(({ retention }) => retention ?? []);
  const rise = ({ base, adapter }: HeldLoss) => adapter - base;
  const weights = rows.flatMap((row) => row.weights);
  return {
    arm,
    episodes: rows.length,
    errors: all.length - rows.length,
    tasks: tasks.size,
    solved: solved.length,
    rate: rows.length === 0 ? null : solved.length / rows.length,
    wilson: wilson(solved.length, rows.length),
    clusteredError: standardError(outcomes),
    clustered: taskInterval(outcomes, { low: 0, high: 1 }, deriveRng(0, 'bootstrap', arm.name)),
    passes: triesOf(seeds).map((k) => {
      const counts = [...tasks.values()].map((group) => ({
        n: group.length,
        c: group.filter((row) => row.solved).length,
      }));
      return {
        k,
        at: meanOf(counts.map(({ n, c }) => passAtK(n, c, k))),
        hat: meanOf(counts.map(({ n, c }) => passHatK(n, c, k))),
        tasks: counts.filter(({ n }) => n >= k).length,
      };
    }),
    baseline,
    difference: baseline === null ? null : differenceOf(pairs, arm.name, baseline.name),
    divergence: baseline === null ? null : divergenceOf(pairs),
    tries: perEpisode((row) => row.tries),
    stepsSolved: quantile(solved.map(lastSteps), 0.5),
    repetitionSolved: fifths(solved),
    repetitionFailed: fifths(failed),
    updates: perEpisode((row) => row.updates),
    rollbacks: perEpisode((row) => row.rollbacks),
    outcomes: sumCounts(rows.map((row) => row.outcomes)),
    kl: {
      median: quantile(kls, 0.5),
      p95: quantile(kls, 0.95),
      max: quantile(kls, 1),
      past: { half: passing(rows, 0.5), two: passing(rows, 2) },
      measured: measured.length,
      overflowed: measured.length - kls.length,
    },
    klByUpdate: mediansByPlace(rows.map((row) => row.kl)),
    meanWeight: meanOf(weights),
    actions: sumCounts(rows.map((row) => row.actions)),
    refused: total(rows, (row) => row.refused),
    generatedPerSolved: perSolved((row) => row.generated),
    trainedPerSolved: perSolved((row) => row.trained),
    trainedPerEpisode: perEpisode((row) => row.trained),
    secondsPerSolved: rows.some(({ seconds }) => seconds === null)
      ? null
      : perSolved((row) => row.seconds ?? 0),
    forgetting: meanOf(retained.map(({ texts }) => rise(texts))),
    forgettingTurns: meanOf(retained.map(({ turns }) => rise(turns))),
  };
}

/**
 * The numbers of tries that are told of: 1, 2, 4 and so on below that of the seeds, and that one.
 * Example: 10 seeds -> 1, 2, 4, 8, 10.
 */
function triesOf(seeds: number): readonly number[] {
  const tries: number[] = [];
  for (let k = 1; k < seeds; k *= 2) tries.push(k);
  return [...tries, seeds];
}

function passing(rows: readonly Row[], nats: number): number | null {
  return meanOf(
    rows.map(({ kl }) => (kl.length === 0 ? null : Number(kl.some((one) => one > nats)))),
  );
}

function checkStarts(rows: readonly Row[]): void {
  const starts = new Map<string, Row>();
  for (const row of rows) {
    if (row.start === '') continue; // ended by an error before the world was there
    const id = taskOf(row);
    const first = starts.get(id);
    if (first && first.start !== row.start) {
      throw new LabError(
        'bad_input',
        `Task ${id} begins in another world in ${row.key} than in ${first.key}: the two come from different task sets. Remove one of them.`,
        { task: id },
      );
    }
    starts.set(id, row);
  }
}

/** The mean over episodes of each fifth; short ones are left out. */
function fifths(rows: readonly Row[]): readonly (number | null)[] {
  const long = rows.flatMap((row) => fifthsOf(row) ?? []);
  return Array.from({ length: FIFTHS }, (_, i) =>
    meanOf(long.filter((_, at) => at % FIFTHS === i)),
  );
}

function mediansByPlace(lists: readonly (readonly number[])[]): readonly (number | null)[] {
  const longest = lists.reduce((most, { length }) => Math.max(most, length), 0);
  return Array.from({ length: longest }, (_, i) => {
    const values = lists.flatMap((list) => list[i] ?? []);
    return quantile(
      values.filter((kl) => !isOverflowed(kl)),
      0.5,
    );
  });
}

/** The mean of what is available; null when nothing is. */
function meanOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : mean(known);
}

function total(rows: readonly Row[], value: (row: Row) => number): number {
  return rows.reduce((sum, row) => sum + value(row), 0);
}

function sumCounts<K extends string>(
  all: readonly Partial<Readonly<Record<K, number>>>[],
): Partial<Readonly<Record<K, number>>> {
  const sum: Partial<Record<K, number>> = {};
  for (const counts of all) {
    for (const name in counts) sum[name] = (sum[name] ?? 0) + (counts[name] ?? 0);
  }
  return sum;
}
