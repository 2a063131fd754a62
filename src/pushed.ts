/** Turns work that tells what it does by a callback into an async sequence. */

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
