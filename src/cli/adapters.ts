/** Adapter files for the commands: a PEFT folder, a zip of one or a GGUF in, a PEFT folder out. */

import { readdir, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { CONFIG_FILE } from '../formats/adapter-config.ts';
import { CARD_FILE, noFolder, WEIGHTS_FILE } from '../formats/peft.ts';
import { type ByteSource, bytesSource } from '../formats/source.ts';
import type { NamedAdapter } from './episodes.ts';
import { readBytes } from './files.ts';
import { makeFolder } from './folders.ts';
import type { PortableFile } from './machine.ts';

/**
 * The files of `--adapter`; null where none was named. Throws `not_found`, and `bad_input` for a folder
 * that is no adapter's.
 */
export async function readAdapter(
  path: string | undefined,
): Promise<readonly PortableFile[] | null> {
  if (path === undefined) return null;
  const folder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false, // readBytes says what is missing
  );
  if (!folder) return [await portable(path, path)];
  const there = await readdir(path);
  const names = [CONFIG_FILE, WEIGHTS_FILE, CARD_FILE].filter((name) => there.includes(name));
  if (!names.includes(CONFIG_FILE) || !names.includes(WEIGHTS_FILE)) throw noFolder(path, there);
  return Promise.all(names.map((name) => portable(name, join(path, name))));
}

/** An adapter that episodes start from, called by its path unless its files say; `as` is how it was written. */
export async function namedAdapter(path: string, as: string): Promise<NamedAdapter> {
  const files = (await readAdapter(path)) ?? [];
  return { path: as, name: basename(path).replace(/\.(gguf|zip)$/i, ''), files };
}

/** Writes a job's adapter files into a folder, which it makes. */
export async function saveAdapter(folder: string, files: readonly PortableFile[]): Promise<void> {
  await makeFolder(folder);
  for (const { name, base64 } of files) {
    await writeFile(join(folder, name), Buffer.from(base64, 'base64'));
  }
}

/** The files of an adapter that must be there, to be read by slices. */
export async function adapterSources(path: string): Promise<readonly ByteSource[]> {
  const files = (await readAdapter(path)) ?? [];
  return files.map(({ name, base64 }) => bytesSource(Buffer.from(base64, 'base64'), name));
}

async function portable(name: string, path: string): Promise<PortableFile> {
  return { name, base64: Buffer.from(await readBytes(path)).toString('base64') };
}
