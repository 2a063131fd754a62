/** Files of the machine for the commands: models by slices, texts, JSON. */

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LabError, messageOf } from '../errors.ts';
import { concatBytes } from '../formats/bytes.ts';
import { joinedSource, shardNames } from '../formats/gguf-shards.ts';
import { parseJson } from '../formats/json-syntax.ts';
import { type ByteSource, checkRange } from '../formats/source.ts';
import type { Json } from '../records.ts';
import { bundledModels } from '../store/models.ts';

/** This package's root: the bundle lies one folder below it. */
const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** A file on disk that is read by slices, or several as one. Owns their descriptors. */
export interface FileSource extends ByteSource, AsyncDisposable {
  /** In order. */
  readonly paths: readonly string[];
}

/**
 * Opens `model`: a path, or the name of a bundled model. The path of one shard of a model in several
 * files opens all of them, which must lie beside it.
 */
export async function openModel(model: string): Promise<FileSource> {
  const bundled = bundledModels.find(({ name }) => name === model);
  const path = bundled === undefined ? model : join(root, bundled.path);
  if (!(await isFile(path))) {
    throw new LabError(
      'not_found',
      `There is no model file "${model}". Give the path of a GGUF file, or ${bundledModels.map((one) => one.name).join(', ')}.`,
      { model },
    );
  }
  const names = shardNames(basename(path)) ?? [basename(path)];
  const paths = names.map((name) => join(dirname(path), name));
  for (const [i, each] of paths.entries()) {
    if (await isFile(each)) continue;
    throw new LabError(
      'not_found',
      `The model is in ${paths.length} files; "${names[i]}" is missing beside ${basename(path)}. Put it there.`,
      { missing: each },
    );
  }
  const files = await Promise.all(paths.map(openFile));
  const [only] = files;
  return {
    ...(files.length === 1 && only !== undefined ? only : joinedSource(files)),
    paths,
    async [Symbol.asyncDispose]() {
      for (const file of files) await file[Symbol.asyncDispose]();
    },
  };
}

async function openFile(path: string): Promise<ByteSource & AsyncDisposable> {
  const handle = await open(path, 'r');
  const { size } = await handle.stat();
  const name = basename(path);
  return {
    name,
    size,
    async read(offset, length) {
      checkRange(name, size, offset, length);
      const bytes = new Uint8Array(length);
      let done = 0;
      while (done < length) {
        const { bytesRead } = await handle.read(bytes, done, length - done, offset + done);
        if (bytesRead === 0) {
          throw new LabError('bad_input', `${name} became shorter while it was read. Start again.`);
        }
        done += bytesRead;
      }
      return bytes;
    },
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

/** Of a model's whole file, hex. */
export async function sha256Of(model: string): Promise<string> {
  await using source = await openModel(model);
  const hash = createHash('sha256');
  for (const path of source.paths) {
    for await (const part of createReadStream(path)) hash.update(part);
  }
  return hash.digest('hex');
}

/** A text file as UTF-8; throws `not_found` with the path, `bad_input` where it is no such text. */
export async function readText(path: string): Promise<string> {
  const bytes = await readBytes(path);
  try {
    return new TextDecoder('utf-8', { ignoreBOM: true, fatal: true }).decode(bytes);
  } catch {
    throw new LabError(
      'bad_input',
      `${path} is no text in UTF-8: some of its ${bytes.length} bytes are no character. Choose another file, or save it as UTF-8.`,
      { path },
    );
  }
}

/** A JSON file; throws `bad_input` with line and column. */
export async function readJson(path: string): Promise<Json> {
  return parseJson(await readText(path), path);
}

/** No file that a command reads whole has more: the largest adapter's weights with a zip's own bytes. */
const MAX_BYTES = 2 ** 30 + 2 ** 24;

/** A whole file; throws `not_found` with the path and the system's reason, `limit` for one without end. */
export async function readBytes(path: string, most = MAX_BYTES): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const part of createReadStream(path, { highWaterMark: 2 ** 20 })) {
      parts.push(part);
      bytes += part.length;
      if (bytes > most) throw tooLarge(path, most);
    }
  } catch (thrown) {
    if (thrown instanceof LabError) throw thrown;
    const why = messageOf(thrown);
    throw new LabError('not_found', `Could not read ${path}: ${why}. Check the path.`, { path });
  }
  return concatBytes(parts);
}

/** What the machine threw, with the file that it was about: a write through a handle, or to a full disk, does not say. */
export function withPath(thrown: unknown, path: string): unknown {
  return thrown instanceof Error ? Object.assign(thrown, { path }) : thrown;
}

function tooLarge(path: string, most: number): LabError {
  return new LabError(
    'limit',
    `${path} has more than ${most} bytes, or no end; expected a run, an adapter, or a text. Check the path.`,
    { path },
  );
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false; // whatever the reason, it cannot be read as a file
  }
}
