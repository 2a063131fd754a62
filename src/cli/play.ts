/** `attt play`: commands in a world that a file describes, answered as the world answers them. */

import { openTaskFile } from '../envs/list.ts';
import { LabError } from '../errors.ts';
import type { Json } from '../records.ts';
import { localWorld } from '../workers/world-local.ts';
import { readJson, readText } from './files.ts';

/** What one command gave; `admissible` is the full list after it. */
export interface Played {
  readonly obs: string;
  readonly reward: number;
  readonly done: boolean;
  readonly admissible: readonly string[];
}

export async function play(options: {
  readonly scene: string;
  readonly commands: string;
}): Promise<readonly Played[]> {
  const commands = commandList(await readJson(options.commands), options.commands);
  const task = openTaskFile(options.scene, await readText(options.scene));
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

function commandList(value: Json, file: string): string[] {
  if (Array.isArray(value)) {
    const commands = value.filter((command) => typeof command === 'string');
    if (commands.length === value.length) return commands;
  }
  throw new LabError('bad_input', `${file}: expected a list of commands such as ["look"].`);
}
