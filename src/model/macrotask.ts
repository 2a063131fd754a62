/** Gives the event loop a turn, so that messages (an abort, say) arrive; knows nothing of who waits. */

/**
 * Resolves in a later macrotask. A promise chain alone never lets a message in; timers are
 * throttled in hidden tabs, a MessageChannel (browser) or setImmediate (Node) is not.
 */
export function nextMacrotask(): Promise<void> {
  if (typeof setImmediate === 'function') return new Promise((resolve) => setImmediate(resolve));
  return new Promise((resolve) => {
    waiting.push(resolve);
    channel ??= openChannel();
    channel.postMessage(null);
  });
}

const waiting: (() => void)[] = [];
let channel: MessagePort | null = null;

function openChannel(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => waiting.shift()?.();
  return port2;
}
