/** Lists of indices as people write them: `0-9`, `3` or `0-4,8`. */

/** The most that one range may hold: a slip of the finger should not fill the memory. */
const MOST = 100_000;

/** The indices in the order given, each once; null when the text is no such list. */
export function parseIndices(text: string): readonly number[] | null {
  const indices: number[] = [];
  for (const part of text.split(',')) {
    const [, from, to = from] = /^\s*(\d+)(?:-(\d+))?\s*$/.exec(part) ?? [];
    if (from === undefined) return null;
    const first = Number(from);
    const last = Number(to);
    if (!(first <= last && last - first < MOST)) return null;
    for (let index = first; index <= last; index++) indices.push(index);
  }
  return [...new Set(indices)];
}
