/** For the command's tests only: files and folders that go when the tests of a file have ended. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'attt-'));
  folders.push(folder);
  return folder;
}

/** A file of this content in a folder of its own. */
export function scratchFile(name: string, content: string): string {
  const path = join(scratchFolder(), name);
  writeFileSync(path, content);
  return path;
}

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
