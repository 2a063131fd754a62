/** Turns callbacks into an async sequence: what is pushed comes out in order, then the end or the error. */

export interface Channel<T> {
  push(item: T): void;
  close(): void;
  fail(error: unknown): void;
  /** Everything pushed, once; throws what `fail` was given. */
  items(): AsyncGenerator<T, void, void>;
}

export function createChannel<T>(): Channel<T> {
  const queue: T[] = [];
  let ended = false;
  let failure: { readonly error: unknown } | null = null;
  let wake = () => {};
  return {
    push(item) {
      queue.push(item);
      wake();
    },
    close() {
      ended = true;
      wake();
    },
    fail(error) {
      failure = { error };
      wake();
    },
    async *items() {
      for (;;) {
        while (queue.length > 0) yield* queue.splice(0);
        if (failure) throw failure.error;
        if (ended) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
