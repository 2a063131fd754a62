/** The whole notebook as one zip: every run with its summary, events and adapter state. */

import { strFromU8, strToU8, zipSync } from 'fflate';
import { LabError } from '../errors.ts';
import type { EpisodeEvent, LearnerSnapshot, RunSummary } from '../records.ts';
import { readSnapshot, writeSnapshot } from './bundle-snapshot.ts';
import { parseJson } from './json-syntax.ts';
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

/** `notebook.json` names the runs; each has `<id>/summary.json`, `events.jsonl` and, if any, `latest.safetensors`. */
export function writeNotebook(runs: readonly NotebookRun[]): Uint8Array {
  const files: Record<string, Uint8Array> = {
    'notebook.json': strToU8(
      JSON.stringify({ schema, runs: runs.map(({ summary }) => summary.id) }),
    ),
  };
  for (const { summary, events, latest } of runs) {
    files[`${summary.id}/summary.json`] = strToU8(JSON.stringify(summary));
    files[`${summary.id}/events.jsonl`] = strToU8(formatRunFile(events));
    if (latest) files[`${summary.id}/latest.safetensors`] = writeSnapshot(latest);
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
    const latest = files.get(`${id}/latest.safetensors`);
    return {
      summary: summary as RunSummary, // written by this page; what it draws comes from the events
      events,
      latest: latest ? readSnapshot(latest, `${name}: ${id}/latest.safetensors`) : null,
    };
  });
}
