/** An engine for tests of what the page does: each call and stream answers when the test says so. */

import { LabError } from '../errors.ts';
import type { CallOptions } from '../rpc.ts';

/** One question of the page that waits for its answer. */
export interface Asked {
  readonly name: string;
  readonly input: unknown;
  readonly signal: AbortSignal | undefined;
  answer(value: unknown): void;
  fail(error: LabError): void;
  /** Of a stream: one more item. */
  item(value: unknown): void;
}

/** A client of the engine's whose answers come from the test; what is in `at once` is answered without it. */
export function testingEngine(atOnce: Readonly<Record<string, unknown>> = {}) {
  const asked: Asked[] = [];
  const ask = (name: string, input: unknown, options: CallOptions = {}) => {
    const items: unknown[] = [];
    let wake = () => {};
    const { signal } = options;
    const end = new Promise<unknown>((resolve, reject) => {
      const fail = (error: LabError) => reject(error);
      signal?.addEventListener('abort', () => fail(new LabError('aborted', 'Stopped.')));
      asked.push({
        ...{ name, input, signal, answer: resolve, fail },
        item(value) {
          items.push(value);
          wake();
        },
      });
      if (name in atOnce) resolve(atOnce[name]);
    });
    end.catch(() => {}); // the page hears of it where it waits
    const next = () =>
      new Promise<void>((resolve) => {
        wake = resolve;
      });
    return { end, items, next };
  };
  return {
    /** All that was asked, in order. */
    asked,
    /** The newest question of this name; waits for it a moment. */
    async newest(name: string): Promise<Asked> {
      await settled();
      const found = asked.findLast((one) => one.name === name);
      if (!found) throw new Error(`nothing asked ${name}`);
      return found;
    },
    client: {
      call: (name: string, input: unknown, options?: CallOptions) => ask(name, input, options).end,
      async *stream(name: string, input: unknown, options?: CallOptions) {
        const { end, items, next } = ask(name, input, options);
        const ended = end.then(
          () => true,
          () => true,
        );
        for (;;) {
          while (items.length > 0) yield items.shift();
          if (await Promise.race([ended, next()])) break;
        }
        yield* items;
        return await end;
      },
    },
  };
}

/** Lets everything that waits for nothing but promises go on. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
