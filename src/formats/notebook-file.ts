/** The whole notebook as one zip: every run with its events, its adapter's first and last state and its notes, and the adapter shelf. */

import { strFromU8, strToU8 } from 'fflate';
import { LabError } from '../errors.ts';
import type {
  AdapterData,
  EpisodeEvent,
  Json,
  LearnerSnapshot,
  RunNotes,
  ShelvedAdapter,
} from '../records.ts';
import {
  readAdapterData,
  readSnapshot,
  writeAdapterData,
  writeSnapshot,
} from './bundle-snapshot.ts';
import { parseJson } from './json-syntax.ts';
import { formatRunFile, parseRunFile } from './run-file.ts';
import { unzipChosen } from './unzip.ts';
import { writeZip } from './zip.ts';

/** One run with all that cannot be told from its events. */
export interface NotebookRun {
  readonly id: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly events: readonly EpisodeEvent[];
  /** The state that the episode started from; null where none was stored, and in older files. */
  readonly start: LearnerSnapshot | null;
  /** The state after the last boundary; null where none was stored. */
  readonly latest: LearnerSnapshot | null;
  /** null where nothing was written beside it. */
  readonly notes: RunNotes | null;
}

/** An adapter of the shelf. */
export interface NotebookAdapter {
  readonly entry: ShelvedAdapter;
  readonly data: AdapterData;
}

export interface Notebook {
  readonly runs: readonly NotebookRun[];
  readonly adapters: readonly NotebookAdapter[];
}

const schema = 1;

/** Far above any notebook that a browser keeps: a zip bomb is refused unread. */
const limits = { files: 40_000, bytes: 4 * 2 ** 30 } as const;

/**
 * `notebook.json` names the runs, with their notes, and the adapters of the shelf. Each run has `<id>/events.jsonl` and,
 * if any, its two snapshots; each adapter has `adapters/<id>.safetensors`.
 */
export function writeNotebook({ runs, adapters }: Notebook): Uint8Array {
  const index = {
    schema,
    runs: runs.map(({ id, createdAt, notes }) => ({ id, createdAt, ...(notes && { notes }) })),
    adapters: adapters.map(({ entry }) => entry),
  };
  const files: Record<string, Uint8Array> = { 'notebook.json': strToU8(JSON.stringify(index)) };
  for (const { id, events, start, latest } of runs) {
    files[`${id}/events.jsonl`] = strToU8(formatRunFile(events));
    if (start) files[`${id}/start.safetensors`] = writeSnapshot(start);
    if (latest) files[`${id}/latest.safetensors`] = writeSnapshot(latest);
  }
  for (const { entry, data } of adapters) files[adapterPath(entry.id)] = writeAdapterData(data);
  return writeZip(Object.entries(files).map(([path, bytes]) => ({ path, bytes, stored: false })));
}

/** Throws `bad_input`, naming the file in the zip that is missing or does not parse. */
export function readNotebook(bytes: Uint8Array, name: string): Notebook {
  const { files } = unzipChosen(bytes, () => limits.bytes, limits);
  const file = (path: string): Uint8Array => {
    const found = files.get(path);
    if (found) return found;
    throw bad(
      `${name} has no ${path}; expected a notebook as this page exports it. Export it again.`,
    );
  };
  const index = fieldsOf(parseJson(strFromU8(file('notebook.json')), `${name}: notebook.json`));
  if (index.schema !== schema) {
    throw bad(`${name} has schema ${JSON.stringify(index.schema)}; this version reads ${schema}.`);
  }
  const [runIds, adapterIds] = [new Set<string>(), new Set<string>()];
  const runs = listOf(index.runs).map((entry) => {
    const { id, createdAt, notes } = fieldsOf(entry);
    if (typeof id !== 'string' || typeof createdAt !== 'string') {
      throw bad(`${name}: notebook.json names a run without id or createdAt. Export it again.`);
    }
    checkId(id, runIds, name);
    const snapshot = (path: string): LearnerSnapshot | null => {
      const found = files.get(path);
      return found ? readSnapshot(found, `${name}: ${path}`) : null;
    };
    const events = strFromU8(file(`${id}/events.jsonl`));
    return {
      id,
      createdAt,
      events: parseRunFile(events, `${name}: ${id}/events.jsonl`),
      start: snapshot(`${id}/start.safetensors`),
      latest: snapshot(`${id}/latest.safetensors`),
      notes: notes === undefined ? null : notesOf(notes),
    };
  });
  // Notebooks of older versions have no shelf.
  const adapters = listOf(index.adapters).map((value) => {
    const entry = entryOf(value, name);
    checkId(entry.id, adapterIds, name);
    const path = adapterPath(entry.id);
    return { entry, data: readAdapterData(file(path), `${name}: ${path}`) };
  });
  return { runs, adapters };
}

/** Ids name files and records: throws `bad_input` for one that is no plain name, or stands twice. */
function checkId(id: string, known: Set<string>, name: string): void {
  if (!/^\w[\w.-]*$/.test(id)) {
    throw bad(`${name}: notebook.json has the id ${JSON.stringify(id)}, which is no plain name.`);
  }
  if (known.has(id)) throw bad(`${name}: notebook.json names ${id} twice. Export it again.`);
  known.add(id);
}

function adapterPath(id: string): string {
  return `adapters/${id}.safetensors`;
}

/** Notes as far as they are understood: none is worth losing a run over. */
function notesOf(value: Json): RunNotes {
  const { tags, note, steps } = fieldsOf(value);
  return {
    tags: texts(tags),
    note: typeof note === 'string' ? note : '',
    steps: Object.fromEntries(
      Object.entries(fieldsOf(steps ?? null)).filter(
        (entry): entry is [string, string] => typeof entry[1] === 'string',
      ),
    ),
  };
}

function entryOf(value: Json, name: string): ShelvedAdapter {
  const fields = fieldsOf(value);
  const without = (key: string) =>
    bad(`${name}: notebook.json names an adapter without ${key}. Export it again.`);
  const text = (key: string): string => {
    const found = fields[key];
    if (typeof found === 'string') return found;
    throw without(key);
  };
  const count = (key: string): number => {
    const found = fields[key];
    if (typeof found === 'number') return found;
    throw without(key);
  };
  return {
    id: text('id'),
    name: text('name'),
    note: text('note'),
    createdAt: text('createdAt'),
    modelName: text('modelName'),
    modelSha256: text('modelSha256'),
    modules: count('modules'),
    targets: texts(fields.targets),
    ranks: listOf(fields.ranks).filter((rank) => typeof rank === 'number'),
    parameters: count('parameters'),
    norm: count('norm'),
  };
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function texts(value: Json | undefined): readonly string[] {
  return listOf(value).filter((one) => typeof one === 'string');
}

function fieldsOf(value: Json): { readonly [key: string]: Json | undefined } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as { readonly [key: string]: Json }) // an object that is no list
    : {};
}

function bad(message: string): LabError {
  return new LabError('bad_input', message);
}
