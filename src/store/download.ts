/** Downloads one file into parts that are kept as they come, so that a pause, a reload or a broken line loses nothing. */

import { createSHA256, type IHasher } from 'hash-wasm';
import { LabError, messageOf, throwIfAborted } from '../errors.ts';
import { reach } from '../formats/source.ts';
import type { LoadProgress } from '../records.ts';

/** The part of the Cache API that is used. */
export type PartCache = Pick<Cache, 'match' | 'put' | 'delete'>;

/** What is known of a kept file; complete when its hash is. */
export interface KeptFile {
  /** Bytes in parts so far. */
  readonly bytes: number;
  /** Bytes of the whole file; 0 where the server did not say. */
  readonly total: number;
  readonly parts: number;
  /** The server's name for this version of the file; null where it gave none. */
  readonly etag: string | null;
  /** Hex; null until the last byte is there. */
  readonly sha256: string | null;
  /** ISO 8601. */
  readonly used: string;
}

export interface Downloaded {
  readonly blob: Blob;
  readonly sha256: string;
  readonly fromCache: boolean;
  /** Why it could not be kept for next time; null when it was. */
  readonly notKept: string | null;
}

/** What is lost when the tab dies in mid-download, in bytes. */
const usualPartBytes = 8 * 2 ** 20;
const reportMs = 100;

/**
 * The file at a URL: from the cache when it is whole there, else the rest of it by an HTTP range
 * request. On abort or a broken line what has come is kept, and the next call goes on from there;
 * a server that answers without the range, or with another version, makes it start over. Throws
 * `network`, `bad_input` when the file ends early, `aborted`. Without a cache everything stays in memory.
 */
export async function downloadKept(
  url: string,
  cache: PartCache | null,
  signal: AbortSignal,
  onProgress: (progress: LoadProgress) => void,
  partBytes = usualPartBytes,
): Promise<Downloaded> {
  const file = new PartFile(url, cache);
  await file.open();
  if (file.kept.sha256 !== null) {
    const { bytes, sha256 } = file.kept;
    onProgress({ phase: 'cache', bytes, total: bytes, bytesPerSecond: 0 });
    await file.touch();
    return { blob: file.blob(), sha256, fromCache: true, notKept: null };
  }
  const hash = await createSHA256();
  await file.hashInto(hash, signal);
  if (file.kept.total === 0 || file.kept.bytes < file.kept.total) {
    await receive(url, file, hash, signal, onProgress, partBytes);
  }
  const sha256 = hash.digest();
  await file.finish(sha256);
  return { blob: file.blob(), sha256, fromCache: false, notKept: file.notKept };
}

/** What is kept of the file at a URL; null when nothing is. */
export async function keptFile(url: string, cache: PartCache): Promise<KeptFile | null> {
  const found = await cache.match(url);
  return found ? ((await found.json()) as KeptFile) : null; // written by PartFile alone
}

/** The whole file; null when it is not all there. */
export async function keptBlob(url: string, cache: PartCache): Promise<Blob | null> {
  const file = new PartFile(url, cache);
  await file.open();
  return file.kept.sha256 === null ? null : file.blob();
}

/** Removes a file with all its parts. */
export async function dropKept(url: string, cache: PartCache): Promise<void> {
  const kept = await keptFile(url, cache);
  await cache.delete(url);
  for (let n = 0; n < (kept?.parts ?? 0); n++) await cache.delete(partUrl(url, n));
}

/** True for the address of a part rather than of a file. */
export function isPart(url: string): boolean {
  return /[?&]attt-part=\d+$/.test(url);
}

function partUrl(url: string, n: number): string {
  return `${url}${url.includes('?') ? '&' : '?'}attt-part=${n}`;
}

const nothing: KeptFile = { bytes: 0, total: 0, parts: 0, etag: null, sha256: null, used: '' };

/** A file as a list of parts; each is in the cache before the record counts it. */
class PartFile {
  kept: KeptFile = nothing;
  /** Why parts no longer go to the cache; null while they do. */
  notKept: string | null;
  readonly #url: string;
  readonly #cache: PartCache | null;
  #parts: Blob[] = [];

  constructor(url: string, cache: PartCache | null) {
    this.#url = url;
    this.#cache = cache;
    this.notKept = cache ? null : 'this page has no access to the Cache API';
  }

  /** Takes up what an earlier download has left; a record whose parts are gone counts for nothing. */
  async open(): Promise<void> {
    if (!this.#cache) return;
    const kept = await keptFile(this.#url, this.#cache);
    if (!kept) return;
    const found = await Promise.all(
      Array.from({ length: kept.parts }, (_, n) => this.#cache?.match(partUrl(this.#url, n))),
    );
    const parts = await Promise.all(found.map((response) => response?.blob()));
    const whole = parts.filter((part) => part !== undefined);
    if (whole.reduce((sum, part) => sum + part.size, 0) !== kept.bytes) {
      await dropKept(this.#url, this.#cache);
      return;
    }
    this.kept = kept;
    this.#parts = whole;
  }

  blob(): Blob {
    return new Blob(this.#parts);
  }

  async hashInto(hash: IHasher, signal: AbortSignal): Promise<void> {
    for (const part of this.#parts) {
      throwIfAborted(signal);
      hash.update(new Uint8Array(await part.arrayBuffer()));
    }
  }

  async startOver(total: number, etag: string | null): Promise<void> {
    if (this.#cache && this.kept.parts > 0) await dropKept(this.#url, this.#cache);
    this.#parts = [];
    this.kept = { ...nothing, total, etag, used: new Date().toISOString() };
  }

  /** A part of the file; where the storage is full it stays in memory and the rest with it. */
  async append(part: Blob): Promise<void> {
    const n = this.#parts.length;
    this.#parts.push(part);
    this.kept = { ...this.kept, parts: n + 1, bytes: this.kept.bytes + part.size };
    if (!this.#cache || this.notKept !== null) return;
    try {
      await this.#cache.put(partUrl(this.#url, n), new Response(part));
      await this.#write();
      // The cache's copy lies on the disk; the one in memory can go.
      const onDisk = await (await this.#cache.match(partUrl(this.#url, n)))?.blob();
      if (onDisk?.size === part.size) this.#parts[n] = onDisk;
    } catch (thrown) {
      this.notKept = messageOf(thrown);
      // Parts that were read from the cache are deleted only after they are copied to memory.
      this.#parts = await Promise.all(
        this.#parts.map(async (one) => new Blob([await one.arrayBuffer()])),
      );
      await dropKept(this.#url, this.#cache);
    }
  }

  async finish(sha256: string): Promise<void> {
    this.kept = { ...this.kept, total: this.kept.bytes, sha256 };
    await this.touch();
  }

  /** Notes the time of use. */
  async touch(): Promise<void> {
    this.kept = { ...this.kept, used: new Date().toISOString() };
    if (this.notKept === null) await this.#write();
  }

  async #write(): Promise<void> {
    await this.#cache?.put(this.#url, new Response(JSON.stringify(this.kept)));
  }
}

/** Asks for what is missing and appends it, part by part. */
async function receive(
  url: string,
  file: PartFile,
  hash: IHasher,
  signal: AbortSignal,
  onProgress: (progress: LoadProgress) => void,
  partBytes: number,
): Promise<void> {
  const response = await ask(url, file.kept.bytes, signal);
  const length = encodedLength(response);
  const etag = response.headers.get('etag');
  if (!continues(response, file.kept, length, etag)) {
    hash.init();
    if (response.status === 206) {
      await response.body?.cancel();
      await file.startOver(0, null);
      return receive(url, file, hash, signal, onProgress, partBytes);
    }
    await file.startOver(length, etag);
  }
  const start = file.kept.bytes;
  const total = file.kept.total;
  const began = performance.now();
  let reported = 0;
  let waiting: Uint8Array<ArrayBuffer>[] = [];
  let waitingBytes = 0;
  const flush = async () => {
    const part = new Blob(waiting);
    waiting = [];
    waitingBytes = 0;
    if (part.size > 0) await file.append(part);
  };
  const report = () => {
    const now = performance.now();
    const bytes = file.kept.bytes + waitingBytes;
    if (now - reported < reportMs && bytes !== total) return;
    reported = now;
    const seconds = Math.max(1e-3, (now - began) / 1000);
    onProgress({ phase: 'download', bytes, total, bytesPerSecond: (bytes - start) / seconds });
  };
  const reader = response.body?.getReader();
  // A stalled line has to show: its speed falls while nothing comes.
  const ticker = setInterval(report, 500);
  try {
    for (;;) {
      throwIfAborted(signal);
      const next = await reader?.read();
      if (!next || next.done) break;
      hash.update(next.value);
      waiting.push(next.value);
      waitingBytes += next.value.length;
      report();
      if (waitingBytes >= partBytes) await flush();
    }
    await flush();
  } catch (thrown) {
    await flush();
    throwIfAborted(signal);
    throw brokeOff(url, file, thrown);
  } finally {
    clearInterval(ticker);
    await reader?.cancel().catch(() => {}); // already closed or failed: nothing left to release
  }
  if (total > 0 && file.kept.bytes !== total) {
    const { bytes } = file.kept;
    if (bytes > total) await file.startOver(0, null);
    throw new LabError(
      'bad_input',
      `${url} ended after ${bytes} of ${total} bytes. ${after(file, bytes < total)}`,
      { url, bytes, total },
    );
  }
}

async function ask(url: string, from: number, signal: AbortSignal): Promise<Response> {
  const response = await reach(url, {
    signal,
    cache: 'no-store', // it is kept here, and need not lie in the HTTP cache as well
    headers: from > 0 ? { range: `bytes=${from}-` } : {},
  });
  if (response.status === 416 && from > 0) return ask(url, 0, signal);
  if (!response.ok || !response.body) {
    throw new LabError(
      'network',
      `${url} answered ${response.status} ${response.statusText}. Expected a GGUF file; check the address.`,
      { url, status: response.status },
    );
  }
  return response;
}

/** The length of the body; a content-encoding makes the header that of the compressed bytes: 0, unknown. */
function encodedLength({ headers }: Response): number {
  return headers.get('content-encoding') ? 0 : Number(headers.get('content-length') ?? 0);
}

/** Does this answer go on where the kept parts end, in the same version of the file? */
function continues(
  { status }: Response,
  kept: KeptFile,
  length: number,
  etag: string | null,
): boolean {
  if (status !== 206 || kept.bytes === 0) return false;
  if (kept.etag !== null && etag !== null && kept.etag !== etag) return false;
  return kept.total > 0 && kept.bytes + length === kept.total;
}

function brokeOff(url: string, file: PartFile, thrown: unknown): LabError {
  const { bytes, total } = file.kept;
  return new LabError(
    'network',
    `The download of ${url} broke off after ${bytes} of ${total || 'an unknown number of'} bytes (${messageOf(thrown)}). ${after(file, total > 0)}`,
    { url, bytes, total },
  );
}

function after(file: PartFile, resumable: boolean): string {
  return resumable && file.notKept === null
    ? 'What has come is kept: load it again to go on from there.'
    : 'Nothing was kept; load it again.';
}
