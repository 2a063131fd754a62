/** The whole notebook as one zip: every run with its events, and its adapter's first and last state. */

import { strFromU8, strToU8 } from 'fflate';
import { LabError } from '../errors.ts';
import type { EpisodeEvent, Json, LearnerSnapshot } from '../records.ts';
import { readSnapshot, writeSnapshot } from './bundle-snapshot.ts';
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
}

const schema = 1;

/** Far above any notebook that a browser keeps: a zip bomb is refused unread. */
const limits = { files: 40_000, bytes: 4 * 2 ** 30 } as const;

/** `notebook.json` names the runs; each has `<id>/events.jsonl` and, if any, its two snapshots. */
export function writeNotebook(runs: readonly NotebookRun[]): Uint8Array {
  const index = { schema, runs: runs.map(({ id, createdAt }) => ({ id, createdAt })) };
  const files: Record<string, Uint8Array> = { 'notebook.json': strToU8(JSON.stringify(index)) };
  for (const { id, events, start, latest } of runs) {
    files[`${id}/events.jsonl`] = strToU8(formatRunFile(events));
    if (start) files[`${id}/start.safetensors`] = writeSnapshot(start);
    if (latest) files[`${id}/latest.safetensors`] = writeSnapshot(latest);
  }
  return writeZip(Object.entries(files).map(([path, bytes]) => ({ path, bytes, stored: false })));
}

/** Throws `bad_input`, naming the file in the zip that is missing or does not parse. */
export function readNotebook(bytes: Uint8Array, name: string): readonly NotebookRun[] {
  const { files } = unzipChosen(bytes, () => limits.bytes, limits);
  const text = (path: string): string => {
    const found = files.get(path);
    if (found) return strFromU8(found);
    throw bad(
      `${name} has no ${path}; expected a notebook as this page exports it. Export it again.`,
    );
  };
  const index = fieldsOf(parseJson(text('notebook.json'), `${name}: notebook.json`));
  if (index.schema !== schema) {
    throw bad(`${name} has schema ${JSON.stringify(index.schema)}; this version reads ${schema}.`);
  }
  return (Array.isArray(index.runs) ? index.runs : []).map((entry) => {
    const { id, createdAt } = fieldsOf(entry);
    if (typeof id !== 'string' || typeof createdAt !== 'string') {
      throw bad(`${name}: notebook.json names a run without id or createdAt. Export it again.`);
    }
    const snapshot = (path: string): LearnerSnapshot | null => {
      const found = files.get(path);
      return found ? readSnapshot(found, `${name}: ${path}`) : null;
    };
    return {
      id,
      createdAt,
      events: parseRunFile(text(`${id}/events.jsonl`), `${name}: ${id}/events.jsonl`),
      start: snapshot(`${id}/start.safetensors`),
      latest: snapshot(`${id}/latest.safetensors`),
    };
  });
}

function fieldsOf(value: Json): { readonly [key: string]: Json | undefined } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as { readonly [key: string]: Json }) // an object that is no list
    : {};
}

function bad(message: string): LabError {
  return new LabError('bad_input', message);
}
