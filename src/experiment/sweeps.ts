/** Finds the sweeps in a table: arms of one method that differ in one setting alone. */

import { type FieldName, fields } from '../config.ts';
import { startOf } from './comparable.ts';
import { differing, settingsOf } from './plan.ts';
import type { Score } from './scorecard.ts';

export interface SweepPoints {
  readonly method: string;
  /** As the arms have it. */
  readonly of: string | undefined;
  readonly field: FieldName;
  /** The first arm, which the others differ from. */
  readonly plain: Score;
  /** In order of the value. */
  readonly points: readonly { readonly value: string; readonly score: Score }[];
}

/** Each setting in which some arm differs from its method's first arm, with that first arm in its place; of a mix, in each that it keeps apart. */
export function sweepsOf(scores: readonly Score[]): readonly SweepPoints[] {
  const alike = ({ arm: a }: Score, { arm: b }: Score) => a.method === b.method && a.of === b.of;
  const first = (score: Score) => scores.find((one) => alike(one, score)) === score;
  return scores.filter(first).flatMap((plain) => {
    const byField = new Map<FieldName, Score[]>();
    for (const score of scores) {
      if (score === plain || !alike(score, plain)) continue;
      if (startOf(score.arm) !== startOf(plain.arm)) continue;
      const [field, another] = differing(plain.arm, score.arm);
      if (field === undefined || another !== undefined) continue;
      byField.set(field, [...(byField.get(field) ?? [plain]), score]);
    }
    return [...byField].map(([field, all]) => ({
      method: plain.arm.method,
      of: plain.arm.of,
      field,
      plain,
      points: all
        .toSorted((a, b) => order(field, a, b))
        .map((score) => ({ value: String(settingsOf(score.arm)[field]), score })),
    }));
  });
}

function order(field: FieldName, a: Score, b: Score): number {
  if (fields[field].kind !== 'number') return 0;
  return Number(settingsOf(a.arm)[field]) - Number(settingsOf(b.arm)[field]);
}
