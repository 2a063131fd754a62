/** Bytes that can be read by ranges, wherever they lie; knows nothing of what they mean. */

import { LabError, messageOf, throwIfAborted } from '../errors.ts';

/** A file of known size that is read by slices, never whole. */
export interface ByteSource {
  /** For messages: a file name or address. */
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  /** The files that this one is joined of, end to end; absent where it is one. */
  readonly parts?: readonly ByteSource[];
  /**
   * Exactly `length` bytes from `offset` on. The result may be a view of shared memory: callers
   * must not write to it. Rejects with `bad_input` when the range does not lie within the file.
   */
  read(offset: number, length: number): Promise<Uint8Array>;
}

/** A dropped or cached file; each read takes one slice of it. */
export function blobSource(blob: Blob, name: string): ByteSource {
  return {
    name,
    size: blob.size,
    async read(offset, length) {
      checkRange(name, blob.size, offset, length);
      const bytes = new Uint8Array(await blob.slice(offset, offset + length).arrayBuffer());
      if (bytes.length !== length) throw cutShort(name, offset, length, bytes.length);
      return bytes;
    },
  };
}

/**
 * A file behind a URL, read by HTTP ranges. Throws `network` where the server cannot be reached, or
 * does not say how long the file is, or answers without the range.
 */
export async function urlSource(url: string, signal: AbortSignal): Promise<ByteSource> {
  const range = async (offset: number, length: number) => {
    const response = await reach(url, {
      signal,
      cache: 'no-store',
      headers: { range: `bytes=${offset}-${offset + length - 1}` },
    });
    if (response.status === 206) return response;
    await response.body?.cancel();
    throw new LabError(
      'network',
      `${url} answered ${response.status} to a request for a range of bytes, expected 206.`,
      { url, status: response.status },
    );
  };
  const first = await range(0, 1);
  const size = Number(/\/(\d+)$/.exec(first.headers.get('content-range') ?? '')?.[1]);
  if (!Number.isSafeInteger(size)) {
    throw new LabError('network', `${url} does not say how long the file is.`, { url });
  }
  return {
    name: url,
    size,
    async read(offset, length) {
      checkRange(url, size, offset, length);
      const bytes = new Uint8Array(await (await range(offset, length)).arrayBuffer());
      if (bytes.length !== length) throw cutShort(url, offset, length, bytes.length);
      return bytes;
    },
  };
}

/** As fetch; a server that gives no answer is a LabError `network`, an abort stays what it is. */
export async function reach(
  url: string,
  init: { signal?: AbortSignal; cache?: RequestCache; headers?: HeadersInit } = {},
): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (thrown) {
    throwIfAborted(init.signal);
    throw new LabError(
      'network',
      `Could not reach ${url} (${messageOf(thrown)}). Check the address and the connection; a server elsewhere must also allow this page by CORS.`,
      { url },
    );
  }
}

/** Bytes that are in memory already; reads are views, not copies. */
export function bytesSource(bytes: Uint8Array, name: string): ByteSource {
  return {
    name,
    size: bytes.length,
    async read(offset, length) {
      checkRange(name, bytes.length, offset, length);
      return bytes.subarray(offset, offset + length);
    },
  };
}

/** Throws `bad_input` unless `[offset, offset + length)` lies within a file of `size` bytes. */
export function checkRange(name: string, size: number, offset: number, length: number): void {
  const whole = Number.isSafeInteger(offset) && Number.isSafeInteger(length);
  if (whole && offset >= 0 && length >= 0 && offset + length <= size) return;
  throw new LabError(
    'bad_input',
    `${name}: asked for bytes ${offset} to ${offset + length}, but the file has ${size} bytes. ` +
      'It is cut or damaged; fetch it again.',
    { name, offset, length, size },
  );
}

function cutShort(name: string, offset: number, wanted: number, got: number): LabError {
  return new LabError(
    'bad_input',
    `${name}: asked for ${wanted} bytes at ${offset} and got ${got}. ` +
      'The file changed while it was read; open it again.',
    { name, offset, wanted, got },
  );
}
