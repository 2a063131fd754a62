/** Model files fetched by URL, kept in the Cache API: complete and hashed, or not there at all. */

import { createSHA256 } from 'hash-wasm';
import { LabError, throwIfAborted } from '../errors.ts';
import type { LoadProgress, StoredModel } from '../records.ts';
import { type Downloaded, downloadKept, dropKept, isPart, keptBlob, keptFile } from './download.ts';

const cacheName = 'attt-models';

/** A policy that ships with the page. */
export interface BundledModel {
  /** What `policy_model` and the command line call it. */
  readonly name: string;
  readonly label: string;
  /** Relative to the page. */
  readonly path: string;
}

export const bundledModels: readonly BundledModel[] = [
  {
    name: 'household',
    label: 'Household policy, 2.4 M parameters',
    path: 'models/household-2m/household-2m-q8_0.gguf',
  },
];

/** A model that is another one with an adapter of the page's own; the other one has to be loaded first. */
export const bundledAdapter = {
  path: 'models/household-smollm2-lora/household-smollm2-lora.gguf',
  base: {
    file: 'SmolLM2-135M-Instruct.Q4_1.gguf',
    megabytes: 98,
    sha256: 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53',
  },
} as const;

/** Where a bundled model lies. Throws `not_found` with the names that exist. */
export function bundledModelUrl(name: string, base: string): string {
  const model = bundledModels.find((one) => one.name === name);
  if (model) return new URL(model.path, base).href;
  const names = bundledModels.map((one) => one.name).join(', ');
  throw new LabError('not_found', `No bundled model is called "${name}". There is ${names}.`, {
    name,
  });
}

/** A model's bytes and how they came. */
export interface FetchedModel extends Downloaded {
  readonly name: string;
}

/**
 * The file at a URL, from the cache when it is there; see `downloadKept` for what it throws and what
 * a broken download leaves. `keep` false neither reads nor fills the cache: a file of the page itself
 * must not outlive the page's version.
 */
export async function fetchModel(
  url: string,
  signal: AbortSignal,
  onProgress: (progress: LoadProgress) => void,
  keep = true,
): Promise<FetchedModel> {
  const cache = keep && typeof caches !== 'undefined' ? await caches.open(cacheName) : null;
  return { ...(await downloadKept(url, cache, signal, onProgress)), name: nameOf(url) };
}

/** The bytes of a wholly kept model; null when it is not, or not wholly. */
export async function keptModel(url: string): Promise<Blob | null> {
  if (typeof caches === 'undefined') return null;
  return keptBlob(url, await caches.open(cacheName));
}

/** Kept models, the last used first; those whose download was not finished too. */
export async function listModels(): Promise<readonly StoredModel[]> {
  const cache = await caches.open(cacheName);
  const urls = (await cache.keys()).map(({ url }) => url).filter((url) => !isPart(url));
  const found = await Promise.all(
    urls.map(async (url) => {
      const kept = await keptFile(url, cache);
      const { bytes = 0, total = 0, sha256 = null, used = '' } = kept ?? {};
      return {
        key: url,
        name: nameOf(url),
        bytes,
        total,
        complete: sha256 !== null,
        lastUsed: used,
      };
    }),
  );
  return found.sort((a, b) => b.lastUsed.localeCompare(a.lastUsed));
}

/** Removes one kept model, whole or not. */
export async function deleteModel(key: string): Promise<void> {
  await dropKept(key, await caches.open(cacheName));
}

/** Removes every kept model and every part of one. */
export async function deleteAllModels(): Promise<void> {
  await caches.delete(cacheName);
}

function nameOf(url: string): string {
  return decodeURIComponent(url.split(/[?#]/)[0]?.split('/').pop() || 'model.gguf');
}

/** SHA-256 of a local file in hex, read slice by slice. */
export async function sha256Of(
  file: Blob,
  signal: AbortSignal,
  onProgress: (progress: LoadProgress) => void,
): Promise<string> {
  const hash = await createSHA256();
  const slice = 8 * 2 ** 20;
  const began = performance.now();
  for (let bytes = 0; bytes < file.size; bytes += slice) {
    throwIfAborted(signal);
    hash.update(new Uint8Array(await file.slice(bytes, bytes + slice).arrayBuffer()));
    const seconds = Math.max(1e-3, (performance.now() - began) / 1000);
    onProgress({ phase: 'read', bytes, total: file.size, bytesPerSecond: bytes / seconds });
  }
  return hash.digest();
}
