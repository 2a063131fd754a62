/** How often the n-grams that cover a token occurred in earlier texts, and the weight that follows. */

/** Counts of n-grams, keyed by their ids joined with commas. */
export type NgramCounts = ReadonlyMap<string, number>;

/** The covering n-gram that was most frequent in the history, for each token. */
export interface Coverage {
  /** f_j. */
  readonly counts: readonly number[];
  /** Where in the text that n-gram starts, the earliest on a tie; -1 where f_j is 0. */
  readonly starts: readonly number[];
}

/** The n-grams of one text, in order: n-grams never cross texts; a text shorter than n is one n-gram. */
function ngramsOf(ids: readonly number[], n: number): readonly string[] {
  if (ids.length === 0) return [];
  const length = Math.min(n, ids.length);
  const keys: string[] = [];
  for (let start = 0; start + length <= ids.length; start++) {
    keys.push(ids.slice(start, start + length).join(','));
  }
  return keys;
}

/** Counts summed over texts. Occurrences may overlap: [7 7 7] holds [7 7] twice. */
export function countNgrams(texts: readonly (readonly number[])[], n: number): NgramCounts {
  const counts = new Map<string, number>();
  for (const ids of texts) {
    for (const key of ngramsOf(ids, n)) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/**
 * f_j for each token of a text: the largest earlier count of an n-gram that covers it.
 *
 * Example: history [5 6 7 8 5 6 7], text [5 6 7 9], n = 3 -> counts [2 2 2 0], starts [0 0 0 -1].
 */
export function coverage(ids: readonly number[], n: number, history: NgramCounts): Coverage {
  const counts = new Array<number>(ids.length).fill(0);
  const starts = new Array<number>(ids.length).fill(-1);
  const length = Math.min(n, ids.length);
  ngramsOf(ids, n).forEach((key, start) => {
    const count = history.get(key) ?? 0;
    for (let j = start; j < start + length; j++) {
      if (count > (counts[j] ?? 0)) {
        counts[j] = count;
        starts[j] = start;
      }
    }
  });
  return { counts, starts };
}

/** w_j = max(w_min, 1 / (1 + f_j)). Example: f = [2 0], w_min = 0.05 -> [1/3 1]. */
export function tokenWeights(counts: readonly number[], wMin: number): readonly number[] {
  return counts.map((f) => Math.max(wMin, 1 / (1 + f)));
}
