/** Every environment of this build; a new one is one file and one line here. */

import { LabError, messageOf } from '../errors.ts';
import type { EnvDescription, TaskRef } from '../records.ts';
import type { Env } from './env.ts';
import { household, householdV03 } from './household.ts';
import { FILE_SPLIT, readSceneFile } from './household-tasks.ts';
import { repairDescription } from './repair-description.ts';

/** What is known of an environment before it is used, and how to get it: some have to load first. */
export interface ListedEnv {
  readonly description: EnvDescription;
  open(): Promise<Env>;
}

export const environments: readonly ListedEnv[] = [
  { description: household.description, open: async () => household as Env },
  { description: householdV03.description, open: async () => householdV03 as Env },
  {
    description: repairDescription,
    open: async () => (await (await import('./repair.ts')).openRepair()) as Env,
  },
];

/** The environment of an id, loaded. Rejects with `not_found` and the ids that exist. */
export async function environment(id: string): Promise<Env> {
  const env = environments.find(({ description }) => description.id === id);
  if (env) return env.open();
  const ids = environments.map(({ description }) => description.id).join(', ');
  throw new LabError('not_found', `There is no environment "${id}". There is ${ids}.`, { id });
}

/** A task out of a dropped file's text. Throws `bad_input`, naming the file. */
export function openTaskFile(name: string, text: string): TaskRef {
  let data: TaskRef['data'];
  try {
    data = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (thrown) {
    throw new LabError(
      'bad_input',
      `${name} is not JSON (${messageOf(thrown)}). Open a scene.json or a game.tw-pddl.`,
      { name },
    );
  }
  const scene = readSceneFile(data);
  return {
    env: household.description.id,
    split: FILE_SPLIT,
    index: 0,
    goal: scene.task,
    kind: scene.kind,
    ...(data === undefined ? {} : { data }),
  };
}
