import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LoadProgress } from '../records.ts';
import { downloadKept, dropKept, keptFile, type PartCache } from './download.ts';

const KiB = 1024;
const partBytes = 256 * KiB;
const size = 640 * KiB;
const content = Buffer.from(Uint8Array.from({ length: size }, (_, i) => (i * 7 + (i >> 9)) & 255));
const expected = createHash('sha256').update(content).digest('hex');

/** The Cache API over a map, with its own copies. */
function memoryCache(fullAfter = Number.POSITIVE_INFINITY): PartCache & { readonly size: number } {
  const entries = new Map<string, Blob>();
  return {
    get size() {
      return entries.size;
    },
    async match(url) {
      const found = entries.get(String(url));
      return found && new Response(found);
    },
    async put(url, response) {
      const blob = await response.blob();
      const held = [...entries.values()].reduce((sum, one) => sum + one.size, 0);
      if (held + blob.size > fullAfter) throw new DOMException('full', 'QuotaExceededError');
      entries.set(String(url), blob);
    },
    async delete(url) {
      return entries.delete(String(url));
    },
  };
}

interface Wish {
  /** The connection breaks after this many bytes of the answer. */
  breakAfter?: number;
  /** Sends this many bytes and then nothing more. */
  stallAfter?: number;
  /** Says nothing of ranges and answers 200. */
  noRanges?: boolean;
  etag?: string;
}

let server: Server;
let wish: Wish;
let asked: (string | undefined)[];
let url: string;

beforeEach(async () => {
  wish = {};
  asked = [];
  server = createServer((request, response) => {
    const { range } = request.headers;
    asked.push(range);
    const start = range && !wish.noRanges ? Number(/bytes=(\d+)-/.exec(range)?.[1]) : 0;
    if (start >= content.length) {
      response.writeHead(416).end();
      return;
    }
    response.writeHead(start > 0 ? 206 : 200, {
      'content-length': content.length - start,
      etag: wish.etag ?? '"one"',
    });
    if (wish.stallAfter !== undefined) response.write(content.subarray(0, wish.stallAfter));
    else if (wish.breakAfter === undefined) response.end(content.subarray(start));
    else {
      response.write(content.subarray(start, start + wish.breakAfter), () => response.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/model.gguf`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const never = new AbortController().signal;
const bytesOf = async (blob: Blob) => Buffer.from(await blob.arrayBuffer());

test('a broken download goes on where it ended, and the whole has the hash of the file', async () => {
  const cache = memoryCache();
  wish = { breakAfter: 400 * KiB };
  await expect(downloadKept(url, cache, never, () => {}, partBytes)).rejects.toMatchObject({
    code: 'network',
    message: expect.stringMatching(/broke off after \d+ of 655360 bytes.*load it again to go on/),
  });
  const kept = await keptFile(url, cache);
  expect(kept).toMatchObject({ total: size, sha256: null });
  expect(kept?.bytes).toBeGreaterThan(256 * KiB);
  wish = {};
  const reports: LoadProgress[] = [];
  const got = await downloadKept(url, cache, never, (report) => reports.push(report), partBytes);
  expect(asked).toEqual([undefined, `bytes=${kept?.bytes}-`]);
  expect(reports.at(0)?.bytes).toBeGreaterThan(256 * KiB);
  expect(reports.at(-1)).toMatchObject({ phase: 'download', bytes: size, total: size });
  expect(got).toMatchObject({ sha256: expected, fromCache: false, notKept: null });
  expect((await bytesOf(got.blob)).equals(content)).toBe(true);
});

test('an abort keeps what has come, and says nothing but aborted', async () => {
  const cache = memoryCache();
  const stop = new AbortController();
  wish = { stallAfter: 400 * KiB };
  const paused = downloadKept(
    url,
    cache,
    stop.signal,
    ({ bytes }) => {
      if (bytes > 0) stop.abort();
    },
    partBytes,
  );
  await expect(paused).rejects.toMatchObject({ code: 'aborted' });
  const kept = await keptFile(url, cache);
  expect(kept?.bytes).toBeGreaterThan(0);
  wish = {};
  const got = await downloadKept(url, cache, never, () => {}, partBytes);
  expect(asked[1]).toBe(`bytes=${kept?.bytes}-`);
  expect(got.sha256).toBe(expected);
});

test('a kept file is read without asking the server, and says so', async () => {
  const cache = memoryCache();
  await downloadKept(url, cache, never, () => {}, partBytes);
  const reports: LoadProgress[] = [];
  const got = await downloadKept(url, cache, never, (report) => reports.push(report), partBytes);
  expect(asked).toHaveLength(1);
  expect(reports.map(({ phase }) => phase)).toEqual(['cache']);
  expect(got).toMatchObject({ sha256: expected, fromCache: true });
  expect((await bytesOf(got.blob)).equals(content)).toBe(true);
});

test.each([
  ['answers without the range', { noRanges: true }],
  ['has another version by now', { etag: '"two"' }],
])('a server that %s makes it start over, and nothing of the old parts is left', async (_, now) => {
  const cache = memoryCache();
  wish = { breakAfter: 400 * KiB };
  await downloadKept(url, cache, never, () => {}, partBytes).catch(() => {});
  wish = now;
  const got = await downloadKept(url, cache, never, () => {}, partBytes);
  expect(got.sha256).toBe(expected);
  expect((await bytesOf(got.blob)).equals(content)).toBe(true);
});

test('with full storage the file is loaded from memory, and nothing half is left behind', async () => {
  const cache = memoryCache(300 * KiB);
  const got = await downloadKept(url, cache, never, () => {}, partBytes);
  expect(got).toMatchObject({ sha256: expected, notKept: 'full' });
  expect((await bytesOf(got.blob)).equals(content)).toBe(true);
  expect(cache.size).toBe(0);
});

test('deleting removes the record and every part', async () => {
  const cache = memoryCache();
  await downloadKept(url, cache, never, () => {}, partBytes);
  expect(cache.size).toBe(4); // 256 + 256 + 128 KiB and the record
  await dropKept(url, cache);
  expect(cache.size).toBe(0);
});
