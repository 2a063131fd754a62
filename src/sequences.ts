/** Async sequences: made of work that tells by a callback, and run to their result. */

/**
 * What `work` pushes, in order and as it comes; returns what it resolves to. Throws what it rejects with, after all that
 * it has pushed. Leaving the sequence ends no work: whoever leaves aborts it.
 */
export async function* pushed<T, R>(
  work: (push: (item: T) => void) => Promise<R>,
): AsyncGenerator<T, R, void> {
  const queue: T[] = [];
  let ended = false;
  let wake = () => {};
  const result = work((item) => {
    queue.push(item);
    wake();
  });
  const end = () => {
    ended = true;
    wake();
  };
  result.then(end, end);
  for (;;) {
    while (queue.length > 0) yield* queue.splice(0);
    if (ended) return await result;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}

/** Runs a sequence to its end for its result; each item on the way is waited for. */
export async function finish<T, R>(
  work: AsyncGenerator<T, R, void>,
  each?: (item: T) => unknown,
): Promise<R> {
  for (;;) {
    const { value, done } = await work.next();
    if (done === true) return value;
    await each?.(value);
  }
}
