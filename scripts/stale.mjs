// Whether what was built is still what its sources say. Missing files count as the oldest.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** True when the built files are newer than every source, and `commit.txt` in their folder names the same commit. */
export function isCurrent(root, sources, built, folder, commit) {
  if (newest(root, sources) > oldest(root, built)) return false;
  try {
    return readFileSync(join(root, folder, 'commit.txt'), 'utf8') === commit;
  } catch {
    return false;
  }
}

/** When the youngest of these files, or of the files below these folders, changed; ms since 1970. */
export function newest(root, paths) {
  return Math.max(...paths.map((path) => newestBelow(join(root, path))));
}

/** When the oldest of these files changed; 0 when one is missing. */
export function oldest(root, paths) {
  return Math.min(...paths.map((path) => changedAt(join(root, path))));
}

function newestBelow(path) {
  const own = changedAt(path);
  try {
    return Math.max(own, ...readdirSync(path).map((name) => newestBelow(join(path, name))));
  } catch {
    return own; // a file
  }
}

function changedAt(path) {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}
