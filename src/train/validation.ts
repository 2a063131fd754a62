/** Quick validation: texts of the episode that were never trained on, scored before and after an update. */

import type { Settings } from '../config.ts';
import type { Learner, TrainText } from '../ports.ts';
import type { TextSource } from '../records.ts';
import type { Turn } from './update-text.ts';
import { updateText } from './update-text.ts';

export interface HeldTexts {
  readonly source: TextSource;
  /** In the order of their steps; may be none. */
  readonly texts: readonly TrainText[];
}

/**
 * Of the turns before the present one whose text no update was trained on, the latest `validation_texts` texts that have
 * a label and at most `limit` ids. Where there is none (every turn was trained on, or nobody wrote its summary), those of
 * the side that this run never trains on: what the world answered, or what the policy wrote where it trains on answers.
 */
export function heldTexts(
  turns: readonly Turn[],
  trainedSteps: ReadonlySet<number>,
  settings: Settings,
  learner: Learner,
  limit: number,
): HeldTexts {
  const latest = (from: readonly Turn[], source: TextSource) =>
    from
      .map((turn): TrainText => {
        const asked = { ...settings, text_source: source };
        const { context, ids, trained } = updateText(turn, asked, learner, limit);
        const weights = ids.map((_, j) => (j < trained && context.length + j > 0 ? 1 : 0));
        return { context, ids, weights };
      })
      .filter(
        ({ context, ids, weights }) =>
          context.length + ids.length <= limit && weights.some((w) => w > 0),
      )
      .slice(-settings.validation_texts);
  const source = settings.text_source;
  if (settings.validation_texts === 0) return { source, texts: [] };
  const untrained = turns.slice(0, -1).filter(({ step }) => !trainedSteps.has(step.t));
  const own = latest(untrained, source);
  if (own.length > 0) return { source, texts: own };
  const other = source === 'env' ? 'self' : 'env';
  return { source: other, texts: latest(turns, other) };
}

/** Mean cross entropy over all their tokens, in nats. */
export async function meanCrossEntropy(
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
