/** The tiers to run, in order, each with the files of it that are asked for: none for all of them. */
export function chosenTiers(
  words: readonly string[],
  exists: (file: string) => boolean,
): { readonly name: string; readonly files: readonly string[] }[];
