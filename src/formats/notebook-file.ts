/** The whole notebook as one zip: every run with its summary, events and adapter state. */

import { strFromU8, strToU8, zipSync } from 'fflate';
import { LabError } from '../errors.ts';
import type { EpisodeEvent, LearnerSnapshot, RunSummary } from '../records.ts';
import { formatRunFile, parseRunFile } from './run-file.ts';
import { unzipChosen } from './unzip.ts';

/** One run with all that the store keeps of it. */
export interface NotebookRun {
  readonly summary: RunSummary;
  readonly events: readonly EpisodeEvent[];
  /** The state after the last boundary; null where none was stored. */
  readonly latest: LearnerSnapshot | null;
}

const schema = 1;

/** Far above any notebook that a browser keeps: a zip bomb is refused unread. */
const limits = { files: 40_000, bytes: 4 * 2 ** 30 } as const;

/** `notebook.json` names the runs; each has `<id>/summary.json`, `events.jsonl` and, if any, `latest.json` with `latest.bin`. */
export function writeNotebook(runs: readonly NotebookRun[]): Uint8Array {
  const files: Record<string, Uint8Array> = {
    'notebook.json': strToU8(
      JSON.stringify({ schema, runs: runs.map(({ summary }) => summary.id) }),
    ),
  };
  for (const { summary, events, latest } of runs) {
    files[`${summary.id}/summary.json`] = strToU8(JSON.stringify(summary));
    files[`${summary.id}/events.jsonl`] = strToU8(formatRunFile(events));
    if (latest) {
      const { text, bytes } = packFloats(latest);
      files[`${summary.id}/latest.json`] = strToU8(text);
      files[`${summary.id}/latest.bin`] = bytes;
    }
  }
  return zipSync(files, { level: 6 });
}

/** Throws `bad_input`, naming the file in the zip that is missing or does not parse. */
export function readNotebook(bytes: Uint8Array, name: string): readonly NotebookRun[] {
  const { files } = unzipChosen(bytes, () => limits.bytes, limits);
  const text = (path: string): string => {
    const found = files.get(path);
    if (found) return strFromU8(found);
    throw new LabError(
      'bad_input',
      `${name} has no ${path}; expected a notebook as this page exports it. Export it again.`,
    );
  };
  const index = parseJson(text('notebook.json'), `${name}: notebook.json`);
  const { schema: found, runs } = (index ?? {}) as { schema?: unknown; runs?: unknown }; // checked here
  if (found !== schema || !Array.isArray(runs)) {
    throw new LabError(
      'bad_input',
      `${name} has schema ${JSON.stringify(found)}; this version reads ${schema}.`,
    );
  }
  return runs.map(String).map((id) => {
    const events = parseRunFile(text(`${id}/events.jsonl`), `${name}: ${id}/events.jsonl`);
    const summary = parseJson(text(`${id}/summary.json`), `${name}: ${id}/summary.json`);
    const packed = files.get(`${id}/latest.bin`);
    return {
      summary: summary as RunSummary, // written by this page; what it draws comes from the events
      events,
      latest: packed
        ? (unpackFloats(text(`${id}/latest.json`), packed, name) as LearnerSnapshot) // as it was packed
        : null,
    };
  });
}

/** Plain data in which every Float32Array is a place in one block of bytes: bit for bit. */
function packFloats(value: unknown): { text: string; bytes: Uint8Array } {
  const arrays: Float32Array[] = [];
  let at = 0;
  const text = JSON.stringify(value, (_, one: unknown) => {
    if (!(one instanceof Float32Array)) return one;
    arrays.push(one);
    at += one.length;
    return { $f32: [at - one.length, one.length] };
  });
  const bytes = new Uint8Array(4 * at);
  let offset = 0;
  for (const array of arrays) {
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), offset);
    offset += array.byteLength;
  }
  return { text, bytes };
}

function unpackFloats(text: string, packed: Uint8Array, name: string): unknown {
  const bytes = packed.slice(); // begins at an address where a typed view can be made
  return JSON.parse(text, (_, one: unknown) => {
    const place = typeof one === 'object' && one !== null && '$f32' in one ? one.$f32 : null;
    if (!Array.isArray(place)) return one;
    const [start, length] = place.map(Number);
    if (start === undefined || length === undefined || 4 * (start + length) > bytes.length) {
      throw new LabError(
        'bad_input',
        `${name}: an adapter is cut short. Export the notebook again.`,
      );
    }
    return new Float32Array(bytes.buffer, 4 * start, length).slice();
  });
}

function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new LabError('bad_input', `${where}: not JSON. The file may be cut; export it again.`);
  }
}
