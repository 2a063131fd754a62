import { expect, test, vi } from 'vitest';
import { EnvHost, hostedWorld, type WorkerLike } from './env-host.ts';

const view = { observation: 'o', admissible: null, reward: 0, terminated: false, stateHash: 'h' };
type Ask = { type: string; id: number; name: string };

/** A worker whose answers the test gives by hand. */
function fakeWorkers(
  answer: (worker: WorkerLike & { dead: boolean }, ask: Ask) => void,
  after?: string,
) {
  const made: (WorkerLike & { dead: boolean })[] = [];
  const host = new EnvHost(() => {
    const worker = {
      dead: false,
      onmessage: null,
      onerror: null,
      onmessageerror: null,
      postMessage: (ask: unknown) => queueMicrotask(() => answer(worker, ask as Ask)),
      terminate: () => {
        worker.dead = true;
      },
    } as WorkerLike & { dead: boolean };
    made.push(worker);
    return worker;
  }, after);
  return { host, made };
}
const reply = (worker: WorkerLike, id: number) =>
  worker.onmessage?.({
    data: { type: 'done', id, value: { state: { n: id }, view } },
  } as MessageEvent);
const task = { env: 'e', split: 's', index: 0 };
const signal = new AbortController().signal;

test('a crash rejects both pending calls with the step in the message, and the next call gets a fresh worker', async () => {
  const { host, made } = fakeWorkers((worker, ask) => {
    if (made.length > 1) reply(worker, ask.id);
  });
  const calls = [1, 2].map((n) =>
    host.call(
      'step',
      { env: 'e', state: null, action: 'look' },
      { limitMs: 1000, what: `step ${n}` },
    ),
  );
  const settled = Promise.allSettled(calls);
  made[0]?.onerror?.({ message: 'boom' } as ErrorEvent);
  for (const one of await settled) {
    expect(one).toMatchObject({ status: 'rejected', reason: { code: 'environment' } });
    expect((one as PromiseRejectedResult).reason.message).toMatch(/crashed \(boom\) during step 1/);
  }
  expect(made[0]?.dead).toBe(true);
  await hostedWorld(host, 1000).reset(task, signal);
  expect(made).toHaveLength(2);
});

test('a world that spins is ended at the limit, and its late answer is not taken for the next step', async () => {
  vi.useFakeTimers();
  try {
    const asked: { worker: WorkerLike; id: number }[] = [];
    const { host, made } = fakeWorkers((worker, ask) => asked.push({ worker, id: ask.id }));
    const first = hostedWorld(host, 5000).step('look', signal);
    const failed = expect(first).rejects.toMatchObject({ code: 'timeout' });
    await vi.advanceTimersByTimeAsync(5000);
    await failed;
    expect(made[0]?.dead).toBe(true);
    const second = hostedWorld(host, 5000).reset(task, signal);
    await vi.advanceTimersByTimeAsync(1);
    const [late, current] = asked;
    if (late) reply(late.worker, late.id); // the dead worker's answer, same request id in its own port
    if (current) reply(current.worker, current.id);
    expect(await second).toEqual(view);
  } finally {
    vi.useRealTimers();
  }
});

test('a script that cannot be loaded and an unreadable message count as crashes', async () => {
  for (const kind of ['onerror', 'onmessageerror'] as const) {
    const { host, made } = fakeWorkers(() => {});
    const call = host.call('describe', null, { limitMs: 1000, what: 'its description' });
    made[0]?.[kind]?.({ message: '' } as ErrorEvent & MessageEvent);
    await expect(call).rejects.toMatchObject({ code: 'environment' });
  }
});

test('a question that fails ends no episode, and says so', async () => {
  const { host, made } = fakeWorkers(() => {}, 'Ask again.');
  const call = host.call('history', { task, actions: [] }, { limitMs: 1000, what: 'a question' });
  made[0]?.onerror?.({ message: 'boom' } as ErrorEvent);
  await expect(call).rejects.toThrow(
    'The environment crashed (boom) during a question. Ask again.',
  );
});

test('an abort ends the call at once', async () => {
  const { host } = fakeWorkers(() => {});
  const controller = new AbortController();
  const call = hostedWorld(host, 60_000).step('look', controller.signal);
  controller.abort();
  await expect(call).rejects.toMatchObject({ code: 'aborted' });
});

test('a crash names the call that was in flight, not the one that the worker was made for', async () => {
  const { host, made } = fakeWorkers((worker, { id, name }) => {
    if (name === 'reset') reply(worker, id);
  });
  const world = hostedWorld(host, 60_000);
  await world.reset(task, signal);
  const call = world.step('look', signal);
  made[0]?.onerror?.({ message: 'boom' } as ErrorEvent);
  await expect(call).rejects.toThrow('during step 1');
});
