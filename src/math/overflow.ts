/** Numbers that overflowed, as an event can hold them: JSON has no NaN and no infinity. */

/** Stands for a number that was not finite: the largest one, so that it is above every limit. */
const OVERFLOWED = Number.MAX_VALUE;

export function finiteOrMax(x: number): number {
  return Number.isFinite(x) ? x : OVERFLOWED;
}

/** True for what {@link finiteOrMax} recorded in place of a number that was not finite. */
export function isOverflowed(recorded: number): boolean {
  return recorded >= OVERFLOWED;
}
