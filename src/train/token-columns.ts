/** The columns of a boundary's tokens. */

import type { Settings } from '../config.ts';
import { finiteOrMax } from '../math/overflow.ts';
import type { Learner, TokenDrift } from '../ports.ts';
import type { TokenColumns } from '../records.ts';
import type { Candidate } from './candidate.ts';

/** Cross entropies by token, null where none was measured; `drift` where it was. null where they are not logged. */
export function tokenColumns(
  { trainText: { context, ids, weights }, counts, ngramStarts }: Candidate,
  { log_token_weights }: Settings,
  learner: Learner,
  measured: Partial<Pick<TokenColumns, 'ceBefore' | 'ceAfter'>> = {},
  drift: TokenDrift | null = null,
): TokenColumns | null {
  if (!log_token_weights) return null;
  const none = ids.map(() => null);
  const { ceBefore = none, ceAfter = none } = measured;
  const pieces = learner.pieces(ids);
  const columns = { ids, context, pieces, weights, counts, ngramStarts, ceBefore, ceAfter };
  return drift === null ? columns : { ...columns, ...driftColumns(drift, learner) };
}

function driftColumns(
  { kl, entropy, likeliest }: TokenDrift,
  learner: Learner,
): Pick<TokenColumns, 'kl' | 'entropy' | 'alternatives'> {
  const finite = (values: TokenDrift['kl']) =>
    values.map((value) => (value === null ? null : finiteOrMax(value)));
  const asked = likeliest.some((likely) => likely.length > 0);
  return {
    kl: finite(kl),
    entropy: finite(entropy),
    ...(asked && {
      alternatives: likeliest.map((likely) => {
        const pieces = learner.pieces(likely.map(({ id }) => id));
        return likely.map(({ id, logprob }, k) => ({
          id,
          piece: pieces[k] ?? '',
          logprob: finiteOrMax(logprob),
        }));
      }),
    }),
  };
}
