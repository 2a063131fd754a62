/** The files of an experiment's folder: experiment.json, and rows that are only ever appended to. */

import { randomUUID } from 'node:crypto';
import { open, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { LabError, messageOf } from '../errors.ts';
import { type Header, readHeader as headerIn } from '../experiment/header.ts';
import { addRows } from '../experiment/read-rows.ts';
import type { Row } from '../experiment/row.ts';
import { withPath } from './files.ts';
import { makeFolder } from './folders.ts';

const HEADER = 'experiment.json';
const ROWS = /^rows.*\.jsonl(\.gz)?$/;

/** The folder's header; null where there is none yet. Throws as reading its text does. */
export async function readHeader(folder: string): Promise<Header | null> {
  const path = join(folder, HEADER);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (thrown) {
    // Below a file there is nothing either.
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : null;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw thrown;
  }
  return headerIn(text, path);
}

/** Throws `bad_input` for a folder with rows and no header: nothing says of what these are. */
export async function checkKnown(folder: string): Promise<void> {
  if ((await readHeader(folder)) !== null) return;
  const [first] = await rowFiles(folder);
  if (first === undefined) return;
  throw new LabError(
    'bad_input',
    `${folder} has rows (${first}) and no ${HEADER} that says of what experiment. Restore it, or take another folder for --out.`,
    { folder },
  );
}

/** Written aside and moved into place: no one ever reads half of it, and nothing is left where it fails. */
export async function writeWhole(
  folder: string,
  name: string,
  content: string | Uint8Array,
): Promise<void> {
  await makeFolder(folder);
  const path = join(folder, name);
  const aside = join(folder, `.${name}.${randomUUID()}`);
  try {
    await writeFile(aside, content, { flush: true }); // or a power cut could leave it empty
    await rename(aside, path);
  } catch (thrown) {
    await rm(aside, { force: true });
    throw withPath(thrown, path);
  }
}

export function writeHeader(folder: string, header: Header): Promise<void> {
  return writeWhole(folder, HEADER, `${JSON.stringify(header, null, 2)}\n`);
}

/**
 * One row of each episode of a folder, of every shard, packed or not; those that ended by an error too. Throws
 * as {@link addRows} does.
 */
export async function readRows(folder: string): Promise<ReadonlyMap<string, Row>> {
  const rows = new Map<string, Row>();
  for (const path of (await rowFiles(folder)).map((name) => join(folder, name))) {
    const bytes = await readFile(path);
    const text = (path.endsWith('.gz') ? unpacked(bytes, path) : bytes).toString('utf8');
    addRows(rows, text, path);
  }
  return rows;
}

async function rowFiles(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => ROWS.test(name)).sort();
}

function unpacked(bytes: Uint8Array, path: string): Buffer {
  try {
    return gunzipSync(bytes);
  } catch (thrown) {
    const why = messageOf(thrown);
    throw new LabError('bad_input', `${path} could not be unpacked: ${why}. Restore it.`, { path });
  }
}

function grown(path: string): LabError {
  return new LabError(
    'bad_input',
    `${path} has changed since this command began: another one runs the same part of the experiment, or other arms of it. Let that one go on, or start again when it has ended.`,
    { path },
  );
}

/** Appends rows to one file; each is on disk when `append` resolves. */
export interface RowWriter extends AsyncDisposable {
  append(row: Row): Promise<void>;
}

/**
 * Opens a shard's file. What a killed process left of a line is cut off first. `append` throws `bad_input` where the
 * file has grown by another's rows: of two commands that run one shard, one goes on.
 */
export async function openRows(folder: string, name: string): Promise<RowWriter> {
  await makeFolder(folder);
  const path = join(folder, name);
  const file = await open(path, 'a+');
  const bytes = await file.readFile();
  const whole = bytes.lastIndexOf(0x0a) + 1;
  if (whole < bytes.length) await truncate(path, whole);
  let size = whole;
  return {
    async append(row) {
      const line = Buffer.from(`${JSON.stringify(row)}\n`);
      try {
        if ((await file.stat()).size !== size) throw grown(path);
        await file.appendFile(line);
        size += line.length;
        await file.datasync();
      } catch (thrown) {
        throw withPath(thrown, path);
      }
    },
    [Symbol.asyncDispose]: () => file.close(),
  };
}
