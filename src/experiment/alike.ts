/** Arms that did the same in every episode: one thing by two names, or a setting that nothing read. */

import { isErrorRow, pairOf, type Row, rowsBy } from './row.ts';

/**
 * Below this, arms are alike by chance: aTTT says what the frozen policy says in 56 % of episodes (docs/log.md), so in 20
 * hardly ever.
 */
const ENOUGH_EPISODES = 20;

/** Arms that are alike, in the order given, and the episodes that the first has in common with each other one, at least. */
export interface Alike {
  readonly arms: readonly string[];
  readonly episodes: number;
}

/**
 * Groups of two or more of `arms` that share {@link ENOUGH_EPISODES} and whose episodes of one task and seed are equal: what
 * was said and done, what was trained, and the KL that it cost. Rows that were kept without their commands tell nothing and
 * are left out.
 */
export function alikeArms(arms: readonly string[], rows: readonly Row[]): readonly Alike[] {
  const byArm = rowsBy(
    rows.filter((row) => !isErrorRow(row) && row.commands.length > 0),
    ({ arm }) => arm,
  );
  const groups: { arms: string[]; episodes: number; deeds: ReadonlyMap<string, string> }[] = [];
  for (const arm of arms) {
    const deeds = new Map((byArm.get(arm) ?? []).map((row) => [pairOf(row), deedOf(row)]));
    let shared = 0;
    const group = groups.find((one) => {
      shared = equalIn(one.deeds, deeds);
      return shared >= ENOUGH_EPISODES;
    });
    if (!group) {
      groups.push({ arms: [arm], episodes: Number.POSITIVE_INFINITY, deeds });
      continue;
    }
    group.arms.push(arm);
    group.episodes = Math.min(group.episodes, shared);
  }
  return groups
    .filter((group) => group.arms.length > 1)
    .map((group) => ({ arms: group.arms, episodes: group.episodes }));
}

function deedOf({ commands, generated, trained, kl }: Row): string {
  return JSON.stringify([commands, generated, trained, kl]);
}

/** How many episodes both have; 0 where one of them differs. */
function equalIn(some: ReadonlyMap<string, string>, others: ReadonlyMap<string, string>): number {
  let n = 0;
  for (const [episode, deed] of some) {
    const other = others.get(episode);
    if (other === undefined) continue;
    if (other !== deed) return 0;
    n++;
  }
  return n;
}
