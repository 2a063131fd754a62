/** A task set's hash: equal only when every task begins in the same world with the same goal. */

import { LabError } from '../errors.ts';
import { hash32 } from '../math/rng.ts';
import { environment } from './list.ts';
import frozen from './task-sets.json';

/** 16 hex digits over kind, goal, first state and first text of every task of a split. Makes every world once. */
export async function computeTaskSetHash(envId: string, split: string): Promise<string> {
  const env = await environment(envId);
  const lines = env.tasks(split).map((task) => {
    const { info, observation } = env.initial(task);
    return JSON.stringify([task.kind, task.goal, info.stateHash, observation]);
  });
  const text = [envId, ...lines].join('\n');
  const word = (basis: number) => hash32(text, basis).toString(16).padStart(8, '0');
  return word(0x811c9dc5) + word(0x01000193);
}

/** The hash that the set was frozen with; a test keeps it equal to the computed one. */
export function taskSetHash(envId: string, split: string): string {
  const sets: Readonly<Record<string, Readonly<Record<string, string>>>> = frozen;
  const hash = sets[envId]?.[split];
  if (hash !== undefined) return hash;
  throw new LabError(
    'not_found',
    `The set "${split}" of ${envId} is not frozen, so its results could not be compared. Frozen are ${Object.keys(sets[envId] ?? {}).join(', ')}.`,
    { env: envId, split },
  );
}
