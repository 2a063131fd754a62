/** Edit distance, so that a message about an unknown name can say which known one is nearest. */

/**
 * The smallest number of inserted, dropped, replaced or swapped neighbouring characters that turns
 * `a` into `b` (optimal string alignment). Example: `lora_rnak` to `lora_rank` is 1.
 */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (above[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let best = Math.min(replaced, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        best = Math.min(best, (before[j - 2] ?? 0) + 1);
      }
      row.push(best);
    }
    before = above;
    above = row;
  }
  return above[b.length] ?? 0;
}

/**
 * The known name with the smallest distance, the first on a tie; null when none is known. Dotted
 * names are also compared by their last part alone, at a cost of 1, so that a key in a wrong table
 * finds its home.
 */
export function nearestName(name: string, known: readonly string[]): string | null {
  const last = (dotted: string) => dotted.slice(dotted.lastIndexOf('.') + 1);
  let nearest: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const distance = Math.min(
      editDistance(name, candidate),
      editDistance(last(name), last(candidate)) + 1,
    );
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}
