/** A claim on its way to a table, and which arms it is about. */

import { fixed } from '../math/fixed.ts';
import type { Interval } from '../math/statistics.ts';
import type { Arm } from './plan.ts';
import type { Row } from './row.ts';
import type { Decision } from './verdicts.ts';

/** A claim with what decides it; `arms` is empty where it was not tried. */
export interface Line {
  readonly claim: string;
  readonly arms: string;
  readonly numbers: string;
  readonly decision: Decision | null;
}

export type RowsOf = (arm: Arm) => readonly Row[];

export function notTried(claim: string): Line {
  return { claim, arms: '', numbers: '', decision: null };
}

/** The plain one, unless others have more than twice its tasks; else all that have the most, or the first where none has any. */
export function chosen<T>(
  candidates: readonly { readonly value: T; readonly tasks: number; readonly plain: boolean }[],
): readonly T[] {
  const most = Math.max(0, ...candidates.map(({ tasks }) => tasks));
  const plain = candidates.find((one) => one.plain && one.tasks > 0 && 2 * one.tasks >= most);
  const fullest = candidates.filter(({ tasks }) => tasks === most);
  const found = plain ? [plain] : most === 0 ? fullest.slice(0, 1) : fullest;
  return found.map(({ value }) => value);
}

export function percent(rate: number): string {
  return `${fixed(100 * rate, 1)} %`;
}

export function range(interval: Interval | null, inWords: (value: number) => string): string {
  return interval ? `${inWords(interval.low)} to ${inWords(interval.high)}` : 'no interval';
}
