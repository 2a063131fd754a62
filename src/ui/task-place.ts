/** Which task the next episode takes, by its place: the one that the page begins with, and how a link names another. */

import type { EnvDescription, TaskRef } from '../records.ts';

export type TaskPlace = Pick<TaskRef, 'env' | 'split' | 'index'>;

/** World, by the first word of its id, split and number; as `repair.valid_seen.3` in an address. */
export type LinkedTask = readonly [world: string, split: string, index: number];

/** The task that the page begins with; null while no world is known. */
export function firstPlace(environments: readonly EnvDescription[]): TaskPlace | null {
  const [env] = environments;
  const split = env?.splits.find(({ name }) => name === 'valid_unseen') ?? env?.splits[0];
  return env && split ? { env: env.id, split: split.name, index: 0 } : null;
}

/** What a link names; the first task where it names none, or one of a world or split that is not here. */
export function placeOf(
  linked: LinkedTask | null,
  environments: readonly EnvDescription[],
): TaskPlace | null {
  const [world, split, index] = linked ?? [];
  const env = environments.find(({ id }) => worldOf(id) === world);
  const known = env?.splits.some(({ name }) => name === split);
  if (!env || !known || split === undefined || index === undefined) return firstPlace(environments);
  return { env: env.id, split, index };
}

/** How a link names a task; null for the first one, which needs no name, and for a file's, which has none. */
export function linkedTask(
  { env, split, index }: TaskPlace,
  environments: readonly EnvDescription[],
): LinkedTask | null {
  const first = firstPlace(environments);
  const isFirst = first?.env === env && first.split === split && first.index === index;
  return isFirst || split === 'file' ? null : [worldOf(env), split, index];
}

function worldOf(id: string): string {
  return id.split('/')[0] ?? id;
}
