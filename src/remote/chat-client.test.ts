/** The client against a server that fails in every way there is. */

import { describe, expect, test, vi } from 'vitest';
import { LabError, toWire } from '../errors.ts';
import { chat, type Surroundings, surroundings } from './chat-client.ts';
import { delta, done, event, finish, scriptedServer, send } from './testing-server.ts';

const never = new AbortController().signal;
const request = {
  model: 'm',
  messages: [{ role: 'user', content: 'Hi' }],
  options: { max_tokens: 4 },
} as const;
const answer = [
  delta([
    ['Hé', -0.5],
    ['llo', -1.25],
  ]),
  finish('stop'),
  done,
];

/** Waits of the client, told instead of waited. */
function quick(): { around: Surroundings; waits: number[] } {
  const waits: number[] = [];
  const around = {
    ...surroundings,
    now: () => Date.parse('2026-10-01T00:00:00.400Z'),
    pause: async (ms: number) => void waits.push(ms),
  };
  return { around, waits };
}

const endpoint = (baseUrl: string, idleMs = 5000) => ({ baseUrl, apiKey: 'secret-key', idleMs });

test('a streamed answer comes with its tokens, and the key goes in one header', async () => {
  await using server = await scriptedServer((response) => send(response, ...answer));
  const heard: string[] = [];
  const completion = await chat(endpoint(server.url), request, never, (text) => heard.push(text));
  expect(completion).toMatchObject({ text: 'Héllo', stop: 'eos', promptTokens: null });
  expect(completion.tokens.map(({ logprob }) => logprob)).toEqual([-0.5, -1.25]);
  expect(heard).toEqual(['Héllo']);
  expect(server.asked).toMatchObject([
    {
      path: '/v1/chat/completions',
      key: 'Bearer secret-key',
      body: { model: 'm', max_tokens: 4, stream: true },
    },
  ]);
});

test('an answer in one piece is read as well, and parts without choices carry counts', async () => {
  await using whole = await scriptedServer((response) => {
    response.setHeader('content-type', 'application/json; charset=utf-8');
    const choice = { message: { content: 'Hello' }, finish_reason: 'length' };
    response.end(JSON.stringify({ choices: [choice], usage: { prompt_tokens: 7 } }));
  });
  expect(await chat(endpoint(whole.url), request, never)).toMatchObject({
    ...{ text: 'Hello', stop: 'length', promptTokens: 7, tokens: [] },
  });
});

test('a stream arrives whole however its bytes are cut', async () => {
  const bytes = new TextEncoder().encode(
    `: ping\r\n\r\n${answer.join('').replaceAll('\n', '\r\n')}`,
  );
  for (const size of [1, 2, 3, 7, 64]) {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let i = 0; i < bytes.length; i += size) controller.enqueue(bytes.slice(i, i + size));
        controller.close();
      },
    });
    const around = { ...surroundings, fetch: async () => new Response(body) };
    const { text, tokens } = await chat(
      endpoint('http://h.test'),
      request,
      never,
      () => {},
      around,
    );
    expect([text, tokens.length]).toEqual(['Héllo', 2]);
  }
});

test('a stream that ends anywhere before its finish_reason is refused, never taken for an answer', async () => {
  const text = answer.join('');
  const whole = text.indexOf(done);
  for (let end = 0; end < whole; end += 9) {
    const around = { ...surroundings, fetch: async () => new Response(text.slice(0, end)) };
    const asked = chat(endpoint('http://h.test'), request, never, () => {}, around);
    await expect(asked, `cut at ${end}`).rejects.toThrow(/without any choice|was cut after/);
  }
});

test('a connection that breaks in mid-stream says how far it came', async () => {
  await using server = await scriptedServer((response) => {
    response.write(delta([['Hel', -1]]));
    setTimeout(() => response.destroy(), 50);
  });
  await expect(chat(endpoint(server.url), request, never)).rejects.toThrow(
    'cut after 3 characters',
  );
});

test('an error inside the stream is the server’s own word', async () => {
  await using server = await scriptedServer((response) =>
    send(response, delta([['a', -1]]), event({ error: { message: 'context exceeded' } })),
  );
  await expect(chat(endpoint(server.url), request, never)).rejects.toThrow('context exceeded');
});

test.each([
  [event({ choices: [] }) + done, 'without any choice'],
  ['', 'without any choice'],
  [delta([['a', -1]]) + finish('content_filter') + done, 'content_filter'],
  ['data: <html>\n\n', 'which is no JSON'],
])('the answer %j is refused', async (text, words) => {
  await using server = await scriptedServer((response) => send(response, text));
  await expect(chat(endpoint(server.url), request, never)).rejects.toThrow(words);
});

describe('refusals', () => {
  test.each([401, 403])(
    '%i is told once, not retried, and the key is nowhere in it',
    async (status) => {
      await using server = await scriptedServer((response) => {
        response.statusCode = status;
        response.end(JSON.stringify({ error: { message: 'bad key secret-key' } }));
      });
      const error = await chat(endpoint(server.url), request, never).catch(toWire);
      expect(error).toMatchObject({ code: 'bad_config' });
      expect(JSON.stringify(error)).toContain('refused the key');
      expect(JSON.stringify(error)).not.toContain('secret-key');
      expect(server.asked).toHaveLength(1);
    },
  );

  test('404 shows the whole address without its query', async () => {
    await using server = await scriptedServer((response) => {
      response.statusCode = 404;
      response.end('no such route');
    });
    const asked = chat(endpoint(`${server.url}/api?key=abc`), request, never);
    await expect(asked).rejects.toThrow(
      `${server.url}/api/v1/chat/completions was not found (404): no such route`,
    );
    await expect(asked).rejects.not.toThrow('abc');
  });

  test('429 waits as long as the server says, then the answer comes', async () => {
    const headers = ['3', 'Thu, 01 Oct 2026 00:00:05 GMT', '0', null];
    await using server = await scriptedServer((response, nth) => {
      const header = headers[nth];
      if (nth >= headers.length) return send(response, ...answer);
      response.statusCode = 429;
      if (header) response.setHeader('retry-after', header);
      response.end();
    });
    const { around, waits } = quick();
    expect((await chat(endpoint(server.url), request, never, () => {}, around)).text).toBe('Héllo');
    expect(waits).toEqual([3000, 4600, 0, 8000]);
  });

  test('tries are capped, and an hour is not waited for', async () => {
    await using full = await scriptedServer((response) => {
      response.statusCode = 503;
      response.end();
    });
    const { around, waits } = quick();
    await expect(chat(endpoint(full.url), request, never, () => {}, around)).rejects.toThrow(
      'answered 503 5 times',
    );
    expect(waits).toEqual([1000, 2000, 4000, 8000]);
    await using busy = await scriptedServer((response) => {
      response.statusCode = 429;
      response.setHeader('retry-after', '3600');
      response.end();
    });
    await expect(chat(endpoint(busy.url), request, never, () => {}, around)).rejects.toThrow(
      'asks to wait 3600 s',
    );
    expect(busy.asked).toHaveLength(1);
  });
});

describe('silence', () => {
  test('a body that stalls ends after the idle limit, and its reader is cancelled', async () => {
    const cancelled = vi.fn();
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(delta([['a', -1]]))),
      cancel: cancelled,
    });
    const around = { ...surroundings, fetch: async () => new Response(body) };
    const asked = chat(endpoint('http://h.test', 60), request, never, () => {}, around);
    await expect(asked).rejects.toMatchObject({ code: 'network', details: { stalled: true } });
    expect(cancelled).toHaveBeenCalledOnce();
  });

  test.each([
    ['an answer in one piece', 200, { details: { stalled: true } }],
    ['a refusal', 400, { details: { status: 400 } }],
  ])('%s that stalls half way ends after the idle limit too', async (_, status, expected) => {
    await using server = await scriptedServer((response) => {
      response.statusCode = status;
      response.setHeader('content-type', 'application/json');
      response.write('{"choices": [');
    });
    const asked = chat(endpoint(server.url, 60), request, never);
    await expect(asked).rejects.toMatchObject({ code: 'network', ...expected });
  });

  test('headers that never come end after the idle limit', async () => {
    await using server = await scriptedServer(() => {});
    const asked = chat(endpoint(server.url, 60), request, never);
    await expect(asked).rejects.toMatchObject({ details: { stalled: true } });
  });

  test('a slow but steady stream longer than the limit finishes', async () => {
    await using server = await scriptedServer(async (response) => {
      response.setHeader('content-type', 'text/event-stream');
      for (const part of [...'abcdefgh'].map((c) => delta([[c, -1]]))) {
        response.write(part);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      response.end(finish('stop') + done);
    });
    expect((await chat(endpoint(server.url, 600), request, never)).text).toBe('abcdefgh');
  });

  test('a stop is heard at once, in the body and in a wait between tries', async () => {
    await using server = await scriptedServer((response, nth) => {
      if (nth === 0) return void response.write(delta([['a', -1]]));
      response.statusCode = 503;
      response.setHeader('retry-after', '60');
      response.end();
    });
    for (const _ of [0, 1]) {
      const controller = new AbortController();
      const asked = chat(endpoint(server.url), request, controller.signal);
      setTimeout(() => controller.abort(), 100);
      const began = performance.now();
      await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
      expect(performance.now() - began).toBeLessThan(1000);
    }
  });
});

describe('a server that cannot be reached', () => {
  const failing = (origin: string | null): Surroundings => ({
    ...surroundings,
    origin,
    fetch: async () => {
      throw new TypeError('Failed to fetch');
    },
  });

  test('another origin is told of CORS and what to do about it', async () => {
    const around = failing('https://lab.test');
    const asked = chat(endpoint('https://h.test'), request, never, () => {}, around);
    await expect(asked).rejects.toThrow(
      /does not let pages of https:\/\/lab.test read its answers \(CORS\)/,
    );
  });

  test('plain http from a page over https is explained before it fails; this machine is fine', async () => {
    const around = failing('https://lab.test');
    const plain = chat(endpoint('http://h.test'), request, never, () => {}, around);
    await expect(plain).rejects.toThrow('mixed content');
    const own = chat(endpoint('http://127.0.0.1:8080'), request, never, () => {}, around);
    await expect(own).rejects.toThrow('No answer from');
    await expect(own).rejects.toBeInstanceOf(LabError);
  });
});
