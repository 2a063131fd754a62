/** Claims about the success of one arm beside another's. */

import { pValue, signed } from '../math/fixed.ts';
import { holm } from '../math/statistics.ts';
import { isPlain } from './arm-names.ts';
import { chosen, type Line, notTried, type RowsOf } from './claim-lines.ts';
import { type ArmPair, comparable, type Side } from './comparable.ts';
import { type Drifts, driftsElsewhere } from './drifting.ts';
import { type Difference, differenceOf, type Pair, pairsOf } from './paired.ts';
import { type Arm, BASELINE } from './plan.ts';
import { isErrorRow, pairOf } from './row.ts';
import { decide, open, type Relation } from './verdicts.ts';

export interface Comparison {
  readonly claim: string;
  readonly one: Side;
  readonly than: Side;
  readonly says: Relation;
  /** Only of pairs whose task the frozen policy drifted in with another seed. */
  readonly drifting?: true;
}

/** Two arms that a comparison is about. */
interface Compared {
  readonly comparison: Comparison;
  readonly arms: ArmPair;
  readonly difference: Difference | null;
  /** The same where what an error ended counts as failed. */
  readonly atWorst: Difference | null;
}

/** Each against the rows of both arms; tests are corrected for the number of all of them. */
export function successLines(
  comparisons: readonly Comparison[],
  arms: readonly Arm[],
  rowsOf: RowsOf,
): readonly Line[] {
  const plain = arms.find(({ method }) => method === BASELINE);
  const drifts = driftsElsewhere(plain ? rowsOf(plain) : []);
  const compared = comparisons.flatMap((one) => comparedBy(one, arms, rowsOf, drifts));
  // What the interval alone decides is no further test of that pair.
  const tested = compared.filter(({ comparison: { says } }) => says !== 'much_more');
  const corrected = (of: (one: Compared) => Difference | null) => {
    const adjusted = holm(tested.map((one) => of(one)?.p ?? 1));
    return (one: Compared) => adjusted[tested.indexOf(one)] ?? null;
  };
  const p = corrected(({ difference }) => difference);
  const pAtWorst = corrected(({ atWorst }) => atWorst);
  return comparisons.flatMap((comparison) => {
    const own = compared.filter((one) => one.comparison === comparison);
    if (own.length === 0) return [notTried(comparison.claim)];
    return own.map((one) => lineOf(one, p(one), pAtWorst(one)));
  });
}

function comparedBy(
  comparison: Comparison,
  arms: readonly Arm[],
  rowsOf: RowsOf,
  drifts: Drifts,
): readonly Compared[] {
  const candidates = comparable(arms, comparison.one, comparison.than).map((value) => {
    const all = pairsOf(rowsOf(value.one), rowsOf(value.than));
    const pairs = comparison.drifting ? all.filter(({ one }) => drifts(one) === true) : all;
    const tasks = new Set(pairs.map(({ task }) => task)).size;
    return {
      value: { two: value, pairs },
      tasks,
      plain: isPlain(value.one) && isPlain(value.than),
    };
  });
  return chosen(candidates).flatMap(({ two, pairs }) => {
    if (comparison.drifting && pairs.length === 0) return [];
    const differing = (some: readonly Pair[]) =>
      differenceOf(some, two.one.name, two.than.name, comparison.drifting ? 'pair' : 'task');
    const lost = comparison.drifting ? [] : lostPairs(two, rowsOf);
    const difference = differing(pairs);
    const atWorst = lost.length === 0 ? difference : differing([...pairs, ...lost]);
    return [{ comparison, arms: two, difference, atWorst }];
  });
}

function lineOf(
  { comparison: { claim, says }, arms: { one, than }, difference, atWorst }: Compared,
  p: number | null,
  pAtWorst: number | null,
): Line {
  const arms = `${one.name} − ${than.name}`;
  if (!difference || !atWorst) {
    return { claim, arms, numbers: 'no pairs', decision: open('no task in common') };
  }
  const found = decide(says, difference, p);
  const steady = typeof found !== 'boolean' || found === decide(says, atWorst, pAtWorst);
  return {
    claim,
    arms,
    numbers: inWords(difference, p, atWorst.pairs - difference.pairs),
    decision: steady ? found : open('it is otherwise if what errors ended counts as failed'),
  };
}

/** Pairs of which an error ended one or both, with what it ended as failed. */
function lostPairs({ one, than }: ArmPair, rowsOf: RowsOf): readonly Pair[] {
  const failed = (arm: Arm) =>
    rowsOf(arm).map((row) =>
      isErrorRow(row) ? { ...row, reason: 'step_limit' as const, solved: false } : row,
    );
  const whole = new Set(pairsOf(rowsOf(one), rowsOf(than)).map((pair) => pairOf(pair.one)));
  return pairsOf(failed(one), failed(than)).filter((pair) => !whole.has(pairOf(pair.one)));
}

function inWords(difference: Difference, p: number | null, lost: number): string {
  const { points, interval, pairs, better, worse } = difference;
  const range = `${shown(interval.low)} to ${shown(interval.high)}`;
  const test = p === null ? '' : `, p (Holm) ${pValue(p)}`;
  const errors = lost === 0 ? '' : `, ${lost} more ended by errors`;
  return `${shown(points)} points (${range}${test}); ${better} better and ${worse} worse of ${pairs === 1 ? '1 pair' : `${pairs} pairs`}${errors}`;
}

/** In points, with a sign. */
function shown(rate: number): string {
  return signed(100 * rate, 1);
}
