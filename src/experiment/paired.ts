/** Two arms of an experiment, compared episode by episode: the same task with the same seed. */

import { pairDifference, taskDifference } from '../math/clusters.ts';
import { deriveRng } from '../math/rng.ts';
import { type Interval, quantile } from '../math/statistics.ts';
import { isErrorRow, pairOf, type Row, taskOf } from './row.ts';

/** Where the difference of two outcomes lies. */
const POSSIBLE: Interval = { low: -1, high: 1 };

/** Two episodes of one task of a split and one seed, both without an error. */
export interface Pair {
  readonly task: string;
  readonly one: Row;
  readonly other: Row;
}

/** The paired difference of success between two arms. */
export interface Difference {
  /** Mean over tasks of the mean over seeds, or over pairs, in success rate; its interval of 95 % and its test draw tasks. */
  readonly points: number;
  readonly interval: Interval;
  readonly p: number;
  /** `p` by Holm, over all comparisons of the same table. */
  readonly adjusted: number | null;
  readonly tasks: number;
  /** Pairs of episodes, and those of them that the one or the other alone solved. */
  readonly pairs: number;
  readonly better: number;
  readonly worse: number;
}

/** Whether an arm acted otherwise than another at all. */
export interface Divergence {
  /** Of which both have their commands. */
  readonly pairs: number;
  /** In which some command differs. */
  readonly changed: number;
  /** Median first step that differs, from 1, over the changed pairs. */
  readonly firstStep: number | null;
}

/** The episodes that both arms have. */
export function pairsOf(rows: readonly Row[], others: readonly Row[]): readonly Pair[] {
  const known = new Map(others.filter((row) => !isErrorRow(row)).map((row) => [pairOf(row), row]));
  return rows.flatMap((one) => {
    const other = isErrorRow(one) ? undefined : known.get(pairOf(one));
    return other === undefined ? [] : [{ task: taskOf(one), one, other }];
  });
}

/**
 * The arm `one` less the arm `than`, of which `pairs` are. The names choose the random numbers, so two arms have one
 * interval wherever they are compared. What counts once is a task, or of pairs that were chosen one by one a pair. null
 * without a pair.
 */
export function differenceOf(
  pairs: readonly Pair[],
  one: string,
  than: string,
  counted: 'task' | 'pair' = 'task',
): Difference | null {
  const byTask = new Map<string, number[]>();
  for (const pair of pairs) {
    byTask.set(pair.task, [...(byTask.get(pair.task) ?? []), gainOf(pair)]);
  }
  const differenceBy = counted === 'task' ? taskDifference : pairDifference;
  const found = differenceBy([...byTask.values()], POSSIBLE, (purpose) =>
    deriveRng(0, purpose, one, than),
  );
  if (found === null) return null;
  return {
    points: found.mean,
    interval: found.interval ?? POSSIBLE,
    p: found.p,
    adjusted: null,
    tasks: byTask.size,
    pairs: pairs.length,
    better: pairs.filter((pair) => gainOf(pair) > 0).length,
    worse: pairs.filter((pair) => gainOf(pair) < 0).length,
  };
}

function gainOf({ one, other }: Pair): number {
  return Number(one.solved) - Number(other.solved);
}

/** Rows that were kept without their commands are left out. */
export function divergenceOf(pairs: readonly Pair[]): Divergence {
  const known = pairs.filter(({ one, other }) => hasCommands(one) && hasCommands(other));
  const firsts = known.flatMap(({ one, other }) => {
    const longest = Math.max(one.commands.length, other.commands.length);
    const steps = Array.from({ length: longest }, (_, i) => i);
    const first = steps.find((i) => one.commands[i] !== other.commands[i]);
    return first === undefined ? [] : [first + 1];
  });
  return { pairs: known.length, changed: firsts.length, firstStep: quantile(firsts, 0.5) };
}

function hasCommands({ commands, steps }: Row): boolean {
  return commands.length > 0 || steps === 0;
}
