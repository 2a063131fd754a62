/** `attt bundle`: checks, takes apart, makes and compares run bundles. */

import { writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { LabError } from '../errors.ts';
import { adapterFolders, adapterNames, bundlePaths, startOf } from '../formats/bundle.ts';
import { type Comparison, compareRuns } from '../formats/bundle-compare.ts';
import { isIrreplaceable, namesAdapter, remedyFor } from '../formats/bundle-files.ts';
import {
  type BundleProblem,
  type CheckedBundle,
  checkBundle,
  damaged,
  isZip,
  openEvents,
  openRun,
  snapshotIn,
} from '../formats/bundle-read.ts';
import { writeBundle } from '../formats/bundle-write.ts';
import { predictionLine } from '../formats/predictions.ts';
import { readZip } from '../formats/zip.ts';
import type { EpisodeEvent } from '../records.ts';
import { version } from '../version.ts';
import { bundleRun } from '../workers/run-bundle.ts';
import { readBytes } from './files.ts';
import { makeFolder } from './folders.ts';
import { note } from './output.ts';
import { Predictions } from './predictions.ts';

export interface Validation {
  readonly file: string;
  readonly valid: boolean;
  readonly schema: number;
  readonly app_version: string | null;
  readonly files: number;
  readonly events: number;
  readonly problems: readonly BundleProblem[];
}

/** Everything that is wrong with a bundle or a JSONL run. Throws where it cannot be opened at all. */
export async function validate(file: string): Promise<Validation> {
  const bytes = await readBytes(file);
  if (!isZip(bytes)) {
    const { events } = await openRun(bytes, file);
    return {
      ...{ file, valid: true, schema: 1, app_version: null, files: 1 },
      events: events.length,
      problems: [],
    };
  }
  const checked = await checkBundle(bytes, file);
  const { manifest, files, events } = checked;
  const problems = [...checked.problems, ...(await otherAdapters(checked))];
  return {
    file,
    valid: problems.length === 0,
    schema: manifest.schema,
    app_version: manifest.app_version,
    files: files.size,
    events: events.length,
    problems,
  };
}

/**
 * The forms of the adapter that are not what this version writes of the snapshots; none where another version wrote
 * the bundle, or something else is wrong with it.
 */
async function otherAdapters(checked: CheckedBundle): Promise<readonly BundleProblem[]> {
  const { manifest, files, problems } = checked;
  if (manifest.app_version !== version || problems.length > 0) return [];
  const again = readZip(await madeAgain(checked), 'The bundle made again');
  return [...again].flatMap(([path, bytes]) => {
    if (!namesAdapter([path]) || Buffer.compare(bytes, files.get(path) ?? Buffer.of()) === 0) {
      return [];
    }
    return [{ file: path, problem: `is not what the snapshots give. ${remedyFor(path)}` }];
  });
}

/** What `attt bundle export --to` can take out of a bundle. */
export const exportKinds = [
  'bundle',
  'files',
  'peft',
  'peft-start',
  'gguf',
  'inspect',
  'csv',
  'jsonl',
  'predictions',
] as const;
export type ExportKind = (typeof exportKinds)[number];

/** Writes one part of a run to `out`, a folder for `peft`, `peft-start` and `files`, else a file. */
export async function exportBundle(options: {
  readonly file: string;
  readonly to: ExportKind;
  readonly out: string;
}): Promise<{ readonly written: readonly string[] }> {
  const { file, to, out } = options;
  const bytes = await readBytes(file);
  // These two need the events alone, and so come out of a bundle that lacks something else.
  if (to === 'bundle') return save([[out, await wholeBundle(bytes, file)]]);
  if (to === 'jsonl' && isZip(bytes)) {
    const { files } = await openEvents(bytes, file);
    return save([[out, partOf(files, bundlePaths.events, file)]]);
  }
  // A bare run is brought to the present schema first, so that all parts are there.
  const zip = isZip(bytes) ? bytes : await wholeBundle(bytes, file);
  const { events } = await openRun(zip, file); // refuses a damaged bundle, naming the file
  const files = readZip(zip, file);
  switch (to) {
    case 'files':
      return save([...files].map(([path, content]) => [join(out, path), content]));
    case 'peft':
    case 'peft-start': {
      const folder = `${adapterFolders[to === 'peft' ? 'latest' : 'start']}/`;
      const parts = [...files].filter(([path]) => path.startsWith(folder));
      if (parts.length === 0) throw noAdapter(file);
      return save(parts.map(([path, content]) => [join(out, path.slice(folder.length)), content]));
    }
    case 'gguf':
      return save([[out, partOf(files, bundlePaths.gguf, file)]]);
    case 'inspect':
      return save([[out, partOf(files, bundlePaths.inspect, file)]]);
    case 'csv':
      return save([[out, partOf(files, bundlePaths.metrics, file)]]);
    case 'jsonl':
      return save([[out, partOf(files, bundlePaths.events, file)]]);
    case 'predictions':
      return save([[out, await predictionFile(events, file)]]);
    default:
      return to satisfies never;
  }
}

/** How two runs differ; each a bundle or a JSONL run. */
export async function compare(a: string, b: string): Promise<Comparison> {
  const open = async (file: string) => openRun(await readBytes(file), file);
  return compareRuns(await open(a), await open(b));
}

/**
 * A bundle as it is where nothing is wrong with it, else one made again from its events and snapshots. Throws
 * `bad_input` naming the first file that nothing else of it brings back.
 */
async function wholeBundle(bytes: Uint8Array, file: string): Promise<Uint8Array> {
  if (!isZip(bytes)) {
    const { events } = await openRun(bytes, file);
    const run = basename(file).replace(/\.jsonl$/, '');
    return writeBundle({ run, createdAt: null, events, adapters: null });
  }
  const checked = await checkBundle(bytes, file);
  const { problems } = checked;
  const lost = problems.filter((problem) => isIrreplaceable(problem.file));
  if (lost.length > 0) throw damaged(file, lost);
  if (problems.length === 0) return bytes;
  for (const problem of problems) note(`${problem.file} ${problem.problem}`);
  return madeAgain(checked);
}

/** From its events and snapshots alone. */
function madeAgain({ manifest, files, events }: CheckedBundle): Promise<Uint8Array> {
  const [start, latest] = adapterNames.map((name) => snapshotIn(files, name));
  return bundleRun({
    id: manifest.run,
    createdAt: manifest.created_at,
    manifest: startOf(events).manifest,
    events,
    snapshots: start && latest ? { start, latest } : null,
  });
}

function partOf(files: ReadonlyMap<string, Uint8Array>, path: string, file: string): Uint8Array {
  const part = files.get(path);
  if (part) return part;
  if (path === bundlePaths.gguf) throw noAdapter(file);
  throw new LabError('not_found', `${file} has no ${path}.`, { file, path });
}

/** The run's line for SWE-bench. */
async function predictionFile(events: readonly EpisodeEvent[], file: string): Promise<Uint8Array> {
  const predictions = new Predictions();
  for (const event of events) predictions.take(event);
  const prediction = await predictions.current();
  if (prediction !== null) return new TextEncoder().encode(predictionLine(prediction));
  throw new LabError(
    'not_found',
    `${file} is no code repair, so there is nothing to predict. Export a run of a world of programs.`,
    { file },
  );
}

function noAdapter(file: string): LabError {
  return new LabError(
    'not_found',
    `${file} keeps no adapter: it was made from a run without one. Export it from the page that ran it, or run again with --bundles.`,
    { file },
  );
}

async function save(
  parts: readonly (readonly [path: string, bytes: Uint8Array])[],
): Promise<{ readonly written: readonly string[] }> {
  for (const [path, bytes] of parts) {
    await makeFolder(dirname(path));
    await writeFile(path, bytes);
  }
  return { written: parts.map(([path]) => path) };
}
