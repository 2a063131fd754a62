/** See commit.mjs. */
export function commitOf(root: string): string;
