/** Writes a run bundle: every file, then the manifest with their hashes, as one zip. */

import { sha256 } from 'hash-wasm';
import type { Settings } from '../config.ts';
import type { RunManifest } from '../records.ts';
import { version } from '../version.ts';
import {
  adapterFolders,
  adapterNames,
  BUNDLE_SCHEMA,
  type BundleContents,
  type BundleManifest,
  bundlePaths,
  factsOf,
  snapshotPath,
  startOf,
} from './bundle.ts';
import { evalLog } from './bundle-inspect.ts';
import { metricsParquet, tokensParquet } from './bundle-parquet.ts';
import { replayFiles } from './bundle-replay.ts';
import { writeSnapshot } from './bundle-snapshot.ts';
import { jsonLines, metricRows, metricsCsv, tokenRows } from './bundle-tables.ts';
import { writeGgufLora } from './gguf-lora.ts';
import { writePeft } from './peft.ts';
import { formatRunFile } from './run-file.ts';
import { toConfigToml, toSettingsJson } from './settings.ts';
import { writeZip, type ZipEntry } from './zip.ts';

/** The bundle as a zip. Equal contents give equal bytes. Throws `bad_input` for a run without a start. */
export async function writeBundle(contents: BundleContents): Promise<Uint8Array> {
  const entries = await bundleEntries(contents);
  const sums = await Promise.all(
    entries.map(
      async ({ path, bytes }) =>
        [path, { bytes: bytes.length, sha256: await sha256(bytes) }] as const,
    ),
  );
  const manifest: BundleManifest = {
    format: 'attt-bundle',
    schema: BUNDLE_SCHEMA,
    app_version: version,
    run: contents.run,
    created_at: contents.createdAt,
    facts: factsOf(contents.events),
    keeps_adapter: contents.adapters !== null,
    files: Object.fromEntries(sums),
  };
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  return writeZip([entryOf(bundlePaths.manifest, text), ...entries]);
}

/** Every file but the manifest, in the order of the zip. */
async function bundleEntries(contents: BundleContents): Promise<readonly ZipEntry[]> {
  return [
    entryOf(bundlePaths.events, formatRunFile(contents.events)),
    ...(await derivedEntries(contents)),
    ...(contents.adapters === null ? [] : adapterEntries(contents, contents.adapters)),
  ];
}

/** What this version makes of the events, besides them and the adapters. */
export async function derivedEntries(
  contents: Omit<BundleContents, 'adapters'>,
): Promise<readonly ZipEntry[]> {
  const { events } = contents;
  const settings: Settings = startOf(events).manifest.settings;
  const tokens = tokenRows(events);
  const metrics = metricRows(events);
  return [
    entryOf(bundlePaths.config, toConfigToml(settings, null)),
    entryOf(bundlePaths.settings, toSettingsJson(settings)),
    entryOf(bundlePaths.tokens, jsonLines(tokens)),
    entryOf(bundlePaths.tokensParquet, await tokensParquet(tokens)),
    entryOf(bundlePaths.metrics, metricsCsv(metrics)),
    entryOf(bundlePaths.metricsParquet, await metricsParquet(metrics)),
    entryOf(bundlePaths.inspect, JSON.stringify(evalLog(contents))),
    ...replayFiles.map(([path, text]) => entryOf(path, text)),
  ];
}

function adapterEntries(
  { events }: BundleContents,
  adapters: NonNullable<BundleContents['adapters']>,
): readonly ZipEntry[] {
  const { manifest } = startOf(events);
  const base = { name: manifest.modelName, licence: null };
  const { startAdapter } = manifest;
  const labels = {
    start: startAdapter && { label: { name: startAdapter.name, note: '' } },
    latest: {},
  };
  const learned = adapterNames.flatMap((name) => {
    const { snapshot, modules } = adapters[name];
    const folder = Object.entries(writePeft(modules, { ...base, ...labels[name] })).map(
      ([file, bytes]) => entryOf(`${adapterFolders[name]}/${file}`, bytes),
    );
    return [...folder, entryOf(snapshotPath(name), writeSnapshot(snapshot))];
  });
  return [...learned, entryOf(bundlePaths.gguf, ggufOf(adapters, manifest))];
}

function ggufOf(
  { latest }: NonNullable<BundleContents['adapters']>,
  { architecture, modelName }: RunManifest,
): Uint8Array {
  return writeGgufLora(latest.gguf, { architecture, name: modelName });
}

/** Tensors and Parquet pages are stored: they hardly shrink, and readers can map them. */
function entryOf(path: string, content: string | Uint8Array): ZipEntry {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  return { path, bytes, stored: /\.(safetensors|parquet|gguf)$/.test(path) };
}
