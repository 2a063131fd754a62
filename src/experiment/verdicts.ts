/** When a claim holds, does not hold, or cannot be told: a rule for each kind of claim. */

import { type Clusters, singles, taskInterval } from '../math/clusters.ts';
import { deriveRng } from '../math/rng.ts';
import { type Interval, mean } from '../math/statistics.ts';
import type { Difference } from './paired.ts';

export type Verdict = 'holds' | 'does not hold' | 'cannot be told' | 'not tried';

/** Whether a claim holds, or why that cannot be told. */
export type Decision = boolean | { readonly why: string };

/** The gain that the literature claims, in success rate. */
export const GAIN = 0.05;

/**
 * A difference below this is called none: half of the gain that is claimed, so that two arms are not "alike" across
 * all of it. Half is what trials of non-inferiority keep (FDA guidance on them, 2016).
 */
export const MARGIN = GAIN / 2;

/** Tasks below which a bootstrap over tasks is too narrow to decide anything. */
export const ENOUGH_TASKS = 50;

/** Of a number that some episodes have and others not: at most this share are exceptions. */
export const EXCEPTIONS = 0.05;

export const LEVEL = 0.05;

/**
 * What is said of the success of one arm beside another's: `more`; `much_more`: by the claimed gain or more;
 * `slightly_more`: more, and by less than that; `no_gain`: not more by the margin; `alike`: within the margin either
 * way; `as_much`: not less by the margin.
 */
export type Relation = 'more' | 'much_more' | 'slightly_more' | 'no_gain' | 'alike' | 'as_much';

/** By the interval and by `p`, corrected for the number of comparisons; null where the interval alone decides. */
export function decide(says: Relation, difference: Difference, p: number | null): Decision {
  const { interval, tasks, better, worse } = difference;
  const { low, high } = interval;
  if (tasks < ENOUGH_TASKS) return tooFew(tasks);
  const told = p !== null && p < LEVEL;
  const [more, less] = [told && low > 0, told && high < 0];
  // Where no pair differs the interval is of the rule of three already.
  const wide = better + worse === 0 ? interval : widened(interval, tasks);
  const [falls, rises] = [wide.low <= -MARGIN, wide.high >= MARGIN];
  switch (says) {
    case 'more':
      return more || (less ? false : open('it is not told from 0'));
    case 'much_more':
      if (low < GAIN && high >= GAIN) return open(`the interval has ${points(GAIN)} in it`);
      return low >= GAIN;
    case 'slightly_more':
      if (!more) return less ? false : open('it is not told from 0');
      if (low < GAIN && high >= GAIN) return open(`the interval has ${points(GAIN)} in it`);
      return high < GAIN;
    case 'no_gain':
      return more ? false : rises ? open(`a gain of ${points(MARGIN)} is not excluded`) : true;
    case 'as_much':
      return less ? false : falls ? open(`a loss of ${points(MARGIN)} is not excluded`) : true;
    case 'alike':
      if (more || less) return false;
      return falls || rises ? open(`a difference of ${points(MARGIN)} is not excluded`) : true;
    default:
      return says satisfies never;
  }
}

/** Whether more than a few episodes pass a limit; each 1 or 0, by task. `interval` is of their share. */
export function decidePassing(passing: Clusters): {
  readonly interval: Interval | null;
  readonly decision: Decision;
} {
  const possible = { low: 0, high: 1 };
  const interval = taskInterval(passing, possible, deriveRng(0, 'claim', 'passing'));
  const tasks = passing.length;
  if (interval === null || tasks < ENOUGH_TASKS) return { interval, decision: tooFew(tasks) };
  const some = passing.some((values) => mean(values) > 0);
  const { low } = interval;
  const { high } = some ? widened(interval, tasks) : interval;
  if (low > EXCEPTIONS) return { interval, decision: true };
  if (high < EXCEPTIONS) return { interval, decision: false };
  return { interval, decision: open(`a share of ${100 * EXCEPTIONS} % is not excluded`) };
}

/** Whether the mean of a number, one a task, lies above a value. */
export function decideAbove(
  means: readonly number[],
  value: number,
): { readonly interval: Interval | null; readonly decision: Decision } {
  const interval = taskInterval(
    singles(means),
    { low: -Infinity, high: Infinity },
    deriveRng(0, 'claim', 'mean'),
  );
  if (means.length < ENOUGH_TASKS) return { interval, decision: tooFew(means.length) };
  if (interval === null) return { interval, decision: open('all tasks are alike') };
  const { low, high } = interval;
  if (low <= value && high >= value)
    return { interval, decision: open(`the interval has ${value} in it`) };
  return { interval, decision: low > value };
}

export function not(decision: Decision): Decision {
  return typeof decision === 'boolean' ? !decision : decision;
}

export function open(why: string): Decision {
  return { why };
}

function tooFew(tasks: number): Decision {
  return open(`${tasks === 1 ? '1 task' : `${tasks} tasks`}, ${ENOUGH_TASKS} are needed`);
}

/**
 * A bootstrap draws only what it has seen. To say that there is no difference, up to three tasks in n may be otherwise
 * than all of them, either way (rule of three): 1 of 100 pairs ends at 3 points by the bootstrap, at 5.4 by the exact
 * interval, at 6 so.
 */
function widened({ low, high }: Interval, tasks: number): Interval {
  return { low: low - 3 / tasks, high: high + 3 / tasks };
}

function points(rate: number): string {
  return `${100 * rate} points`;
}
