/** Typed calls and streams over a message port: cancellable, and errors cross as plain data. */

import { fromWire, LabError, toWire, type WireError } from './errors.ts';
import { pushed } from './sequences.ts';

/** One page of types describes a worker: what each call takes and gives, what each stream yields. */
export interface ApiTypes {
  readonly calls: Record<string, { readonly input: unknown; readonly output: unknown }>;
  readonly streams: Record<
    string,
    { readonly input: unknown; readonly item: unknown; readonly output: unknown }
  >;
}

/** The serving side of an API: one function a call, one async generator a stream. */
export interface Handlers<A extends ApiTypes> {
  readonly calls: {
    readonly [K in keyof A['calls']]: (
      input: A['calls'][K]['input'],
      signal: AbortSignal,
    ) => Promise<A['calls'][K]['output']> | A['calls'][K]['output'];
  };
  readonly streams: {
    readonly [K in keyof A['streams']]: (
      input: A['streams'][K]['input'],
      signal: AbortSignal,
    ) => AsyncGenerator<A['streams'][K]['item'], A['streams'][K]['output'], void>;
  };
}

/** The calling side. Both reject with LabError; an abort rejects with code `aborted`. */
export interface Client<A extends ApiTypes> {
  call<K extends keyof A['calls'] & string>(
    name: K,
    input: A['calls'][K]['input'],
    options?: CallOptions,
  ): Promise<A['calls'][K]['output']>;
  stream<K extends keyof A['streams'] & string>(
    name: K,
    input: A['streams'][K]['input'],
    options?: CallOptions,
  ): AsyncGenerator<A['streams'][K]['item'], A['streams'][K]['output'], void>;
  /** Rejects everything in flight with this error, and everything asked later. */
  fail(error: LabError): void;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly transfer?: Transferable[];
}

/** What a Worker, a MessagePort and Node's parentPort wrapper have in common. */
export interface Port {
  postMessage(message: unknown, transfer?: Transferable[]): void;
  onmessage: ((event: MessageEvent) => unknown) | null;
}

type Request =
  | {
      readonly type: 'call' | 'stream';
      readonly id: number;
      readonly name: string;
      readonly input: unknown;
    }
  | { readonly type: 'abort'; readonly id: number };
type Reply =
  | { readonly type: 'item'; readonly id: number; readonly value: unknown }
  | { readonly type: 'done'; readonly id: number; readonly value: unknown }
  | { readonly type: 'error'; readonly id: number; readonly error: WireError };

/** Answers requests on a port until it is closed. */
export function serve<A extends ApiTypes>(port: Port, handlers: Handlers<A>): void {
  const running = new Map<number, AbortController>();
  const reply = (message: Reply) => port.postMessage(message);
  port.onmessage = async (event) => {
    const request = event.data as Request; // our own client is the only sender on this port
    if (request.type === 'abort') {
      running.get(request.id)?.abort();
      return;
    }
    const { id, name, input } = request;
    const controller = new AbortController();
    running.set(id, controller);
    try {
      if (request.type === 'call') {
        const handler = handlers.calls[name];
        if (!handler) throw unknownName(name);
        reply({ type: 'done', id, value: await handler(input, controller.signal) });
      } else {
        const handler = handlers.streams[name];
        if (!handler) throw unknownName(name);
        const items = handler(input, controller.signal);
        for (;;) {
          const next = await items.next();
          if (next.done) {
            reply({ type: 'done', id, value: next.value });
            break;
          }
          reply({ type: 'item', id, value: next.value });
        }
      }
    } catch (thrown) {
      reply({ type: 'error', id, error: toWire(thrown) });
    } finally {
      running.delete(id);
    }
  };
}

interface Pending {
  item(value: unknown): void;
  done(value: unknown): void;
  error(error: LabError): void;
}

/** A client for the API served at the other end of the port. Late replies to settled ids are dropped. */
export function connect<A extends ApiTypes>(port: Port): Client<A> {
  const pending = new Map<number, Pending>();
  let nextId = 1;
  let broken: LabError | null = null;
  port.onmessage = (event) => {
    const reply = event.data as Reply; // our own server is the only sender on this port
    const waiting = pending.get(reply.id);
    if (!waiting) return;
    if (reply.type === 'item') {
      waiting.item(reply.value);
      return;
    }
    pending.delete(reply.id);
    if (reply.type === 'done') waiting.done(reply.value);
    else waiting.error(fromWire(reply.error));
  };
  const send = (
    type: 'call' | 'stream',
    name: string,
    input: unknown,
    options: CallOptions,
    waiting: Pending,
  ): number => {
    const id = nextId++;
    if (broken) {
      waiting.error(broken);
      return id;
    }
    const abort = () => port.postMessage({ type: 'abort', id } satisfies Request);
    const release = () => options.signal?.removeEventListener('abort', abort);
    pending.set(id, {
      item: waiting.item,
      done(value) {
        release();
        waiting.done(value);
      },
      error(error) {
        release();
        waiting.error(error);
      },
    });
    try {
      port.postMessage({ type, id, name, input } satisfies Request, options.transfer ?? []);
    } catch (thrown) {
      pending.delete(id); // what cannot be cloned was never sent
      waiting.error(fromWire(toWire(thrown)));
      return id;
    }
    if (options.signal?.aborted) abort();
    else options.signal?.addEventListener('abort', abort, { once: true });
    return id;
  };
  return {
    call(name, input, options = {}) {
      return new Promise((resolve, reject) => {
        send('call', name, input, options, {
          item: () => {},
          done: (value) => resolve(value as never), // the server's handler for this name is typed so
          error: reject,
        });
      });
    },
    async *stream(name, input, options = {}) {
      let id = 0;
      try {
        return yield* pushed(
          (push) =>
            new Promise((resolve, reject) => {
              id = send('stream', name, input, options, {
                item: (value) => push(value as never), // typed by the server's handler, both
                done: (value) => resolve(value as never),
                error: reject,
              });
            }),
        );
      } finally {
        const left = pending.get(id);
        if (left) {
          pending.delete(id);
          left.error(new LabError('aborted', 'Stopped.'));
          port.postMessage({ type: 'abort', id } satisfies Request);
        }
      }
    },
    fail(error) {
      broken = error;
      const waiting = [...pending.values()];
      pending.clear();
      for (const one of waiting) one.error(error);
    },
  };
}

function unknownName(name: string): LabError {
  return new LabError('internal', `The worker has no call named "${name}".`);
}
