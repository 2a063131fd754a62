/** The claims of the literature on test-time training while acting, each against a scorecard. */

import type { Interval } from '../math/statistics.ts';
import type { Score } from './scorecard.ts';

export type Verdict = 'holds' | 'does not hold' | 'cannot be told' | 'not tried';

export interface Claim {
  readonly claim: string;
  readonly verdict: Verdict;
  readonly numbers: string;
}

/** A gain below this many points of success is called none. */
const MARGIN = 0.05;

/** Episodes of a kind below which a mean of them is no evidence. */
const ENOUGH = 20;

/** Tasks below which a bootstrap over tasks is too narrow to decide anything. */
const ENOUGH_TASKS = 50;

/** Verdicts come from intervals alone: where one contains both answers, it cannot be told. */
export function claims(scores: readonly Score[]): readonly Claim[] {
  const find = (name: string) =>
    scores.find(({ arm }) => arm.name === name && arm.notApplicable === null);
  const attt = find('attt');
  const naive = find('naive');
  const swept = (field: string, value: number) => find(`attt ${field}=${value}`);
  return [
    {
      claim: 'aTTT raises success over the frozen policy',
      ...decide(attt, ({ low, high }) => (low > 0 ? true : high <= 0 ? false : null)),
    },
    {
      claim: 'Random drop to the same mean weight gains nothing',
      ...decide(find('random_drop'), ({ low, high }) =>
        low > 0 ? false : high < MARGIN ? true : null,
      ),
    },
    {
      claim: 'Breaking loops without training gains as much as aTTT',
      ...compare(find('loop_breaker'), attt, 'at least'),
    },
    { claim: 'K = 1 is worse than K = 5', ...compare(attt, swept('update_interval_k', 1), 'more') },
    {
      claim: 'Rank 32 is slightly worse than rank 8',
      ...compare(attt, swept('lora_rank', 32), 'more'),
    },
    klClaim('Naive training drives KL past 2 nats', naive, (kl) => kl > 2),
    klClaim('With token weights KL stays under 0.5 nats', attt, (kl) => kl < 0.5),
    {
      claim: 'In failures repetition passes 0.8 towards the end',
      ...repetitionClaim(find('frozen')),
    },
  ];
}

type Judged = Pick<Claim, 'verdict' | 'numbers'>;

/** By the interval of the paired difference to the baseline. */
function decide(score: Score | undefined, judge: (interval: Interval) => boolean | null): Judged {
  const difference = score?.difference;
  if (!difference) return { verdict: 'not tried', numbers: '' };
  const { points, interval, pairs, tasks, adjusted } = difference;
  if (!interval) {
    return { verdict: 'cannot be told', numbers: `no pair of ${pairs} differs` };
  }
  const p = adjusted === null ? '' : `, p (Holm) ${adjusted.toFixed(3)}`;
  return {
    verdict: verdictOf(tasks < ENOUGH_TASKS ? null : judge(interval)),
    numbers: `${shown(points)} points (${shown(interval.low)} to ${shown(interval.high)}${p}; ${pairs} pairs)`,
  };
}

/** By the intervals of two success rates; they share tasks, so overlap says less than a paired test would. */
function compare(a: Score | undefined, b: Score | undefined, how: 'more' | 'at least'): Judged {
  if (!a || !b || a.rate === null || b.rate === null) return { verdict: 'not tried', numbers: '' };
  const numbers = `${a.arm.name} ${shown(a.rate)} %, ${b.arm.name} ${shown(b.rate)} %`;
  if (!a.clustered || !b.clustered || Math.min(a.tasks, b.tasks) < ENOUGH_TASKS) {
    return { verdict: 'cannot be told', numbers };
  }
  const above = a.clustered.low > b.clustered.high;
  const below = a.clustered.high < b.clustered.low;
  const close = how === 'at least' && a.clustered.low > b.clustered.high - MARGIN;
  const verdict = above || close ? true : below ? false : null;
  return { verdict: verdictOf(verdict), numbers };
}

function klClaim(claim: string, score: Score | undefined, holds: (kl: number) => boolean): Claim {
  if (!score || score.kl.p95 === null || score.kl.median === null) {
    return { claim, verdict: 'not tried', numbers: '' };
  }
  const { median, p95, max } = score.kl;
  const numbers = `median ${median.toFixed(3)}, 95 % ${p95.toFixed(3)}, max ${(max ?? p95).toFixed(3)} over ${score.episodes} episodes`;
  if (score.episodes < ENOUGH) return { claim, verdict: 'cannot be told', numbers };
  return { claim, verdict: verdictOf(holds(p95)), numbers };
}

function repetitionClaim(score: Score | undefined): Judged {
  const last = score?.repetitionFailed.at(-1);
  if (!score || last === null || last === undefined) return { verdict: 'not tried', numbers: '' };
  const failures = score.episodes - score.solved;
  const numbers = `last fifth of ${failures} failures: ${last.toFixed(2)}`;
  if (failures < ENOUGH) return { verdict: 'cannot be told', numbers };
  return { verdict: verdictOf(last > 0.8), numbers };
}

function verdictOf(holds: boolean | null): Verdict {
  return holds === null ? 'cannot be told' : holds ? 'holds' : 'does not hold';
}

function shown(rate: number): string {
  return (100 * rate).toFixed(1);
}
