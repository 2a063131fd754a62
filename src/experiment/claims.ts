/** The claims of the literature on test-time training while acting, each against a scorecard and its rows. */

import type { Line } from './claim-lines.ts';
import type { Side } from './comparable.ts';
import { type Limit, limitLines, repetitionLines } from './drift-claims.ts';
import type { Arm } from './plan.ts';
import { type Row, rowsBy } from './row.ts';
import type { Score } from './scorecard.ts';
import { type Comparison, successLines } from './success-claims.ts';
import type { Verdict } from './verdicts.ts';

export interface Claim {
  readonly claim: string;
  readonly verdict: Verdict;
  /** Which arms, and what of them. */
  readonly numbers: string;
  /** Why it cannot be told; else empty. */
  readonly why: string;
}

const attt: Side = { method: 'attt' };
const frozen: Side = { method: 'frozen', untrained: true };
const randomDrop: Side = { method: 'random_drop' };
const every = (k: number): Side => ({
  method: 'attt',
  at: { field: 'update_interval_k', value: k },
});
const rank = (r: number): Side => ({ method: 'attt', at: { field: 'lora_rank', value: r } });

const comparisons: readonly Comparison[] = [
  {
    claim: 'aTTT raises success over the frozen policy',
    one: attt,
    than: frozen,
    says: 'more',
  },
  {
    claim: 'aTTT gains 5 points or more over the frozen policy',
    one: attt,
    than: frozen,
    says: 'much_more',
  },
  {
    claim: 'aTTT raises success in tasks where the frozen policy drifts with another seed',
    one: attt,
    than: frozen,
    says: 'more',
    drifting: true,
  },
  { claim: 'aTTT beats naive training', one: attt, than: { method: 'naive' }, says: 'more' },
  {
    claim: 'Random drop to the same mean weight gains nothing',
    one: randomDrop,
    than: frozen,
    says: 'no_gain',
  },
  { claim: 'aTTT beats random drop', one: attt, than: randomDrop, says: 'more' },
  {
    claim: 'Breaking loops without training gains as much as aTTT',
    one: { method: 'loop_breaker', untrained: true },
    than: attt,
    says: 'as_much',
  },
  {
    claim: 'A higher temperature gains as much as aTTT',
    one: { method: 'temperature', untrained: true },
    than: attt,
    says: 'as_much',
  },
  { claim: 'K = 1 is worse than K = 5', one: every(5), than: every(1), says: 'more' },
  { claim: 'K = 1 is worse than K = 10', one: every(10), than: every(1), says: 'more' },
  { claim: 'Ranks 4 and 8 are alike', one: rank(4), than: rank(8), says: 'alike' },
  { claim: 'Ranks 16 and 8 are alike', one: rank(16), than: rank(8), says: 'alike' },
  { claim: 'Ranks 16 and 4 are alike', one: rank(16), than: rank(4), says: 'alike' },
  {
    claim: 'Rank 32 is slightly worse than rank 8',
    one: rank(8),
    than: rank(32),
    says: 'slightly_more',
  },
];

const limits: readonly Limit[] = [
  {
    claim: 'Naive training drives KL past 2 nats',
    of: { method: 'naive' },
    nats: 2,
    says: 'past',
  },
  {
    claim: 'aTTT keeps KL under 0.5 nats, refused updates included',
    of: attt,
    nats: 0.5,
    says: 'under',
  },
  {
    claim: 'Token weights and the gate keep KL under 0.5 nats without rollbacks',
    of: { method: 'attt', at: { field: 'rollback_enable', value: false } },
    nats: 0.5,
    says: 'under',
  },
];

/**
 * Verdicts come from intervals and corrected tests alone ({@link decide}). Of several arms that a claim could mean it is
 * about the plain one, or where that was not run, about each of those with the most tasks, a line each; of a mix that
 * keeps equal names apart, give the scores of one owner.
 */
export function claims(scores: readonly Score[], rows: readonly Row[]): readonly Claim[] {
  const arms = scores
    .filter(({ arm, episodes }) => arm.notApplicable === null && episodes > 0)
    .map(({ arm }) => arm);
  const byArm = rowsBy(rows, ({ arm }) => arm);
  const rowsOf = ({ name }: Arm) => byArm.get(name) ?? [];
  return [
    ...successLines(comparisons, arms, rowsOf),
    ...limits.flatMap((limit) => limitLines(limit, arms, rowsOf)),
    ...repetitionLines(arms, rowsOf),
  ].map(({ claim, arms: which, numbers, decision }) => ({
    claim,
    verdict: verdictOf(decision),
    numbers: which === '' ? '' : `${which}: ${numbers}`,
    why: decision !== null && typeof decision !== 'boolean' ? decision.why : '',
  }));
}

function verdictOf(decision: Line['decision']): Verdict {
  if (decision === null) return 'not tried';
  if (typeof decision !== 'boolean') return 'cannot be told';
  return decision ? 'holds' : 'does not hold';
}
