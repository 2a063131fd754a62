/** Model files fetched by URL, kept in the Cache API: complete and hashed, or not there at all. */

import { createSHA256 } from 'hash-wasm';
import { LabError, throwIfAborted } from '../errors.ts';
import type { LoadProgress, StoredModel } from '../records.ts';

const cacheName = 'attt-models';
const header = { bytes: 'x-attt-bytes', sha256: 'x-attt-sha256', used: 'x-attt-used' } as const;

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
 * `bad_input` when it ends early, `aborted` on abort; then nothing is kept.
 */
export async function fetchModel(
  url: string,
  signal: AbortSignal,
  onProgress: (progress: LoadProgress) => void,
): Promise<FetchedModel> {
  const name = decodeURIComponent(url.split(/[?#]/)[0]?.split('/').pop() || 'model.gguf');
  const cache = typeof caches === 'undefined' ? null : await caches.open(cacheName);
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
  let notKept: string | null = cache ? null : 'this page has no access to the Cache API';
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
