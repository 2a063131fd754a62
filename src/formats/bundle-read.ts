/** Reads a run bundle, or a bare JSONL run, and says of every file what is wrong with it. */

import { sha256 } from 'hash-wasm';
import { LabError, toWire } from '../errors.ts';
import type { EpisodeEvent, LearnerSnapshot } from '../records.ts';
import { version } from '../version.ts';
import { adapterSha256 } from './adapter-hash.ts';
import {
  type AdapterName,
  adapterFolders,
  type BundleManifest,
  type BundleSchema,
  bundlePaths,
  factsOf,
  readManifest,
  snapshotPath,
  startOf,
} from './bundle.ts';
import { namesAdapter, neededFiles, remedyFor } from './bundle-files.ts';
import { readSnapshot } from './bundle-snapshot.ts';
import { derivedEntries } from './bundle-write.ts';
import { readGgufLora } from './gguf-lora.ts';
import { readPeft } from './peft.ts';
import { parseRunFile } from './run-file.ts';
import { bytesSource } from './source.ts';
import { readZip } from './zip.ts';

/** One thing that is wrong, at one file of the bundle. */
export interface BundleProblem {
  readonly file: string;
  readonly problem: string;
}

/** A bundle that could be opened, with everything that is wrong in it. */
export interface CheckedBundle {
  readonly manifest: BundleManifest;
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Empty where events.jsonl cannot be read; a problem says why. */
  readonly events: readonly EpisodeEvent[];
  readonly problems: readonly BundleProblem[];
}

/** A run as it was kept: schema 1 is a JSONL file, later ones are bundles. */
export interface OpenedRun {
  readonly schema: 1 | BundleSchema;
  readonly events: readonly EpisodeEvent[];
  /** The bundle's files by path; none in schema 1. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/**
 * Opens a run of any schema and brings it to the present one. Throws `bad_input` naming the first
 * file that is wrong; `unsupported` and `limit` as {@link readManifest} and {@link readZip} do.
 */
export async function openRun(bytes: Uint8Array, name: string): Promise<OpenedRun> {
  if (!isZip(bytes)) {
    const text = new TextDecoder().decode(bytes);
    return { schema: 1, events: parseRunFile(text, name), files: new Map() };
  }
  const { manifest, files, events, problems } = await checkBundle(bytes, name);
  if (problems.length > 0) throw damaged(name, problems);
  return { schema: manifest.schema, events, files };
}

/**
 * A bundle whose events are what its manifest says, with what is wrong elsewhere in it. Throws as
 * {@link openRun} does where they are not.
 */
export async function openEvents(bytes: Uint8Array, name: string): Promise<CheckedBundle> {
  const checked = await checkBundle(bytes, name);
  const own = checked.problems.filter(({ file }) => file === bundlePaths.events);
  if (own.length > 0) throw damaged(name, own);
  return checked;
}

/** The first problem as an error. */
export function damaged(name: string, [first, ...rest]: readonly BundleProblem[]): LabError {
  const more = rest.length > 0 ? ` (and ${rest.length} more problems)` : '';
  return new LabError('bad_input', `${name}: ${first?.file}: ${first?.problem}${more}`, {
    file: first?.file ?? '',
  });
}

/** True for the first bytes of a zip. */
export function isZip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b;
}

/** A kept snapshot of the bundle; null where it has none. Throws as {@link readSnapshot} does. */
export function snapshotIn(
  files: ReadonlyMap<string, Uint8Array>,
  name: AdapterName,
): LearnerSnapshot | null {
  const bytes = files.get(snapshotPath(name));
  return bytes ? readSnapshot(bytes, snapshotPath(name)) : null;
}

/**
 * Checks every file against the manifest, and what it says against the events. Throws only where no
 * bundle could be made out at all: no zip, no manifest, a schema from the future.
 */
export async function checkBundle(bytes: Uint8Array, name: string): Promise<CheckedBundle> {
  const files = readZip(bytes, name);
  const text = files.get(bundlePaths.manifest);
  if (text === undefined) {
    throw new LabError(
      'bad_input',
      `${name} has no ${bundlePaths.manifest}, so it is no run bundle. It holds ${[...files.keys()].slice(0, 5).join(', ') || 'nothing'}.`,
    );
  }
  const manifest = readManifest(new TextDecoder().decode(text));
  const problems: BundleProblem[] = [];
  const add = (file: string, problem: string) => problems.push({ file, problem });
  const attempt = async (file: string, work: () => unknown) => {
    try {
      await work();
    } catch (thrown) {
      add(file, toWire(thrown).message);
    }
  };

  let events: readonly EpisodeEvent[] = [];
  await attempt(bundlePaths.events, () => {
    const file = files.get(bundlePaths.events);
    if (file) events = parseRunFile(new TextDecoder().decode(file), bundlePaths.events);
  });
  const derived = new Map<string, Uint8Array>();
  await attempt(bundlePaths.events, async () => {
    if (events.length === 0) return;
    const { run, created_at: createdAt } = manifest;
    for (const { path, bytes } of await derivedEntries({ run, createdAt, events })) {
      derived.set(path, bytes);
    }
  });
  await checkFiles(manifest, files, derived, add);
  if (events.length > 0) checkFacts(manifest, events, add);
  const gguf = files.get(bundlePaths.gguf);
  if (gguf)
    await attempt(bundlePaths.gguf, () => readGgufLora(bytesSource(gguf, bundlePaths.gguf)));
  for (const name of ['start', 'latest'] as const) {
    await attempt(snapshotPath(name), async () => {
      const snapshot = snapshotIn(files, name);
      if (name === 'start' && snapshot && events.length > 0) await checkStart(snapshot, events);
    });
    const config = files.get(`${adapterFolders[name]}/adapter_config.json`);
    const weights = files.get(`${adapterFolders[name]}/adapter_model.safetensors`);
    if (config === undefined || weights === undefined) continue;
    await attempt(`${adapterFolders[name]}/adapter_model.safetensors`, () =>
      readPeft(new TextDecoder().decode(config), weights),
    );
  }
  return { manifest, files, events, problems };
}

/** Whether the files are those that the manifest and its schema say, and what this version makes of the events. */
async function checkFiles(
  manifest: BundleManifest,
  files: ReadonlyMap<string, Uint8Array>,
  derived: ReadonlyMap<string, Uint8Array>,
  add: (file: string, problem: string) => void,
): Promise<void> {
  const sums = new Map(Object.entries(manifest.files));
  const needed = neededFiles(
    manifest.schema,
    (manifest.keeps_adapter ?? manifest.facts.start_adapter !== undefined) ||
      namesAdapter([...sums.keys(), ...files.keys()]),
  );
  const own = new Set([...needed, ...sums.keys(), ...files.keys()]);
  own.delete(bundlePaths.manifest);
  if (sums.has(bundlePaths.manifest)) {
    add(bundlePaths.manifest, 'names itself among the files, and cannot know its own hash.');
  }
  const whole: (readonly [path: string, file: Uint8Array])[] = [];
  for (const path of own) {
    const [file, sum] = [files.get(path), sums.get(path)];
    if (file === undefined) {
      const named = sum
        ? `is named in ${bundlePaths.manifest}, but is not in the zip.`
        : `is missing; a bundle of schema ${manifest.schema} has it.`;
      add(path, `${named} ${remedyFor(path)}`);
    } else if (sum === undefined) {
      add(path, `is in the zip, but not in ${bundlePaths.manifest}. ${remedyFor(path)}`);
    } else {
      const found = await sha256(file);
      if (file.length === sum.bytes && found === sum.sha256) {
        whole.push([path, file]);
        continue;
      }
      add(
        path,
        `has ${file.length} bytes with sha256 ${found}; ${bundlePaths.manifest} says ${sum.bytes} bytes with ${sum.sha256}.` +
          placeOfChange(file, derived.get(path)),
      );
    }
  }
  // Another version may have written other columns; this one's follow from its events to the byte.
  const follows =
    manifest.app_version === version && whole.some(([path]) => path === bundlePaths.events);
  for (const [path, file] of follows ? whole : []) {
    const place = placeOfChange(file, derived.get(path));
    if (place === '') continue;
    add(path, `is not what ${bundlePaths.events} gives.${place} ${remedyFor(path)}`);
  }
}

/** Throws `bad_input` where the episode is said to have started from another adapter. */
async function checkStart(
  { adapter }: LearnerSnapshot,
  events: readonly EpisodeEvent[],
): Promise<void> {
  const said = startOf(events).manifest.startAdapter?.sha256;
  const found = said === undefined ? said : await adapterSha256(adapter);
  if (found === said) return;
  throw new LabError(
    'bad_input',
    `has the sha256 ${found} by its content; ${bundlePaths.events} says that the episode started from ${said}.`,
  );
}

/** Where a file begins to differ from what the events give; empty where it does not, or nothing is known of it. */
function placeOfChange(file: Uint8Array, bytes: Uint8Array | undefined): string {
  if (bytes === undefined) return '';
  const at = bytes.findIndex((byte, i) => byte !== file[i]);
  if (at < 0 && file.length === bytes.length) return '';
  const offset = at < 0 ? bytes.length : at;
  return ` The first byte that does not follow from ${bundlePaths.events} is ${offset}.`;
}

/** The manifest's facts are a copy of the events'; a copy that differs was edited. */
function checkFacts(
  manifest: BundleManifest,
  events: readonly EpisodeEvent[],
  add: (file: string, problem: string) => void,
): void {
  const truth: Readonly<Record<string, unknown>> = { ...factsOf(events) };
  const said: Readonly<Record<string, unknown>> = { ...manifest.facts };
  for (const key of new Set([...Object.keys(truth), ...Object.keys(said)])) {
    const [found, expected] = [JSON.stringify(said[key]), JSON.stringify(truth[key])];
    if (found !== expected) {
      add(
        bundlePaths.manifest,
        `says ${key} ${found ?? 'nothing'}; ${bundlePaths.events} has ${expected ?? 'no such fact'}.`,
      );
    }
  }
}
