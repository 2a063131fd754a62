/** Finds the tasks of a split by the names that people give on the command line. */

import type { TaskRef } from '../records.ts';
import { envHandlers } from '../workers/env-server.ts';
import { WrongUse } from './output.ts';

/** All tasks of a split, in order. `household` alone stands for the first world of that name. */
export async function splitTasks(asked: string, split: string): Promise<readonly TaskRef[]> {
  const { signal } = new AbortController();
  const worlds = await envHandlers.calls.describe(null, signal);
  const world = worlds.find(({ id }) => id === asked || id.startsWith(`${asked}/`));
  if (world === undefined) {
    const known = worlds.map(({ id }) => id).join(', ');
    throw new WrongUse(`The world "${asked}" is unknown; there is ${known}.`);
  }
  const splits = world.splits.map(({ name }) => name);
  if (!splits.includes(split)) {
    throw new WrongUse(`The split "${split}" is unknown; ${world.id} has ${splits.join(', ')}.`);
  }
  return envHandlers.calls.tasks({ env: world.id, split }, signal);
}
