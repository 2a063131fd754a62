/** Quick validation: texts of the episode that were never trained on, scored before and after an update. */

import type { Settings } from '../config.ts';
import type { Learner, TrainText } from '../ports.ts';
import type { Turn } from './update-text.ts';
import { updateText } from './update-text.ts';

/** Of the latest `validation_texts` turns before the present one whose text no update was trained on: what has at most `limit` ids. */
export function heldTexts(
  turns: readonly Turn[],
  trainedSteps: ReadonlySet<number>,
  settings: Settings,
  learner: Learner,
  limit: number,
): readonly TrainText[] {
  if (settings.validation_texts === 0) return [];
  return turns
    .slice(0, -1)
    .filter(({ step }) => !trainedSteps.has(step.t))
    .slice(-settings.validation_texts)
    .map((turn) => {
      const { context, ids, trained } = updateText(turn, settings, learner, limit);
      const weights = ids.map((_, j) => (j < trained && context.length + j > 0 ? 1 : 0));
      return { context, ids, weights };
    })
    .filter(
      ({ context, ids, weights }) =>
        context.length + ids.length <= limit && weights.some((w) => w > 0),
    );
}

/** Mean cross entropy over all their tokens, in nats. */
export async function score(
  texts: readonly TrainText[],
  learner: Learner,
  signal: AbortSignal,
): Promise<number> {
  let sum = 0;
  let count = 0;
  for (const text of texts) {
    for (const ce of await learner.measure(text, signal)) {
      if (ce === null) continue;
      sum += ce;
      count++;
    }
  }
  return sum / count;
}
