/**
 * Guesses what comes next from what came before. An agent repeats itself: names of places, whole thoughts, loops.
 * Source: prompt lookup decoding (A. Saxena, 2023).
 */

/** Matches longer than this count as equal. */
const LONGEST = 16;

/** A single id is met again too often by chance: what follows it pays for its check only in a small model. */
const SHORTEST = 2;

/** What followed the longest earlier match of the end of `ids`, the latest of equal ones; none without two that match. */
export function guessNext(ids: readonly number[], most: number): readonly number[] {
  const end = ids.length;
  let longest = SHORTEST - 1;
  let from = end;
  for (let after = end - 1; after > longest && longest < LONGEST; after--) {
    let n = 0;
    while (n < after && n < LONGEST && ids[after - 1 - n] === ids[end - 1 - n]) n++;
    if (n <= longest) continue;
    longest = n;
    from = after;
  }
  return ids.slice(from, from + most);
}
