/** The files of an experiment's folder: experiment.json, and rows that are only ever appended to. */

import { randomUUID } from 'node:crypto';
import { open, readdir, readFile, rename, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { LabError, messageOf } from '../errors.ts';
import type { Header } from '../experiment/header.ts';
import { type Row, upgradeRow } from '../experiment/row.ts';
import { makeFolder } from './folders.ts';

const HEADER = 'experiment.json';
const ROWS = /^rows.*\.jsonl(\.gz)?$/;

/** The folder's header; null where there is none yet. Throws `bad_input` for a damaged one. */
export async function readHeader(folder: string): Promise<Header | null> {
  const path = join(folder, HEADER);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return null;
    throw thrown;
  }
  const header: Partial<Header> | null = parsed(text, path);
  if (header?.experiment && header.arms && header.schema === 1) return header as Header; // ours
  const found = header?.schema === undefined ? 'no schema' : `schema ${header.schema}`;
  throw new LabError(
    'unsupported',
    `${path} has ${found}; expected what "attt experiment" writes, with schema 1. Take another folder, or another version.`,
    { path },
  );
}

/** Throws `bad_input` that says what to do. */
function parsed<T>(text: string, where: string): T {
  try {
    return JSON.parse(text);
  } catch {
    throw new LabError(
      'bad_input',
      `${where} is damaged: it is no JSON. Restore it, or take it away: what it held is made again.`,
      { where },
    );
  }
}

/** Written aside and moved into place: no one ever reads half of it. */
export async function writeWhole(
  folder: string,
  name: string,
  content: string | Uint8Array,
): Promise<void> {
  await makeFolder(folder);
  const aside = join(folder, `.${name}.${randomUUID()}`);
  await writeFile(aside, content);
  await rename(aside, join(folder, name));
}

export function writeHeader(folder: string, header: Header): Promise<void> {
  return writeWhole(folder, HEADER, `${JSON.stringify(header, null, 2)}\n`);
}

/**
 * All finished episodes of a folder, of every shard, packed or not. A last line without its end is
 * that of a process that was killed while it wrote, and is left out. Two rows of one key must agree
 * in all but their seconds and build; throws `bad_input` where they do not.
 */
export async function readRows(folder: string): Promise<ReadonlyMap<string, Row>> {
  const rows = new Map<string, Row>();
  const names = (await readdir(folder)).filter((name) => ROWS.test(name)).sort();
  for (const name of names) {
    const bytes = await readFile(join(folder, name));
    const text = (name.endsWith('.gz') ? unpacked(bytes, name) : bytes).toString('utf8');
    for (const [i, line] of text.split('\n').slice(0, -1).entries()) {
      addRow(rows, upgradeRow(parsed(line, `${name}, line ${i + 1},`)), name);
    }
  }
  return rows;
}

function unpacked(bytes: Uint8Array, name: string): Buffer {
  try {
    return gunzipSync(bytes);
  } catch (thrown) {
    const why = messageOf(thrown);
    throw new LabError('bad_input', `${name} could not be unpacked: ${why}. Restore it.`, { name });
  }
}

/** Adds a row, or checks it against the one that is there. */
export function addRow(rows: Map<string, Row>, row: Row, where: string): void {
  const known = rows.get(row.key);
  const same = (one: Row) => JSON.stringify({ ...one, seconds: 0, build: '' });
  if (known && same(known) !== same(row)) {
    throw new LabError(
      'bad_input',
      `${where} has another result for ${row.key} than a file before it. Were both made with the same model and settings? Remove one of the two.`,
      { key: row.key },
    );
  }
  rows.set(row.key, row);
}

/** Appends rows to one file; each is on disk when `append` resolves. */
export interface RowWriter extends AsyncDisposable {
  append(row: Row): Promise<void>;
}

/** Opens a shard's file. What a killed process left of a line is cut off first. */
export async function openRows(folder: string, name: string): Promise<RowWriter> {
  await makeFolder(folder);
  const path = join(folder, name);
  const file = await open(path, 'a+');
  const bytes = await file.readFile();
  const whole = bytes.lastIndexOf(0x0a) + 1;
  if (whole < bytes.length) await truncate(path, whole);
  return {
    async append(row) {
      await file.appendFile(`${JSON.stringify(row)}\n`);
      await file.datasync();
    },
    [Symbol.asyncDispose]: () => file.close(),
  };
}
