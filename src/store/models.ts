/** Model files fetched by URL, kept in the Cache API: complete and hashed, or not there at all. */

import { createSHA256 } from 'hash-wasm';
import { LabError, throwIfAborted } from '../errors.ts';
import type { LoadProgress, StoredModel } from '../records.ts';

const cacheName = 'attt-models';
const header = { bytes: 'x-attt-bytes', sha256: 'x-attt-sha256', used: 'x-attt-used' } as const;

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
export interface FetchedModel {
  readonly blob: Blob;
  readonly name: string;
  readonly sha256: string;
  readonly fromCache: boolean;
  /** Why it could not be kept for next time; null when it was. */
  readonly notKept: string | null;
}

/**
 * The file at a URL, from the cache when it is there. Throws `network` with the address and status,
 * `bad_input` when it ends early, `aborted` on abort; then nothing is kept. `keep` false neither
 * reads nor fills the cache: a file of the page itself must not outlive the page's version.
 */
export async function fetchModel(
  url: string,
  signal: AbortSignal,
  onProgress: (progress: LoadProgress) => void,
  keep = true,
): Promise<FetchedModel> {
  const name = decodeURIComponent(url.split(/[?#]/)[0]?.split('/').pop() || 'model.gguf');
  const cache = keep && typeof caches !== 'undefined' ? await caches.open(cacheName) : null;
  const hit = await cache?.match(url);
  if (hit) {
    const blob = await hit.blob();
    onProgress({ phase: 'cache', bytes: blob.size, total: blob.size, bytesPerSecond: 0 });
    return {
      blob,
      name,
      sha256: hit.headers.get(header.sha256) ?? '',
      fromCache: true,
      notKept: null,
    };
  }
  const { blob, sha256 } = await download(url, signal, onProgress);
  let notKept: string | null = cache || !keep ? null : 'this page has no access to the Cache API';
  try {
    const headers = {
      [header.bytes]: String(blob.size),
      [header.sha256]: sha256,
      [header.used]: new Date().toISOString(),
    };
    await cache?.put(url, new Response(blob, { headers }));
  } catch (thrown) {
    notKept = thrown instanceof Error ? thrown.message : String(thrown); // e.g. the quota: run from memory
  }
  return { blob, name, sha256, fromCache: false, notKept };
}

/** Kept models, the largest first. */
export async function listModels(): Promise<readonly StoredModel[]> {
  const cache = await caches.open(cacheName);
  const found = await Promise.all(
    (await cache.keys()).map(async ({ url }) => {
      const headers = (await cache.match(url))?.headers;
      return {
        key: url,
        name: decodeURIComponent(url.split(/[?#]/)[0]?.split('/').pop() || url),
        bytes: Number(headers?.get(header.bytes) ?? 0),
        lastUsed: headers?.get(header.used) ?? '',
      };
    }),
  );
  return found.sort((a, b) => b.bytes - a.bytes);
}

export async function deleteModel(key: string): Promise<void> {
  await (await caches.open(cacheName)).delete(key);
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

async function download(
  url: string,
  signal: AbortSignal,
  onProgress: (progress: LoadProgress) => void,
): Promise<{ blob: Blob; sha256: string }> {
  let response: Response;
  try {
    response = await fetch(url, { signal });
  } catch (thrown) {
    throwIfAborted(signal);
    throw new LabError(
      'network',
      `Could not reach ${url} (${thrown instanceof Error ? thrown.message : thrown}). Check the address and the connection; a server elsewhere must also allow this page by CORS.`,
      { url },
    );
  }
  if (!response.ok || !response.body) {
    throw new LabError(
      'network',
      `${url} answered ${response.status} ${response.statusText}. Expected a GGUF file; check the address.`,
      { url, status: response.status },
    );
  }
  const total = Number(response.headers.get('content-length') ?? 0);
  const hash = await createSHA256();
  const parts: BlobPart[] = [];
  const reader = response.body.getReader();
  const began = performance.now();
  let bytes = 0;
  try {
    for (;;) {
      throwIfAborted(signal);
      const { done, value } = await reader.read();
      if (done) break;
      hash.update(value);
      parts.push(value);
      bytes += value.length;
      const seconds = (performance.now() - began) / 1000;
      onProgress({
        phase: 'download',
        bytes,
        total,
        bytesPerSecond: seconds > 0 ? bytes / seconds : 0,
      });
    }
  } catch (thrown) {
    throwIfAborted(signal);
    throw new LabError(
      'network',
      `The download of ${url} broke off after ${bytes} of ${total || 'an unknown number of'} bytes (${thrown instanceof Error ? thrown.message : thrown}). Nothing was kept; load it again.`,
      { url, bytes, total },
    );
  } finally {
    await reader.cancel().catch(() => {}); // already closed or failed: nothing left to release
  }
  // A content-encoding makes the length that of the compressed bytes: then it says nothing here.
  if (total > 0 && bytes !== total && !response.headers.get('content-encoding')) {
    throw new LabError(
      'bad_input',
      `${url} ended after ${bytes} of ${total} bytes. Nothing was kept; load it again.`,
      { url, bytes, total },
    );
  }
  return { blob: new Blob(parts), sha256: hash.digest() };
}
