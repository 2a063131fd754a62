/** The claims of the literature on test-time training while acting, each against a scorecard and its rows. */

import type { MethodName } from '../config.ts';
import { bootstrapMean, singles } from '../math/clusters.ts';
import { fixed, signed } from '../math/fixed.ts';
import { deriveRng } from '../math/rng.ts';
import { holm, type Interval, mean } from '../math/statistics.ts';
import { comparable, type Side } from './comparable.ts';
import { type Difference, differenceOf, pairsOf } from './paired.ts';
import type { Arm } from './plan.ts';
import { fifthsOf, isErrorRow, type Row, taskOf } from './row.ts';
import type { Score } from './scorecard.ts';

export type Verdict = 'holds' | 'does not hold' | 'cannot be told' | 'not tried';

export interface Claim {
  readonly claim: string;
  readonly verdict: Verdict;
  readonly numbers: string;
}

/** A difference below this many points of success is called none. */
const MARGIN = 0.05;

/** Episodes of a kind below which a mean of them is no evidence. */
const ENOUGH = 20;

/** Tasks below which a bootstrap over tasks is too narrow to decide anything. */
const ENOUGH_TASKS = 50;

/**
 * Tasks below which nobody can say that there is no difference: with one pair of 51 discordant the
 * bootstrap ends below five points, and the exact interval of that one pair at ten.
 */
const ENOUGH_FOR_NONE = 100;

const LEVEL = 0.05;

/**
 * What is said of the success of one arm beside another's: `more`; `much_more`: by the margin or more; `no_gain`: not
 * more by the margin; `alike`: within the margin either way; `as_much`: not less by the margin.
 */
type Relation = 'more' | 'much_more' | 'no_gain' | 'alike' | 'as_much';

interface Comparison {
  readonly claim: string;
  readonly one: Side;
  readonly than: Side;
  readonly says: Relation;
}

const attt: Side = { method: 'attt' };
const frozen: Side = { method: 'frozen', untrained: true };
const randomDrop: Side = { method: 'random_drop' };
const every = (k: number): Side => ({
  method: 'attt',
  at: { field: 'update_interval_k', value: k },
});
const rank = (r: number): Side => ({ method: 'attt', at: { field: 'lora_rank', value: r } });

const comparisons: readonly Comparison[] = [
  {
    claim: 'aTTT raises success over the frozen policy',
    one: attt,
    than: frozen,
    says: 'more',
  },
  {
    claim: 'aTTT gains 5 points over the frozen policy',
    one: attt,
    than: frozen,
    says: 'much_more',
  },
  { claim: 'aTTT beats naive training', one: attt, than: { method: 'naive' }, says: 'more' },
  {
    claim: 'Random drop to the same mean weight gains nothing',
    one: randomDrop,
    than: frozen,
    says: 'no_gain',
  },
  { claim: 'aTTT beats random drop', one: attt, than: randomDrop, says: 'more' },
  {
    claim: 'Breaking loops without training gains as much as aTTT',
    one: { method: 'loop_breaker', untrained: true },
    than: attt,
    says: 'as_much',
  },
  {
    claim: 'A higher temperature gains as much as aTTT',
    one: { method: 'temperature', untrained: true },
    than: attt,
    says: 'as_much',
  },
  { claim: 'K = 1 is worse than K = 5', one: every(5), than: every(1), says: 'more' },
  { claim: 'K = 1 is worse than K = 10', one: every(10), than: every(1), says: 'more' },
  { claim: 'Ranks 4 and 8 are alike', one: rank(4), than: rank(8), says: 'alike' },
  { claim: 'Ranks 16 and 8 are alike', one: rank(16), than: rank(8), says: 'alike' },
  { claim: 'Rank 32 is slightly worse than rank 8', one: rank(8), than: rank(32), says: 'more' },
];

/**
 * Verdicts come from intervals and corrected tests alone: where both answers remain, it cannot be told. Of several arms
 * that a claim could mean, it is about the first, so the plain ones before those of a sweep; of a mix that keeps equal
 * names apart, give the scores of one owner.
 */
export function claims(scores: readonly Score[], rows: readonly Row[]): readonly Claim[] {
  const run = scores.filter(({ arm, episodes }) => arm.notApplicable === null && episodes > 0);
  const arms = run.map(({ arm }) => arm);
  const find = (method: MethodName) => run.find(({ arm }) => arm.method === method);
  const of = (arm: Arm | undefined) => rows.filter((row) => row.arm === arm?.name);
  const baseline = of(find('frozen')?.arm).filter((row) => !isErrorRow(row));
  const compared = comparisons.map(({ claim, says, ...sides }) => {
    const pair = comparable(arms, sides.one, sides.than);
    if (!pair) return { claim, says, arms: '', difference: null };
    const { one, than } = pair;
    const difference = differenceOf(pairsOf(of(one), of(than)), (purpose) =>
      deriveRng(0, 'claim', purpose, one.name, than.name),
    );
    return { claim, says, arms: `${one.name} − ${than.name}`, difference };
  });
  // What the interval alone decides is no further test of that pair.
  const tested = compared.filter(({ difference, says }) => difference && says !== 'much_more');
  const adjusted = holm(tested.map(({ difference }) => difference?.p ?? 1));
  return [
    ...compared.map((one): Claim => {
      const { claim, says, arms, difference } = one;
      if (!difference) return { claim, verdict: 'not tried', numbers: '' };
      const p = adjusted[tested.indexOf(one)] ?? null;
      return { claim, ...judge(says, difference, p, arms) };
    }),
    klClaim('Naive training drives KL past 2 nats', find('naive'), (kl) => kl > 2),
    klClaim('With token weights KL stays under 0.5 nats', find('attt'), (kl) => kl < 0.5),
    {
      claim: 'In successes repetition falls from the second fifth to the last',
      ...repetitionClaim(
        baseline.filter((row) => row.solved),
        (second, last) => last - second,
        ({ low, high }) => (high < 0 ? true : low >= 0 ? false : null),
      ),
    },
    {
      claim: 'In failures repetition passes 0.8 towards the end',
      ...repetitionClaim(
        baseline.filter((row) => !row.solved),
        (_, last) => last,
        ({ low, high }) => (low > 0.8 ? true : high <= 0.8 ? false : null),
      ),
    },
  ];
}

type Judged = Pick<Claim, 'verdict' | 'numbers'>;

function judge(says: Relation, difference: Difference, p: number | null, arms: string): Judged {
  const { points, interval, pairs, tasks, discordant } = difference;
  const range = `${shown(interval.low)} to ${shown(interval.high)}`;
  return {
    verdict: verdictOf(tasks < ENOUGH_TASKS ? null : holds(says, interval, p, tasks)),
    numbers: `${arms}: ${shown(points)} points (${range}${p === null ? '' : `, p (Holm) ${p.toFixed(3)}`}; ${discordant} of ${pairs} pairs discordant)`,
  };
}

/** null where both answers remain. `p` is corrected for the number of comparisons; null where the interval decides. */
function holds(
  says: Relation,
  { low, high }: Interval,
  p: number | null,
  tasks: number,
): boolean | null {
  const more = p !== null && p < LEVEL && low > 0;
  const less = p !== null && p < LEVEL && high < 0;
  const many = tasks >= ENOUGH_FOR_NONE;
  switch (says) {
    case 'more':
      return more ? true : less || high <= 0 ? false : null;
    case 'much_more':
      return low >= MARGIN ? true : many && high < MARGIN ? false : null;
    case 'no_gain':
      return many && high < MARGIN ? true : more ? false : null;
    case 'as_much':
      return many && low > -MARGIN ? true : less ? false : null;
    case 'alike':
      return many && low > -MARGIN && high < MARGIN ? true : more || less ? false : null;
    default:
      return says satisfies never;
  }
}

function klClaim(claim: string, score: Score | undefined, said: (kl: number) => boolean): Claim {
  if (!score || score.kl.measured === 0) return { claim, verdict: 'not tried', numbers: '' };
  const { median, p95, max, measured, overflowed } = score.kl;
  const [mid, high, most] = [median, p95, max].map((kl) => kl?.toFixed(3) ?? 'n/a');
  const whose = score.arm.name === score.arm.method ? '' : `${score.arm.name}: `;
  const lost = overflowed === 0 ? '' : `, ${overflowed} of ${measured} overflowed`;
  const numbers = `${whose}median ${mid}, 95 % ${high}, max ${most} over ${score.episodes} episodes${lost}`;
  if (score.episodes < ENOUGH) return { claim, verdict: 'cannot be told', numbers };
  // What overflowed lies above all that was measured.
  const beyond = p95 === null || overflowed > 0.05 * measured;
  return { claim, verdict: verdictOf(said(beyond ? Number.POSITIVE_INFINITY : p95)), numbers };
}

/** By the mean over episodes of a number from the second and the last fifth of their steps. */
function repetitionClaim(
  rows: readonly Row[],
  number: (second: number, last: number) => number,
  said: (interval: Interval) => boolean | null,
): Judged {
  const byTask = new Map<string, number[]>();
  for (const row of rows) {
    const [, second, , , last] = fifthsOf(row) ?? [];
    if (second === undefined || last === undefined) continue;
    byTask.set(taskOf(row), [...(byTask.get(taskOf(row)) ?? []), number(second, last)]);
  }
  const means = [...byTask.values()].map(mean);
  if (means.length === 0) return { verdict: 'not tried', numbers: '' };
  const interval = bootstrapMean(singles(means), deriveRng(0, 'claim', 'repetition'));
  const range = interval ? ` (${fixed(interval.low, 2)} to ${fixed(interval.high, 2)})` : '';
  const numbers = `${fixed(mean(means), 2)}${range} over ${means.length} tasks`;
  const enough = means.length >= ENOUGH && interval !== null;
  return { verdict: verdictOf(enough ? said(interval) : null), numbers };
}

function verdictOf(holds: boolean | null): Verdict {
  return holds === null ? 'cannot be told' : holds ? 'holds' : 'does not hold';
}

/** In points, with a sign. */
function shown(rate: number): string {
  return signed(100 * rate, 1);
}
