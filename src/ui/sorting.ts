/** Sorting rows of tables by the values of a column. */

export interface SortOrder {
  readonly key: string;
  /** From large to small. */
  readonly down: boolean;
}

/** The rows in order; equal ones stay as they were, those without a value come last either way. */
export function sortedBy<T>(
  rows: readonly T[],
  value: (row: T) => string | number | boolean | null,
  down: boolean,
): readonly T[] {
  return rows
    .map((row) => ({ row, key: value(row) }))
    .sort((a, b) => {
      if (a.key === null || b.key === null) return Number(a.key === null) - Number(b.key === null);
      const order =
        typeof a.key === 'string' && typeof b.key === 'string'
          ? a.key.localeCompare(b.key, 'en', { numeric: true })
          : Number(a.key) - Number(b.key);
      return down ? -order : order;
    })
    .map(({ row }) => row);
}
