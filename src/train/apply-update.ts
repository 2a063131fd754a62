/** An update that is allowed: trained, measured, and judged. */

import type { Settings } from '../config.ts';
import { finiteOrMax } from '../math/overflow.ts';
import type { TrainResult } from '../ports.ts';
import type { Boundary, TextSource } from '../records.ts';
import { type Conversation, conversationIds } from '../text/conversation.ts';
import type { BoundaryPorts, BoundaryRules, BoundaryState } from './boundary-state.ts';
import type { Candidate } from './candidate.ts';
import { tokenColumns } from './token-columns.ts';
import { heldTexts, meanCrossEntropy } from './validation.ts';

export interface Applied {
  /** What the boundary's event tells of it. */
  readonly told: Partial<Boundary>;
  /**
   * `rolled_back_kl`: it is still in the adapter and must be undone; `discarded_check`: it is undone already. With the
   * reason in one sentence, or a note on what could not be checked.
   */
  readonly verdict:
    | { readonly outcome: 'updated'; readonly note?: string }
    | { readonly outcome: 'rolled_back_kl'; readonly why: string }
    | { readonly outcome: 'discarded_check'; readonly why: string };
}

/** Trains the adapter on `candidate`, the text of step `t`. */
export async function applyUpdate(
  candidate: Candidate,
  t: number,
  state: BoundaryState,
  conversation: Conversation,
  { settings, stream, contextLength }: BoundaryRules,
  { learner, onProgress }: BoundaryPorts,
  signal: AbortSignal,
): Promise<Applied> {
  const { trainText } = candidate;
  const trainedSteps = new Set([t, ...state.accepted.map(({ step }) => step)]);
  const { source, texts: held } = heldTexts(
    state.turns,
    trainedSteps,
    settings,
    learner,
    contextLength,
  );
  const untouched =
    held.length === 0
      ? null
      : {
          snapshot: await learner.snapshot(),
          score: await meanCrossEntropy(held, learner, signal),
        };
  const replay = stream('replay', t)
    .shuffle(state.accepted)
    .slice(0, settings.replay_texts)
    .map((earlier) => earlier.trained);
  const texts = [trainText, ...replay];
  const result = await learner.train(texts, settings, signal, (done, total) =>
    onProgress({ type: 'phase', t, phase: 'train', done, total }),
  );
  const every = settings.log_kl_every_n_updates;
  const due = every > 0 && (state.updates + 1) % every === 0;
  onProgress({ type: 'phase', t, phase: 'measure', done: 0, total: 1 });
  const drift = due
    ? await learner.driftFromStart(trainText, settings.log_alternatives, signal)
    : null;
  const kl = drift?.meanKl ?? null;
  const prompt = conversationIds(conversation).slice(-contextLength);
  const klInContext = due ? await learner.klAtPrompt(prompt, signal) : null;
  const deltaNorm = await learner.deltaNorm();
  const check = untouched && {
    texts: held.length,
    source,
    before: untouched.score,
    after: finiteOrMax(await meanCrossEntropy(held, learner, signal)),
  };
  const steps = result.losses.length - 1;
  const weighed = texts.reduce((sum, { weights }) => sum + weights.filter((w) => w > 0).length, 0);
  const told = {
    tokens: tokenColumns(candidate, settings, learner, result, drift),
    losses: result.losses.map(finiteOrMax),
    gradNorms: result.gradNorms.map(finiteOrMax),
    kl: kl === null ? null : finiteOrMax(kl),
    klInContext: klInContext === null ? null : finiteOrMax(klInContext),
    deltaNorm: finiteOrMax(deltaNorm),
    trainedTokens: steps * weighed,
    replayed: replay.length,
    check,
  };
  const refusal = driftOf(result, kl, deltaNorm, settings);
  if (refusal) return { told, verdict: { outcome: 'rolled_back_kl', why: refusal } };
  if (untouched && check && check.after > check.before) {
    learner.restore(untouched.snapshot);
    const why = `Discarded: the cross entropy of ${held.length} held texts (${sources[source]}) rose from ${check.before.toFixed(3)} to ${check.after.toFixed(3)} nats.`;
    return { told, verdict: { outcome: 'discarded_check', why } };
  }
  const unchecked = settings.validation_texts > 0 && !check;
  const note = unchecked && { note: 'There was no held text to check it with.' };
  return { told, verdict: { outcome: 'updated', ...note } };
}

/** Held texts by their source, in words. */
const sources: Readonly<Record<TextSource, string>> = {
  self: 'what the policy wrote',
  env: 'what the world answered',
  summary: 'summaries',
};

/** Why an update must be undone, in words; null when it may stay. */
function driftOf(
  { losses }: TrainResult,
  kl: number | null,
  deltaNorm: number,
  settings: Settings,
): string | null {
  const numbers = [...losses, deltaNorm, kl ?? 0];
  // Kept even when rollbacks are off: a policy of NaNs could not act at all.
  if (!numbers.every(Number.isFinite))
    return 'Rolled back: the update overflowed (a loss or the KL is not a finite number).';
  const limit = settings.kl_divergence_limit;
  if (!settings.rollback_enable || kl === null || kl <= limit) return null;
  return `Rolled back: KL to the episode start is ${kl.toFixed(3)} nats, above the limit of ${limit}.`;
}
