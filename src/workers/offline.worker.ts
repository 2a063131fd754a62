/**
 * The service worker: keeps every file of the page after the first visit, so that it opens without a
 * network. Knows no runs and no models by address; requests to other origins pass it by.
 */

/** Paths relative to the page, and a hash over all of them; the build writes both before this script. */
declare const PAGE_FILES: readonly string[];
declare const PAGE_VERSION: string;

/** What a service worker has of its own; the DOM's types do not know it. */
interface ServiceWorker {
  readonly registration: { readonly scope: string };
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: 'install' | 'activate', listener: (event: Extendable) => void): void;
  addEventListener(type: 'fetch', listener: (event: Fetch) => void): void;
}
interface Extendable {
  waitUntil(work: Promise<unknown>): void;
}
interface Fetch {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}

const worker = self as unknown as ServiceWorker; // typed as a Window by the DOM's library
const prefix = 'attt-page-';
const cacheName = prefix + PAGE_VERSION;
const address = (path: string) => new URL(path, worker.registration.scope).href;
const own = new Set(PAGE_FILES.map(address));

worker.addEventListener('install', (event) => {
  const fill = async () => {
    const cache = await caches.open(cacheName);
    // Past the HTTP cache: a file under an unchanged name may have changed.
    await cache.addAll(PAGE_FILES.map((path) => new Request(address(path), { cache: 'no-cache' })));
    await worker.skipWaiting();
  };
  event.waitUntil(fill());
});

worker.addEventListener('activate', (event) => {
  const tidy = async () => {
    for (const name of await caches.keys()) {
      if (name.startsWith(prefix) && name !== cacheName) await caches.delete(name);
    }
    await worker.clients.claim();
  };
  event.waitUntil(tidy());
});

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = request.mode === 'navigate' ? address('index.html') : request.url.split(/[?#]/)[0];
  if (request.method !== 'GET' || request.headers.has('range') || !url || !own.has(url)) return;
  const cached = async () => (await caches.open(cacheName)).match(url);
  const respond = async () => {
    // A name with a hash in it never changes its content; any other file may be newer on the server.
    if (url.startsWith(address('assets/'))) return (await cached()) ?? fetch(request);
    return fetch(request).catch(async (thrown: unknown) => {
      const kept = await cached();
      if (kept) return kept;
      throw thrown;
    });
  };
  event.respondWith(respond());
});
