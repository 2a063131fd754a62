/** Equally named arms that a mix keeps apart, compared: what another model or setting makes of the same arm. */

import { holm } from '../math/statistics.ts';
import { plainName } from './arm-names.ts';
import { type Difference, differenceOf, pairsOf } from './paired.ts';
import type { Arm } from './plan.ts';
import { type Row, rowsBy } from './row.ts';

export interface Between {
  readonly one: Arm;
  /** The first of the same name elsewhere. */
  readonly than: Arm;
  /** By task and seed; `adjusted` over all of these. */
  readonly difference: Difference;
}

/** Each arm against the first one of its name, where both have episodes of a task and seed. Empty but in such a mix. */
export function between(arms: readonly Arm[], rows: readonly Row[]): readonly Between[] {
  const byArm = rowsBy(rows, ({ arm }) => arm);
  const rowsOf = ({ name }: Arm) => byArm.get(name) ?? [];
  const compared = arms.flatMap((one): Between[] => {
    const than = arms.find((arm) => plainName(arm) === plainName(one));
    if (!than || than === one) return [];
    const difference = differenceOf(pairsOf(rowsOf(one), rowsOf(than)), one.name, than.name);
    return difference ? [{ one, than, difference }] : [];
  });
  const adjusted = holm(compared.map(({ difference }) => difference.p));
  return compared.map((found, i) => ({
    ...found,
    difference: { ...found.difference, adjusted: adjusted[i] ?? null },
  }));
}
