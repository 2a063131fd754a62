// Which tests `npm test -- WORDS` means: tiers by their names, files by what their names end in.

/** In the order in which they run. */
export const tierNames = ['node', 'smollm2', 'gpu', 'e2e', 'long'];

/** Of a file's tier the first that its name ends in. */
const endings = [
  ['.spec.ts', 'e2e'],
  ['.gpu.test.ts', 'gpu'],
  ['.smollm2.test.ts', 'smollm2'],
  ['.policy.test.ts', 'smollm2'],
  ['.long.test.ts', 'long'],
  ['.test.ts', 'node'],
];

/**
 * The tiers to run, in order, each with the files of it that are asked for: none for all of them. Without a word all
 * tiers but `long`, with `--long` that too. Throws for a word that is neither a tier nor a test that `exists`.
 */
export function chosenTiers(words, exists) {
  const asked = words.filter((word) => !word.startsWith('--'));
  const files = new Map();
  for (const word of asked) {
    if (tierNames.includes(word)) {
      files.set(word, files.get(word) ?? []);
      continue;
    }
    const tier = endings.find(([ending]) => word.endsWith(ending))?.[1];
    if (tier === undefined || !exists(word)) {
      throw new Error(
        `"${word}" names no tests; expected a tier (${tierNames.join(', ')}) or a file such as src/cli/run.test.ts or e2e/page.spec.ts.`,
      );
    }
    files.set(tier, [...(files.get(tier) ?? []), word]);
  }
  const all = tierNames.filter((name) => name !== 'long' || words.includes('--long'));
  return tierNames
    .filter((name) => (asked.length > 0 ? files.has(name) : all.includes(name)))
    .map((name) => ({ name, files: files.get(name) ?? [] }));
}
