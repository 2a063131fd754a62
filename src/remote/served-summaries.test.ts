/** A served summary model against a scripted server: what it is asked, and how each fault is told. */

import { expect, test } from 'vitest';
import { defaultSettings } from '../config.ts';
import { deriveRng } from '../math/rng.ts';
import type { StepTaken } from '../records.ts';
import { surroundings } from './chat-client.ts';
import { probeSummaries, servedSummaries } from './served-summaries.ts';
import {
  delta,
  done,
  event,
  finish,
  type ScriptedServer,
  scriptedServer,
  send,
} from './testing-server.ts';

const { signal } = new AbortController();
const encode = (text: string) => [...text].map((c) => c.codePointAt(0) ?? 0);
const step = (t: number, thought: string): StepTaken => ({
  type: 'step',
  seq: t,
  t,
  generation: { promptTokens: 1, ids: [], logprobs: [], text: `Thought: ${thought}`, stop: 'eos' },
  ...{ thought, action: 'look', actionClass: 'effective', observation: `You see ${t}.` },
  ...{ observationIds: [], observationSpan: [0, 0], reward: 0, terminated: false },
  ...{ stateHash: '', repetition: 0 },
});
const trajectory = (...thoughts: readonly string[]) => ({
  task: 'Task: look around.',
  steps: thoughts.map((thought, i) => step(i + 1, thought)),
  prior: { head: [], turns: [] },
});

function writing(url: string, over: Partial<typeof defaultSettings> = {}, timeout = 10) {
  const pauses: number[] = [];
  const around = {
    ...surroundings,
    pause: async (ms: number) => {
      pauses.push(ms);
    },
  };
  const ref = { baseUrl: url, model: 'teller', apiKey: 'secret-key', timeout };
  const write = (...thoughts: readonly string[]) =>
    servedSummaries(ref, encode, around).write(
      trajectory(...thoughts),
      { ...defaultSettings, ...over },
      deriveRng(1, 'summary'),
      signal,
    );
  return { write, pauses };
}

/** What the model was asked first, without the system text. */
function questionOf({ asked }: ScriptedServer): string {
  const messages = asked[0]?.body.messages;
  return Array.isArray(messages) ? messages[1]?.content : '';
}

test('the model reads task and steps, and its whole answer is the text', async () => {
  await using server = await scriptedServer((response) =>
    send(response, delta([[' It looked', -1]]), delta([[' around. ', -1]]), finish('length'), done),
  );
  const { write } = writing(server.url);
  expect(await write('go', 'stay')).toEqual({
    model: 'teller',
    text: 'It looked around.',
    ids: encode('It looked around.'),
    stop: 'length',
  });
  const [asked] = server.asked;
  expect(asked).toMatchObject({
    path: '/v1/chat/completions',
    key: 'Bearer secret-key',
    body: { model: 'teller', temperature: 0.2, max_tokens: 512, stream: true },
  });
  expect(questionOf(server)).toMatch(
    /^Task: look around\.\n\nStep 1\nThought: go\nSeen: You see 1\.\n\nStep 2\nThought: stay\nSeen: You see 2\.\n\nIn a few sentences/,
  );
});

test('of a long trajectory the earliest steps are left out, and the model is told', async () => {
  await using server = await scriptedServer((response) =>
    send(response, delta([['ok', -1]]), finish('stop'), done),
  );
  const long = 'x'.repeat(150);
  await writing(server.url, { context_length: 128 }).write(long, long, long, 'last'); // 384 characters
  expect(questionOf(server)).toContain('(The first 2 steps are left out.)\n\nStep 3');
});

test.each([
  ['a cut answer', [delta([['half', -1]])], /cut after 4 characters/],
  ['an answer without choices', [event({ choices: [] }), done], /without any choice/],
  ['an error in mid-stream', [event({ error: { message: 'out of memory' } })], /out of memory/],
  ['a stop by a filter', [delta([['a', -1]]), finish('content_filter'), done], /content_filter/],
] as const)('%s is named with the step, and nothing of it is used', async (_, parts, message) => {
  await using server = await scriptedServer((response) => send(response, ...parts));
  const { write } = writing(server.url);
  await expect(write('go', 'stay')).rejects.toMatchObject({
    code: 'network',
    message: expect.stringMatching(message),
  });
  await expect(write('go', 'stay')).rejects.toThrow(/^No summary of the first 2 steps came\. /);
});

test('a busy server is asked again when it says, a silent one is given up, a refused key is not retried', async () => {
  await using busy = await scriptedServer((response, nth) => {
    if (nth === 0) response.writeHead(429, { 'retry-after': '3' }).end('{}');
    else send(response, delta([['ok', -1]]), finish('stop'), done);
  });
  const first = writing(busy.url);
  expect((await first.write('go')).text).toBe('ok');
  expect(first.pauses).toEqual([3000]);

  await using silent = await scriptedServer((response) => {
    response.setHeader('content-type', 'text/event-stream');
    response.write(delta([['half', -1]]));
  });
  await expect(writing(silent.url, {}, 0.3).write('go')).rejects.toThrow('nothing for 0.3 s');

  await using shut = await scriptedServer((response) => {
    response.writeHead(401).end('{"error": {"message": "bad key secret-key"}}');
  });
  const refused = writing(shut.url).write('go');
  await expect(refused).rejects.toMatchObject({
    code: 'bad_config',
    message: expect.not.stringContaining('secret-key'),
  });
  expect(shut.asked).toHaveLength(1);
});

test('a connection is tried with one token, and log-probabilities are not asked for', async () => {
  await using server = await scriptedServer((response) =>
    send(
      response,
      event({ choices: [{ delta: { content: 'a' }, finish_reason: 'length' }] }),
      done,
    ),
  );
  const ref = { baseUrl: `${server.url}/v1/`, model: 'teller', apiKey: null, timeout: 5 };
  await probeSummaries(ref, signal);
  expect(server.asked[0]?.body).toMatchObject({ max_tokens: 1 });
  expect(server.asked[0]?.body).not.toHaveProperty('logprobs');
  await expect(probeSummaries({ ...ref, baseUrl: 'ftp://h' }, signal)).rejects.toMatchObject({
    code: 'bad_config',
  });
});
