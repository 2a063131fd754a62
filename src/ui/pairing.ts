/** Two runs step by step, aligned where their actions are the same. Pure. */

import { diffArrays } from 'diff';
import type { StepTaken } from '../records.ts';
import type { RunView } from './run-view.ts';

/** A step of each run, or of only one where the other has none to set beside it. */
export interface StepPair {
  readonly left: StepTaken | null;
  readonly right: StepTaken | null;
  readonly sameAction: boolean;
}

/**
 * The steps of both runs in order, along a longest common subsequence of their actions (Myers 1986). Between two steps
 * that match, steps that do not are set side by side as far as they go. Example: actions a b c d and a x c stand as
 * a a, b x, c c, d and nothing.
 */
export function pairSteps(left: RunView, right: RunView): readonly StepPair[] {
  const pairs: StepPair[] = [];
  let apart: { left: StepTaken[]; right: StepTaken[] } = { left: [], right: [] };
  const close = () => {
    const length = Math.max(apart.left.length, apart.right.length);
    for (let n = 0; n < length; n++) {
      pairs.push({ left: apart.left[n] ?? null, right: apart.right[n] ?? null, sameAction: false });
    }
    apart = { left: [], right: [] };
  };
  let [i, j] = [0, 0];
  for (const { count, added, removed } of diffArrays(actionsOf(left), actionsOf(right))) {
    if (removed) apart.left.push(...left.steps.slice(i, i + count));
    else if (added) apart.right.push(...right.steps.slice(j, j + count));
    else {
      close();
      for (let n = 0; n < count; n++) {
        const [a, b] = [left.steps[i + n] ?? null, right.steps[j + n] ?? null];
        pairs.push({ left: a, right: b, sameAction: true });
      }
    }
    if (!added) i += count;
    if (!removed) j += count;
  }
  close();
  return pairs;
}

function actionsOf({ steps }: RunView): string[] {
  return steps.map(({ action }) => action);
}

/** The place of the first pair at which two runs act differently; null where they never do. */
export function firstDivergence(pairs: readonly StepPair[]): number | null {
  const place = pairs.findIndex(({ sameAction }) => !sameAction);
  return place < 0 ? null : place;
}

/** The step that a pair is at: the left run's, or where it has none, the right one's. */
export function stepOf({ left, right }: StepPair): number {
  return left?.t ?? right?.t ?? 0;
}
