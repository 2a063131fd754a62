/** Reads bodies off responses, server-sent events (WHATWG HTML, 9.2) or whole, and notices when they stall. */

import { LabError } from '../errors.ts';

/** One event of more than this is no token. */
const MAX_EVENT_CHARS = 4_000_000;

/**
 * The data of each event, in order; ends with the body. The reader is cancelled when the consumer
 * leaves, when `idleMs` pass without a byte (`network`), or when the signal fires.
 */
export async function* serverEvents(
  body: ReadableStream<Uint8Array>,
  idleMs: number,
  signal: AbortSignal,
): AsyncGenerator<string, void, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let data: string[] = [];
  try {
    for (;;) {
      const { done, value } = await readOrStall(reader, idleMs, signal);
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
      // A carriage return at the end may be half of a line end.
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? '';
      if (rest.length > MAX_EVENT_CHARS) {
        throw new LabError(
          'network',
          `The server sent a line of over ${MAX_EVENT_CHARS} characters.`,
        );
      }
      for (const line of lines) {
        if (line === '' && data.length > 0) {
          yield data.join('\n');
          data = [];
        } else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
      }
      if (done) return; // an event that no empty line ends is not whole
    }
  } finally {
    await reader.cancel().catch(() => {}); // it may have failed already
  }
}

/** A whole body as text, under the same limits. */
export async function bodyText(
  { body }: Response,
  idleMs: number,
  signal: AbortSignal,
): Promise<string> {
  if (!body) return '';
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await readOrStall(reader, idleMs, signal);
      if (done) return text + decoder.decode();
      text += decoder.decode(value, { stream: true });
      if (text.length > MAX_EVENT_CHARS) {
        throw new LabError(
          'network',
          `The server sent an answer of over ${MAX_EVENT_CHARS} characters.`,
        );
      }
    }
  } finally {
    await reader.cancel().catch(() => {}); // it may have failed already
  }
}

async function readOrStall(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  idleMs: number,
  signal: AbortSignal,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  signal.throwIfAborted();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stop = () => {};
  const interrupted = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(stalled(idleMs)), idleMs);
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([reader.read(), interrupted]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

/** Not `timeout`: that code means the world's own limit. */
export function stalled(idleMs: number): LabError {
  return new LabError(
    'network',
    `The server sent nothing for ${idleMs / 1000} s. It may be overloaded or gone; try again, or raise the channel's timeout.`,
    { stalled: true },
  );
}
