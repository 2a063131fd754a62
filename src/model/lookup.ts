/**
 * Guesses what comes next from what came before. An agent repeats itself: names of places, whole thoughts, loops.
 * Source: prompt lookup decoding (A. Saxena, 2023).
 */

/** Matches longer than this count as equal. */
const LONGEST = 16;

/**
 * Fewer ids are met again by chance, and a wrong guess costs a model of 135 M parameters more than a token: with two a
 * conversation that does not repeat itself took 1.4 times as long. With six four of five guessed tokens come.
 */
const SHORTEST = 6;

/** What followed the longest earlier match of the end of `ids`, the latest of equal ones; none for a short match. */
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
