/** Which files a run bundle of each schema must hold, and how one that is missing can be had again. */

import {
  adapterFolders,
  adapterNames,
  BUNDLE_SCHEMA,
  type BundleSchema,
  bundlePaths,
  snapshotPath,
} from './bundle.ts';
import { peftFiles } from './peft.ts';

/** The run, and what follows from it alone. */
const tables: readonly string[] = [
  ...[bundlePaths.config, bundlePaths.settings, bundlePaths.events],
  ...[bundlePaths.tokens, bundlePaths.tokensParquet],
  ...[bundlePaths.metrics, bundlePaths.metricsParquet, bundlePaths.inspect],
];

/** What readers without this program find in `replay/`. A script that is added makes a new schema. */
const scripts: Readonly<Record<BundleSchema, readonly string[]>> = {
  2: [
    ...['ratios', 'losses', 'train', 'log_wandb', 'log_tensorboard', 'log_trackio'],
    ...['serve_vllm', 'serve_llama_cpp'],
  ],
  3: [
    ...['run', 'words', 'ratios', 'weights', 'texts', 'updates', 'losses', 'train'],
    ...['log_wandb', 'log_tensorboard', 'log_trackio', 'serve_vllm', 'serve_llama_cpp'],
  ],
};

const snapshots: readonly string[] = adapterNames.map(snapshotPath);

/** The adapter in each of its forms; a bundle has all of them or none. */
const peftAndSnapshots: readonly string[] = [
  ...adapterNames.flatMap((name) => peftFiles.map((file) => `${adapterFolders[name]}/${file}`)),
  ...snapshots,
];
const adapterFiles: Readonly<Record<BundleSchema, readonly string[]>> = {
  2: peftAndSnapshots,
  3: [...peftAndSnapshots, bundlePaths.gguf],
};

/** Every file besides the manifest that a bundle of this schema must hold. */
export function neededFiles(schema: BundleSchema, keepsAdapter: boolean): readonly string[] {
  const read = ['README.md', ...scripts[schema].map((name) => `replay/${name}.py`)];
  return [...tables, ...read, ...(keepsAdapter ? adapterFiles[schema] : [])];
}

/** True where one of these paths is a form of the adapter. */
export function namesAdapter(paths: Iterable<string>): boolean {
  return [...paths].some((path) => adapterFiles[BUNDLE_SCHEMA].includes(path));
}

/** Nothing else of a bundle says what these files do, so that it cannot be made whole without them. */
export function isIrreplaceable(path: string): boolean {
  const known = neededFiles(BUNDLE_SCHEMA, true).includes(path);
  return !known || path === bundlePaths.events || snapshots.includes(path);
}

/** What to do where a file is missing, or is not what the others say. */
export function remedyFor(path: string): string {
  if (path === bundlePaths.events) {
    return 'Without its events a bundle holds no run: take it again from where it was made.';
  }
  const [make, jsonl] = ['bundle', 'jsonl'].map((kind) => `"attt bundle export FILE --to ${kind}"`);
  if (snapshots.includes(path)) {
    return `Nothing else holds the optimiser's state: export the run again where it is kept. ${jsonl} saves its events.`;
  }
  if (isIrreplaceable(path)) return 'It is none of a bundle: take it out.';
  const from = adapterFiles[BUNDLE_SCHEMA].includes(path) ? 'its snapshots' : bundlePaths.events;
  return `It follows from ${from}: ${make} makes a whole bundle again.`;
}
