/** Makes the folders that commands write into. */

import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { LabError, messageOf } from '../errors.ts';

/**
 * The folder with all above it that are missing. Throws `bad_input` that says where the machine makes none.
 * Node's own recursive mkdir starts again at each ENOENT, and so never ends in /proc.
 */
export async function makeFolder(path: string): Promise<void> {
  if (path === '') throw refused(path, 'its name is empty');
  const missing: string[] = [];
  for (let at = resolve(path); !(await isFolder(at, path)); at = dirname(at)) missing.unshift(at);
  for (const each of missing) {
    try {
      await mkdir(each);
    } catch (thrown) {
      // Another process may have made it meanwhile.
      if (codeOf(thrown) === 'EEXIST' && (await isFolder(each, path))) continue;
      throw refused(path, `${dirname(each)} takes no new folder (${messageOf(thrown)})`);
    }
  }
}

/** False where there is nothing. Throws for what is no folder. */
async function isFolder(at: string, path: string): Promise<boolean> {
  try {
    if ((await stat(at)).isDirectory()) return true;
  } catch (thrown) {
    const code = codeOf(thrown);
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    throw refused(path, messageOf(thrown));
  }
  throw refused(path, `${at} is a file`);
}

function codeOf(thrown: unknown): unknown {
  return thrown instanceof Error && 'code' in thrown ? thrown.code : null;
}

function refused(path: string, why: string): LabError {
  return new LabError(
    'bad_input',
    `The folder "${path}" could not be made: ${why}. Name a place that may be written to.`,
    { path },
  );
}
