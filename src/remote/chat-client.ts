/**
 * Asks an OpenAI-compatible server for one chat completion. Knows retries, streams and their faults;
 * nothing of policies. A key is sent in one header and appears in no message.
 */

import { isAbort, LabError, messageOf } from '../errors.ts';
import { completionsUrl, isLoopback } from '../formats/channel.ts';
import type { ChatMessage, Json, RemoteRef } from '../records.ts';
import { type Completion, CompletionReader } from './completion.ts';
import { bodyText, serverEvents, stalled } from './event-stream.ts';
import { isPassing, MAX_TRIES, MAX_WAIT_MS, pause, retryDelay } from './retry.ts';

/** A served model and the way to it. */
export interface Endpoint {
  readonly baseUrl: string;
  /** Kept in memory for the session; null for a server without keys. */
  readonly apiKey: string | null;
  /** The longest silence, headers included. */
  readonly idleMs: number;
}

export function endpointOf({ baseUrl, apiKey, timeout }: RemoteRef): Endpoint {
  return { baseUrl, apiKey, idleMs: timeout * 1000 };
}

export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  /** What else goes into the body, under the server's own names. */
  readonly options: Readonly<Record<string, Json>>;
}

/** What the client needs of its surroundings, so that tests can stand in for them. */
export interface Surroundings {
  readonly fetch: typeof fetch;
  readonly now: () => number;
  readonly pause: typeof pause;
  /** The page's own origin; null where there is no page. */
  readonly origin: string | null;
}

export const surroundings: Surroundings = {
  fetch: (...asked) => fetch(...asked),
  now: Date.now,
  pause,
  origin: globalThis.location?.origin ?? null,
};

/**
 * One whole completion; `onText` hears it as it comes. Throws `network` where no whole answer came
 * (unreachable, cut, stalled, an error of the server), `bad_config` for a refused key or address,
 * and rejects within a moment when the signal fires. Nothing of a cut answer is ever returned.
 */
export async function chat(
  endpoint: Endpoint,
  { model, messages, options }: ChatRequest,
  signal: AbortSignal,
  onText: (text: string) => void = () => {},
  around: Surroundings = surroundings,
): Promise<Completion> {
  const url = completionsUrl(endpoint.baseUrl);
  const body = { model, messages: messages.map((one) => ({ ...one })), stream: true, ...options };
  for (let tries = 1; ; tries++) {
    const response = await send(endpoint, url, { method: 'POST', body }, signal, around);
    if (response.ok) return await readCompletion(response, endpoint, signal, onText);
    const text = await errorText(response, endpoint, signal);
    if (!isPassing(response.status)) throw refusal(response.status, url, text, endpoint);
    const wait = retryDelay(response.headers.get('retry-after'), around.now(), tries);
    if (tries >= MAX_TRIES || wait > MAX_WAIT_MS) {
      const asked = wait > MAX_WAIT_MS ? ` and asks to wait ${Math.ceil(wait / 1000)} s` : '';
      throw new LabError(
        'network',
        `${shown(url)} answered ${response.status} ${tries} times${asked}: ${reasonOf(text, endpoint)}. Try again later.`,
        { status: response.status },
      );
    }
    await around.pause(wait, signal);
  }
}

/** One request and its answer, whatever its status. Throws `network` where none comes. */
export async function send(
  { apiKey, idleMs }: Endpoint,
  url: URL,
  { method, body }: { readonly method: 'GET' | 'POST'; readonly body?: Json },
  signal: AbortSignal,
  around: Surroundings,
): Promise<Response> {
  if (around.origin?.startsWith('https:') && url.protocol === 'http:' && !isLoopback(url)) {
    throw new LabError(
      'network',
      `This page came over https, and browsers do not let it reach ${shown(url)} over plain http (mixed content). Serve the model over https, or open the page from this computer.`,
    );
  }
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(stalled(idleMs)), idleMs);
  // The body outlives the timer, which is for the headers alone.
  try {
    return await around.fetch(url, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.any([signal, silence.signal]),
      credentials: 'omit',
    });
  } catch (thrown) {
    signal.throwIfAborted();
    if (silence.signal.aborted) throw silence.signal.reason;
    throw unreachable(url, thrown, around);
  } finally {
    clearTimeout(timer);
  }
}

/** A whole completion, streamed or not. */
async function readCompletion(
  response: Response,
  { idleMs }: Endpoint,
  signal: AbortSignal,
  onText: (text: string) => void,
): Promise<Completion> {
  const reader = new CompletionReader(onText);
  if (response.headers.get('content-type')?.includes('application/json')) {
    reader.take(await wholeText(response, reader, idleMs, signal));
    return reader.finish();
  }
  if (!response.body) throw new LabError('network', 'The server answered without a body.');
  try {
    for await (const data of serverEvents(response.body, idleMs, signal)) {
      if (data.trim() === '[DONE]') break;
      reader.take(data);
    }
  } catch (thrown) {
    throw cutOff(thrown, reader, signal);
  }
  return reader.finish();
}

async function wholeText(
  response: Response,
  reader: CompletionReader,
  idleMs: number,
  signal: AbortSignal,
): Promise<string> {
  try {
    return await bodyText(response, idleMs, signal);
  } catch (thrown) {
    throw cutOff(thrown, reader, signal);
  }
}

/** A connection that broke is an answer cut off; a stop and a stalled body say so themselves. */
function cutOff(thrown: unknown, reader: CompletionReader, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (thrown instanceof LabError || isAbort(thrown)) return thrown;
  return reader.cut(messageOf(thrown));
}

/** What a refusal says; empty where even that does not come. */
export async function errorText(
  response: Response,
  { idleMs }: Endpoint,
  signal: AbortSignal,
): Promise<string> {
  try {
    return (await bodyText(response, idleMs, signal)).slice(0, 2000);
  } catch {
    signal.throwIfAborted();
    return '';
  }
}

function refusal(status: number, url: URL, text: string, endpoint: Endpoint): LabError {
  const said = reasonOf(text, endpoint);
  switch (status) {
    case 401:
    case 403:
      return new LabError(
        'bad_config',
        endpoint.apiKey === null
          ? `${shown(url)} wants a key (${status}): ${said}. Enter it and connect again.`
          : `${shown(url)} refused the key (${status}): ${said}. Check the key and connect again.`,
        { status },
      );
    case 404:
      return new LabError(
        'bad_config',
        `${shown(url)} was not found (404): ${said}. Check the address and the name of the model.`,
        { status },
      );
    default:
      return new LabError(
        'network',
        `${shown(url)} refused the request (${status}): ${said}. Check the model's name, the length of the context and the settings.`,
        { status },
      );
  }
}

/** A browser says no more than "failed to fetch", whatever the cause. */
function unreachable(url: URL, thrown: unknown, { origin }: Surroundings): LabError {
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  const why = messageOf(cause);
  const hint =
    origin === null || origin === url.origin
      ? 'Check that the server runs and that the address is right.'
      : `Either no server runs there, or it does not let pages of ${origin} read its answers (CORS). llama-server allows them by itself; vLLM wants --allowed-origins '["${origin}"]'.`;
  return new LabError('network', `No answer from ${shown(url)} (${why}). ${hint}`);
}

/** The server's own words, without a key that it may repeat. */
export function reasonOf(text: string, { apiKey }: Endpoint): string {
  const parsed = /"message"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(text)?.[1];
  const said = (parsed ?? text).replace(/\s+/g, ' ').trim().slice(0, 300);
  const safe = apiKey === null || apiKey === '' ? said : said.replaceAll(apiKey, '•••');
  return safe === '' ? 'no reason given' : safe;
}

/** An address without its query, which may hold a key. */
function shown(url: URL): string {
  return url.origin + url.pathname;
}
