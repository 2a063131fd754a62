/** How long to wait before a request is made again. Knows no clock: the time is handed in. */

/** Requests are made at most this often. */
export const MAX_TRIES = 5;

/** A server that wants a longer pause than this is told about, not waited for. */
export const MAX_WAIT_MS = 120_000;

/** 429 and what a server answers when it is starting, restarting or full. */
export function isPassing(status: number): boolean {
  return status === 429 || status === 500 || (status >= 502 && status <= 504);
}

/** A date begins with one; `Date.parse` takes words such as "may 3" for dates as well. */
const WEEKDAY = /^(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?[, ]/;

/**
 * Milliseconds to wait: what Retry-After says (seconds, or an HTTP date in any of its three forms,
 * rounded up; RFC 9110, 10.2.3 and 5.6.7), else 1, 2, 4, … seconds by `tries`, the number of requests made so far. Scripts of other
 * origins see no Retry-After unless the server exposes it, and back off then.
 */
export function retryDelay(header: string | null, now: number, tries: number): number {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  // The oldest form names no time zone; it means GMT too.
  const date = WEEKDAY.test(text) ? Date.parse(/GMT$/.test(text) ? text : `${text} GMT`) : NaN;
  if (Number.isFinite(date)) return Math.max(0, Math.ceil(date - now));
  return 1000 * 2 ** (tries - 1);
}

/** Resolves after `ms`; rejects with the signal's reason as soon as it fires. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}
