// Compares the ages of sources and of what was built from them. Missing files count as the oldest.

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

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
