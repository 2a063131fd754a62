/** The household's frozen task sets: which scene each task of a split is. Seeds and sentences stand in a file. */

import { LabError } from '../errors.ts';
import type { EnvDescription, TaskRef } from '../records.ts';
import { looksLikeGame, readGame } from './household-game.ts';
import { KINDS, type Kind, makeScene } from './household-generate.ts';
import { type HouseholdScene, looksLikeScene, readScene } from './household-scene.ts';
import splits from './household-splits.json';

/** The frozen splits; sizes and kinds of the validation splits are those of ALFWorld. */
export type HouseholdSplit = keyof typeof splits;

const HELP: Readonly<Record<HouseholdSplit, string>> = {
  train: 'Floor plans of training. The bundled policy learnt on others of the same kind.',
  valid_seen: 'Floor plans of training with new placements: 140 tasks, by kind as in ALFWorld.',
  valid_unseen: 'Floor plans 10, 219, 308 and 424 only, which training never sees: 134 tasks.',
  'unseen-1000': '1,000 more tasks on the unseen floor plans, for the power that 134 lack.',
};

export const splitDescriptions: EnvDescription['splits'] = Object.entries(splits).map(
  ([name, seeds]) => ({ name, size: seeds.length, help: HELP[name as HouseholdSplit] }), // keys of that file
);

/** The split of a dropped scene or game file; its data is in the task. */
export const FILE_SPLIT = 'file';

/** The scene of a task. Throws `not_found` for an unknown split or index, `bad_input` for bad data. */
export function sceneOfTask(task: TaskRef): HouseholdScene {
  if (task.split === FILE_SPLIT) return readSceneFile(task.data ?? null);
  const entry = seedsOf(task.split)[task.index];
  if (entry === undefined) {
    throw new LabError(
      'not_found',
      `Split "${task.split}" has tasks 0 to ${seedsOf(task.split).length - 1}; there is no task ${task.index}.`,
      { split: task.split, index: task.index },
    );
  }
  return makeScene(entry.seed, { plans: plansOf(task.split), kind: entry.kind });
}

/** Every task of a split, in order, with its sentence. Throws `not_found`. */
export function splitTasks(env: string, split: string): readonly TaskRef[] {
  return seedsOf(split).map(({ kind, goal }, index) => ({ env, split, index, goal, kind }));
}

/** A scene.json or game.tw-pddl, parsed already. Throws `bad_input` for anything else. */
export function readSceneFile(json: unknown): HouseholdScene {
  if (looksLikeGame(json)) return readGame(json);
  if (looksLikeScene(json)) return readScene(json);
  throw new LabError(
    'bad_input',
    'This file is neither a household scene (receptacles, objects, task) nor an ALFWorld game (pddl_domain, grammar, pddl_problem). Open a scene.json or a game.tw-pddl.',
  );
}

function plansOf(split: string): 'train' | 'unseen' {
  return split === 'train' || split === 'valid_seen' ? 'train' : 'unseen';
}

interface FrozenTask {
  readonly kind: Kind;
  readonly seed: number;
  readonly goal: string;
}

const frozen = new Map<string, readonly FrozenTask[]>();

function seedsOf(split: string): readonly FrozenTask[] {
  const known = frozen.get(split);
  if (known !== undefined) return known;
  const entries = Object.entries(splits).find(([name]) => name === split)?.[1];
  if (entries === undefined) {
    throw new LabError(
      'not_found',
      `The household has no split "${split}"; it has ${Object.keys(splits).join(', ')}.`,
      { split },
    );
  }
  const tasks = entries.map(([kind, seed, goal]) => ({
    kind: KINDS[Number(kind)] ?? KINDS[0],
    seed: Number(seed),
    goal: String(goal),
  }));
  frozen.set(split, tasks);
  return tasks;
}
