/** The frozen tasks of the repair world: which lines of which program are wrong. The lines stand in a file. */

import { LabError } from '../errors.ts';
import type { TaskRef } from '../records.ts';
import { REPAIR_ID } from './repair-description.ts';
import type { FaultKind } from './repair-mutations.ts';
import { type Program, programs } from './repair-program.ts';
import type { ProgramFiles } from './repair-sandbox.ts';
import splits from './repair-splits.json';

/** A line that was changed: counted from 1, and how it reads now. */
export interface Fault {
  readonly file: string;
  readonly line: number;
  readonly code: string;
}

export interface FrozenRepair {
  readonly program: string;
  /** What the fault is like; several faults are a kind of their own. */
  readonly kind: FaultKind | 'several';
  readonly faults: readonly Fault[];
}

/** A program, and its files with the faults in them. */
export interface RepairTask {
  readonly program: Program;
  readonly files: ProgramFiles;
}

/** Every task of a split, in order. Throws `not_found`. */
export function repairTasks(split: string): readonly TaskRef[] {
  return frozen(split).map(({ program, kind }, index) => ({
    env: REPAIR_ID,
    split,
    index,
    goal: goalOf(program),
    kind,
  }));
}

/** The sentence of a task. */
export function goalOf(program: string): string {
  return `repair the program ${program} so that all its tests pass, then submit.`;
}

/** Throws `not_found` for an unknown split or index. */
export function repairTask({ split, index }: TaskRef): RepairTask {
  const tasks = frozen(split);
  const task = tasks[index];
  const program = programs.get(task?.program ?? '');
  if (task !== undefined && program !== undefined) {
    return { program, files: withFaults(program.files, task.faults) };
  }
  throw new LabError(
    'not_found',
    `Split "${split}" has tasks 0 to ${tasks.length - 1}; there is no task ${index}.`,
    { split, index },
  );
}

export function withFaults(files: ProgramFiles, faults: readonly Fault[]): ProgramFiles {
  const changed = { ...files };
  for (const { file, line, code } of faults) {
    const lines = (changed[file] ?? '').split('\n');
    lines[line - 1] = code;
    changed[file] = lines.join('\n');
  }
  return changed;
}

function frozen(split: string): readonly FrozenRepair[] {
  const found = Object.entries(splits).find(([name]) => name === split)?.[1];
  if (found !== undefined) return found as readonly FrozenRepair[]; // our own script wrote that file
  throw new LabError(
    'not_found',
    `The repair world has no split "${split}"; it has ${Object.keys(splits).join(', ')}.`,
    { split },
  );
}
