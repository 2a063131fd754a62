/** How alike two texts are by their words: the repetition ratio's language-neutral definition. */

/**
 * Scripts written without spaces, as code point ranges so that any language can recompute them
 * (Unicode script tables are not in every standard library): Thai, Lao, Myanmar, Khmer, Kana, Han.
 */
const unspaced =
  '\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}';
const wordRun = /[\p{L}\p{M}\p{Nd}]+/gu;
const scriptRun = new RegExp(`[${unspaced}]+|[^${unspaced}]+`, 'gu');
const isUnspaced = new RegExp(`^[${unspaced}]`, 'u');

/**
 * W(u): the set of words of a text. NFKC, lower case, runs of letters, marks and digits; a run of
 * an unspaced script gives the overlapping pairs of its neighbouring characters instead (a single
 * character gives itself).
 *
 * Example: `Go to Drawer 1.` -> {go, to, drawer, 1}; `门开 stop` -> {门开, stop}.
 */
export function words(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [run] of text.normalize('NFKC').toLowerCase().matchAll(wordRun)) {
    for (const [part] of run.matchAll(scriptRun)) {
      if (!isUnspaced.test(part)) {
        found.add(part);
        continue;
      }
      const characters = [...part];
      if (characters.length === 1) found.add(part);
      for (let i = 0; i + 1 < characters.length; i++) {
        found.add(`${characters[i]}${characters[i + 1]}`);
      }
    }
  }
  return found;
}

/** |A ∩ B| / |A ∪ B|; 0 when both are empty. */
export function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const word of a) if (b.has(word)) shared++;
  const union = a.size + b.size - shared;
  return union === 0 ? 0 : shared / union;
}

/** The earlier text that a text is most like. */
export interface Nearest {
  /** 0 when there is no earlier text. */
  readonly ratio: number;
  /** Its index, the earliest on a tie; null when no earlier text shares a word. */
  readonly index: number | null;
}

/** Max Jaccard of a text's words with each earlier text's. */
export function nearest(
  text: ReadonlySet<string>,
  earlier: readonly ReadonlySet<string>[],
): Nearest {
  let best: Nearest = { ratio: 0, index: null };
  earlier.forEach((other, index) => {
    const ratio = jaccard(text, other);
    if (ratio > best.ratio) best = { ratio, index };
  });
  return best;
}
