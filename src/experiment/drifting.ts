/** In which tasks the frozen policy drifts, known by its other seeds. */

import { isDriftingRow, isErrorRow, type Row, taskOf } from './row.ts';

/** Whether the frozen policy drifts in a row's task; null where nothing says so. */
export type Drifts = (row: Pick<Row, 'split' | 'task' | 'seed'>) => boolean | null;

/**
 * By the frozen policy's episodes of the task with any other seed than the row's: never by that of its own, since an
 * episode that was chosen for failing does better the next time whatever is done (regression to the mean).
 */
export function driftsElsewhere(frozen: readonly Row[]): Drifts {
  const byTask = new Map<string, { readonly seed: number; readonly drifts: boolean }[]>();
  for (const row of frozen) {
    if (isErrorRow(row)) continue;
    const known = byTask.get(taskOf(row)) ?? [];
    byTask.set(taskOf(row), [...known, { seed: row.seed, drifts: isDriftingRow(row) }]);
  }
  return (row) => {
    const others = (byTask.get(taskOf(row)) ?? []).filter(({ seed }) => seed !== row.seed);
    return others.length === 0 ? null : others.some(({ drifts }) => drifts);
  };
}
