/** The run bundle `<run>.attt.zip`: which files it holds and what its manifest says. */

import { LabError } from '../errors.ts';
import type {
  EpisodeEvent,
  Json,
  LearnerSnapshot,
  RunManifest,
  StartAdapterRef,
} from '../records.ts';
import type { GgufLoraModule } from './gguf-lora.ts';
import { parseJson, repeatedName } from './json-syntax.ts';
import type { PeftModule } from './peft.ts';

/** The schemas of bundles that are read; 1 was a bare JSONL file of events. */
const bundleSchemas = [2, 3] as const;
export type BundleSchema = (typeof bundleSchemas)[number];
/** The one that is written. */
export const BUNDLE_SCHEMA = 3 satisfies BundleSchema;

/** Files with a fixed place. */
export const bundlePaths = {
  manifest: 'MANIFEST.json',
  config: 'config.toml',
  settings: 'settings.json',
  events: 'events.jsonl',
  tokens: 'tokens.jsonl',
  tokensParquet: 'tokens.parquet',
  metrics: 'metrics.csv',
  metricsParquet: 'metrics.parquet',
  inspect: 'inspect.json',
  /** The latest adapter for llama.cpp; absent where none was kept. */
  gguf: 'adapter.gguf',
} as const;

/** The adapter at the episode's start and as the run left it. */
export const adapterNames = ['start', 'latest'] as const;
export type AdapterName = (typeof adapterNames)[number];

/** Where each adapter lies, as a PEFT folder. */
export const adapterFolders: Readonly<Record<AdapterName, string>> = {
  start: 'adapter-start',
  latest: 'adapter',
};

/** Where each snapshot lies. */
export function snapshotPath(name: AdapterName): string {
  return `snapshots/${name}.safetensors`;
}

/** One learner state in the two forms that a bundle keeps. */
export interface BundledAdapter {
  readonly snapshot: LearnerSnapshot;
  /** The same adapter in Hugging Face names and row order, and in GGUF's. */
  readonly modules: readonly PeftModule[];
  readonly gguf: readonly GgufLoraModule[];
}

/** What a bundle is made of. */
export interface BundleContents {
  /** Names the run in file names. */
  readonly run: string;
  /** ISO 8601; null where no clock was read. */
  readonly createdAt: string | null;
  readonly events: readonly EpisodeEvent[];
  /** null where they were not kept: a run from a file, or one that never learns. */
  readonly adapters: Readonly<Record<AdapterName, BundledAdapter>> | null;
}

/** Facts of the run that a reader wants without reading it. */
export interface BundleFacts {
  readonly model: {
    readonly name: string;
    readonly sha256: string;
    readonly quantisation: string;
    readonly architecture: string;
    readonly heads: number;
    readonly kv_heads: number;
  };
  readonly tokenizer_sha256: string;
  readonly backend: string;
  readonly device: string;
  readonly method: string;
  readonly seed: number;
  readonly env: string;
  readonly split: string;
  readonly task: number;
  readonly goal: string | null;
  /** The adapter that the episode started from; absent where it was a fresh one. */
  readonly start_adapter?: StartAdapterRef;
  readonly steps: number;
  readonly updates: number;
  readonly rollbacks: number;
  readonly reward: number;
  /** null where the run has no end. */
  readonly reason: string | null;
}

export interface FileSum {
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

export interface BundleManifest {
  readonly format: 'attt-bundle';
  readonly schema: BundleSchema;
  readonly app_version: string;
  readonly run: string;
  readonly created_at: string | null;
  readonly facts: BundleFacts;
  /** Whether the adapter and its snapshots were kept; schema 2 did not say. */
  readonly keeps_adapter?: boolean;
  /** Every other file of the bundle. */
  readonly files: Readonly<Record<string, FileSum>>;
}

/** What the events say of the run. Throws `bad_input` where they do not begin with their start. */
export function factsOf(events: readonly EpisodeEvent[]): BundleFacts {
  const { manifest, task } = startOf(events);
  const ended = events.findLast((event) => event.type === 'episode_ended');
  const steps = events.filter((event) => event.type === 'step');
  const restored = events.filter((event) => 'restored' in event && event.restored);
  return {
    model: {
      name: manifest.modelName,
      sha256: manifest.modelSha256,
      quantisation: manifest.quantisation,
      architecture: manifest.architecture,
      heads: manifest.heads,
      kv_heads: manifest.kvHeads,
    },
    tokenizer_sha256: manifest.tokenizerSha256,
    backend: manifest.backend,
    device: manifest.device,
    method: manifest.settings.method,
    seed: manifest.settings.seed,
    env: manifest.env,
    split: task.split,
    task: task.index,
    goal: task.goal ?? null,
    ...(manifest.startAdapter && { start_adapter: manifest.startAdapter }),
    steps: steps.length,
    updates: events.findLast((event) => event.type === 'boundary')?.updates ?? 0,
    rollbacks: restored.length,
    reward: steps.reduce((sum, step) => sum + step.reward, 0),
    reason: ended?.reason ?? null,
  };
}

/** The event that a run begins with. Throws `bad_input`. */
export function startOf(events: readonly EpisodeEvent[]): {
  readonly manifest: RunManifest;
  readonly task: RunManifest['task'];
} {
  const [start] = events;
  if (start?.type === 'episode_started') return start;
  throw new LabError(
    'bad_input',
    'The run has no episode_started event, so nothing is known of it.',
  );
}

/**
 * Reads a manifest. Throws `bad_input` for another file, and for one that says a thing twice;
 * `unsupported` for a schema from the future.
 */
export function readManifest(text: string): BundleManifest {
  const value = parseJson(text, bundlePaths.manifest);
  const twice = repeatedName(text);
  if (twice !== null) {
    throw bad(`names "${twice}" twice, and readers would differ in which they take`);
  }
  const { format, schema, files, facts, run, keeps_adapter: keeps } = isObject(value) ? value : {};
  if (format !== 'attt-bundle' || typeof schema !== 'number' || !isObject(files)) {
    throw new LabError(
      'bad_input',
      `${bundlePaths.manifest} has no "format": "attt-bundle", "schema" and "files": this zip is no run bundle.`,
    );
  }
  if (!bundleSchemas.some((known) => known === schema)) {
    throw new LabError(
      'unsupported',
      `The bundle has schema ${schema}; this version reads ${bundleSchemas.join(' and ')} (and JSONL files, which were schema 1). Open it in the version that wrote it, or a newer one.`,
      { schema },
    );
  }
  if (!isObject(facts) || typeof run !== 'string') throw bad('has no "facts" or no "run"');
  if (schema > 2 && typeof keeps !== 'boolean') {
    throw bad('does not say whether the run "keeps_adapter"');
  }
  for (const [path, sum] of Object.entries(files)) {
    const { bytes, sha256 } = isObject(sum) ? sum : {};
    if (typeof bytes === 'number' && typeof sha256 === 'string') continue;
    throw new LabError('bad_input', `${bundlePaths.manifest}: ${path} lacks "bytes" or "sha256".`);
  }
  return value as unknown as BundleManifest; // a parse edge: what is read of it was checked
}

function bad(what: string): LabError {
  return new LabError(
    'bad_input',
    `${bundlePaths.manifest} ${what}. Take the bundle again from where it was made.`,
  );
}

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
