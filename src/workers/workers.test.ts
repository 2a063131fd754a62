import { expect, test } from 'vitest';
import { LabError } from '../errors.ts';
import { connect, type Port, serve } from '../rpc.ts';
import { pushed } from '../sequences.ts';
import { EpisodeControl } from './control.ts';

interface TestApi {
  readonly calls: {
    readonly double: { readonly input: number; readonly output: number };
    readonly fail: { readonly input: null; readonly output: null };
    readonly wait: { readonly input: null; readonly output: null };
  };
  readonly streams: {
    readonly count: { readonly input: number; readonly item: number; readonly output: string };
  };
}

function pair() {
  const { port1, port2 } = new MessageChannel();
  const log: string[] = [];
  const sent: unknown[] = [];
  serve<TestApi>(port2 as unknown as Port, {
    calls: {
      double: (n) => n * 2,
      fail: () => {
        throw new LabError('not_found', 'no such thing', { id: 'x' });
      },
      wait: (_input, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new LabError('aborted', 'Stopped.')));
        }),
    },
    streams: {
      async *count(n, signal) {
        for (let i = 0; i < n && !signal.aborted; i++) {
          yield i;
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
        log.push(signal.aborted ? 'aborted' : 'finished');
        return 'end';
      },
    },
  });
  const post = port1.postMessage.bind(port1);
  port1.postMessage = (message: unknown) => {
    post(message);
    sent.push(message);
  };
  const client = connect<TestApi>(port1 as unknown as Port);
  return { client, log, sent, close: () => port1.close() };
}

test('calls return values, and errors keep their code, message and details', async () => {
  const { client, close } = pair();
  expect(await client.call('double', 21)).toBe(42);
  await expect(client.call('fail', null)).rejects.toMatchObject({
    code: 'not_found',
    message: 'no such thing',
    details: { id: 'x' },
  });
  close();
});

test('a stream yields its items in order and ends with its result', async () => {
  const { client, close } = pair();
  const stream = client.stream('count', 3);
  const seen: number[] = [];
  for (;;) {
    const next = await stream.next();
    if (next.done) {
      expect(next.value).toBe('end');
      break;
    }
    seen.push(next.value);
  }
  expect(seen).toEqual([0, 1, 2]);
  close();
});

test('leaving a stream and aborting a call both reach the other side', async () => {
  const { client, log, close } = pair();
  for await (const n of client.stream('count', 1000)) if (n === 2) break;
  await expect.poll(() => log).toEqual(['aborted']);
  const controller = new AbortController();
  const waiting = client.call('wait', null, { signal: controller.signal });
  controller.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'aborted' });
  close();
});

test('a signal that outlives its calls tells the other side nothing of those that have ended', async () => {
  const { client, sent, close } = pair();
  const controller = new AbortController();
  await client.call('double', 1, { signal: controller.signal });
  await client.call('fail', null, { signal: controller.signal }).catch(() => {});
  for await (const _ of client.stream('count', 2, { signal: controller.signal }));
  for await (const _ of client.stream('count', 1000, { signal: controller.signal })) break;
  const before = sent.length;
  controller.abort();
  expect(sent).toHaveLength(before);
  close();
});

test('what cannot cross the port rejects as a LabError, calls and streams alike', async () => {
  const { client, close } = pair();
  const uncloneable = (() => 1) as unknown as number; // no type can say what structuredClone refuses
  const wrong = { name: 'LabError', code: 'internal' };
  await expect(client.call('double', uncloneable)).rejects.toMatchObject(wrong);
  await expect(client.stream('count', uncloneable).next()).rejects.toMatchObject(wrong);
  close();
});

test('when the worker dies everything in flight and everything later is refused', async () => {
  const { client, close } = pair();
  const waiting = client.call('wait', null);
  const stream = client.stream('count', 1000);
  await stream.next();
  client.fail(new LabError('internal', 'The engine worker died.'));
  await expect(waiting).rejects.toThrow('died');
  await expect(client.call('double', 1)).rejects.toThrow('died');
  await expect(
    (async () => {
      for await (const _ of stream);
    })(),
  ).rejects.toThrow('died');
  close();
});

test('what work pushed before its failure comes out, then the failure', async () => {
  const items = pushed<number, never>(async (push) => {
    push(1);
    push(2);
    throw new Error('broken');
  });
  const seen: number[] = [];
  const read = async () => {
    for await (const n of items) seen.push(n);
  };
  await expect(read()).rejects.toThrow('broken');
  expect(seen).toEqual([1, 2]);
});

test('what work pushes between two reads waits, and what it resolves to comes last', async () => {
  const items = pushed<number, string>(async (push) => {
    for (let n = 1; n <= 3; n++) {
      push(n);
      if (n === 2) await new Promise((resolve) => setTimeout(resolve));
    }
    return 'done';
  });
  const turns = [];
  for (let turn = await items.next(); ; turn = await items.next()) {
    turns.push(turn.value);
    if (turn.done) break;
  }
  expect(turns).toEqual([1, 2, 3, 'done']);
});

test('a paused episode waits; step lets one through; orders run while paused; stop ends the wait', async () => {
  const control = new EpisodeControl();
  const next = () => control.next(control.signal, () => paused++);
  let paused = 0;
  expect(await next()).toBe('continue');
  control.apply('pause');
  const waiting = next();
  control.apply('update_now');
  expect(await waiting).toBe('update_now');
  expect(paused).toBe(1);
  control.apply('step');
  expect(await next()).toBe('continue');
  const again = next();
  control.apply('stop');
  await expect(again).rejects.toMatchObject({ code: 'aborted' });
});

test('steps that were asked for and not taken are forgotten when the episode goes on or pauses again', async () => {
  const control = new EpisodeControl();
  let paused = 0;
  const next = () => control.next(control.signal, () => paused++);
  for (const then of ['resume', 'pause'] as const) {
    control.apply('step');
    control.apply('step');
    control.apply(then);
    if (then === 'resume') expect(await next()).toBe('continue');
    control.apply('pause');
    const waiting = next();
    await new Promise((resolve) => setTimeout(resolve));
    expect(paused).toBe(then === 'resume' ? 1 : 2);
    control.apply('resume');
    expect(await waiting).toBe('continue');
  }
});
