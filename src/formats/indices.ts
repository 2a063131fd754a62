/** Lists of indices as people write them: `0-9`, `3` or `0-4,8`. */

/** The most that one range may hold: a slip of the finger should not fill the memory. */
const MOST = 100_000;

/** What {@link parseIndices} takes, in words. */
export const EXPECTED_INDICES = `numbers such as "0-9" or "0-4,8", of a range the lower first and at most ${MOST.toLocaleString('en-GB')}`;

/** The indices in the order given, each once; null when the text is no such list. */
export function parseIndices(text: string): readonly number[] | null {
  const indices: number[] = [];
  for (const part of text.split(',')) {
    const [, from, to = from] = /^\s*(\d+)(?:-(\d+))?\s*$/.exec(part) ?? [];
    if (from === undefined) return null;
    const first = Number(from);
    const last = Number(to);
    // Beyond the safe integers one more is the same number: a loop to there has no end.
    if (!(Number.isSafeInteger(last) && first <= last && last - first < MOST)) return null;
    for (let index = first; index <= last; index++) indices.push(index);
  }
  return [...new Set(indices)];
}

/** Indices as {@link parseIndices} reads them, neighbours as a range: [0, 1, 2, 7] is `0-2,7`. */
export function formatIndices(indices: readonly number[]): string {
  const ranges: { first: number; last: number }[] = [];
  for (const index of indices) {
    const open = ranges.at(-1);
    if (open && index === open.last + 1) open.last = index;
    else ranges.push({ first: index, last: index });
  }
  return ranges
    .map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`))
    .join(',');
}
