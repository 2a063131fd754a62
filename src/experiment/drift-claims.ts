/** Claims about what an episode's training and its steps come to: KL and repetition. */

import { fixed } from '../math/fixed.ts';
import { isOverflowed } from '../math/overflow.ts';
import { mean, quantile } from '../math/statistics.ts';
import { isPlain } from './arm-names.ts';
import { chosen, type Line, notTried, percent, type RowsOf, range } from './claim-lines.ts';
import { isSide, type Side } from './comparable.ts';
import type { Arm } from './plan.ts';
import { DRIFTING, fifthsOf, isErrorRow, rowsBy, taskOf } from './row.ts';
import { decideAbove, decidePassing, not } from './verdicts.ts';

export interface Limit {
  readonly claim: string;
  readonly of: Side;
  /** In nats a token. */
  readonly nats: number;
  readonly says: 'past' | 'under';
}

export function limitLines({ claim, of, nats, says }: Limit, arms: readonly Arm[], rowsOf: RowsOf) {
  const candidates = arms
    .filter((arm) => isSide(arm, of))
    .map((arm) => {
      // What overflowed lies above all that was measured.
      const rows = rowsOf(arm).filter((row) => !isErrorRow(row) && row.kl.length > 0);
      const largest = [...rowsBy(rows, taskOf).values()].map((group) =>
        group.map(({ kl }) => Math.max(...kl)),
      );
      return { value: { arm, largest }, tasks: largest.length, plain: isPlain(arm) };
    })
    .filter(({ tasks }) => tasks > 0);
  if (candidates.length === 0) return [notTried(claim)];
  return chosen(candidates).map(({ arm, largest }): Line => {
    const passing = largest.map((group) => group.map((kl) => Number(kl > nats)));
    const { interval, decision } = decidePassing(passing);
    const all = largest.flat();
    const overflowed = all.filter(isOverflowed).length;
    const median = 2 * overflowed >= all.length ? 'no number' : fixed(quantile(all, 0.5) ?? 0, 3);
    const share = percent(mean(passing.flat()));
    return {
      claim,
      arms: arm.name,
      numbers: `${share} of ${all.length} episodes pass it (${range(interval, percent)}); an episode's largest is ${median} in the median${overflowed === 0 ? '' : `, and overflowed in ${overflowed}`}`,
      decision: says === 'past' ? decision : not(decision),
    };
  });
}

/** Of the frozen policy, each task counted once. */
export function repetitionLines(arms: readonly Arm[], rowsOf: RowsOf): readonly Line[] {
  const falls = 'In successes repetition falls from the second fifth to the last';
  const passes = 'In failures repetition passes 0.8 in the last fifth';
  const plain = arms.filter(({ method }) => method === 'frozen');
  const all = plain.map((arm) => {
    const rows = rowsOf(arm).filter((row) => !isErrorRow(row));
    return { value: { arm, rows }, tasks: rowsBy(rows, taskOf).size, plain: isPlain(arm) };
  });
  const [first] = chosen(all);
  if (!first) return [notTried(falls), notTried(passes)];
  const line = (
    claim: string,
    solved: boolean,
    number: (second: number, last: number) => number,
    value: number,
    above: boolean,
  ): Line => {
    const rows = first.rows.filter((row) => row.solved === solved);
    const means = [...rowsBy(rows, taskOf).values()].flatMap((group) => {
      const numbers = group.flatMap((row) => {
        const [, second, , , last] = fifthsOf(row) ?? [];
        return second === undefined || last === undefined ? [] : [number(second, last)];
      });
      return numbers.length === 0 ? [] : [mean(numbers)];
    });
    if (means.length === 0) return notTried(claim);
    const { interval, decision } = decideAbove(means, value);
    const two = (x: number) => fixed(x, 2);
    return {
      claim,
      arms: first.arm.name,
      numbers: `${two(mean(means))} (${range(interval, two)}), mean over ${means.length} tasks`,
      decision: above ? decision : not(decision),
    };
  };
  return [
    line(falls, true, (second, last) => last - second, 0, false),
    line(passes, false, (_, last) => last, DRIFTING, true),
  ];
}
