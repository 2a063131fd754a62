/** `attt play`: commands in a world, answered as the world answers them. */

import { openTaskFile } from '../envs/list.ts';
import { LabError } from '../errors.ts';
import type { Json, TaskRef } from '../records.ts';
import { localWorld } from '../workers/world-local.ts';
import { readJson, readText } from './files.ts';
import { WrongUse } from './output.ts';
import { splitTasks } from './tasks.ts';

/** What one command gave; `admissible` is the full list after it. */
export interface Played {
  readonly obs: string;
  readonly reward: number;
  readonly done: boolean;
  readonly admissible: readonly string[];
}

/** A scene's file, or a task of a split by its number. */
export interface PlayOptions {
  readonly scene?: string;
  readonly env: string;
  readonly split: string;
  readonly task?: number;
  readonly commands: string;
}

export async function play(options: PlayOptions): Promise<readonly Played[]> {
  const commands = commandList(await readJson(options.commands), options.commands);
  const task = await taskOf(options);
  const world = localWorld();
  const { signal } = new AbortController();
  await world.reset(task, signal);
  const played: Played[] = [];
  for (const command of commands) {
    const view = await world.step(command, signal);
    played.push({
      obs: view.observation,
      reward: view.reward,
      done: view.terminated,
      admissible: view.admissible ?? [],
    });
  }
  return played;
}

async function taskOf({ scene, env, split, task: index }: PlayOptions): Promise<TaskRef> {
  if (scene !== undefined && index === undefined) return openTaskFile(scene, await readText(scene));
  if (scene !== undefined || index === undefined) {
    throw new WrongUse('play wants either --scene, or --task with --env and --split.');
  }
  const tasks = await splitTasks(env, split);
  const task = tasks[index];
  if (task !== undefined) return task;
  throw new WrongUse(`--task ${index}: ${split} has tasks 0 to ${tasks.length - 1}.`);
}

function commandList(value: Json, file: string): string[] {
  if (Array.isArray(value)) {
    const commands = value.filter((command) => typeof command === 'string');
    if (commands.length === value.length) return commands;
  }
  throw new LabError('bad_input', `${file}: expected a list of commands such as ["look"].`);
}
