/** A served model as the loop's policy, against a scripted server. */

import { expect, test } from 'vitest';
import { defaultSettings } from '../config.ts';
import { deriveRng } from '../math/rng.ts';
import { probeRemote, remoteEpisode } from './remote-policy.ts';
import {
  delta,
  done,
  finish,
  type ScriptedServer,
  scriptedServer,
  send,
} from './testing-server.ts';

const { signal } = new AbortController();
const task = { env: 'household/ALFWorld-v0.4', split: 'train', index: 0 };
const settings = { ...defaultSettings, method: 'frozen', temperature: 0.5 } as const;
const ref = ({ url: baseUrl }: ScriptedServer) => ({
  baseUrl,
  model: 'm',
  apiKey: null,
  timeout: 5,
  name: 'm',
  options: {},
});

test('the conversation is sent as messages, turn by turn, and what was sampled comes back as ids', async () => {
  const turns = [
    [
      ['Thought', -0.1],
      [': go', -0.2],
      ['<|im_end|>', -0.3],
    ],
    [['stay', -1]],
  ] as const;
  await using server = await scriptedServer((response, nth) => {
    const text = delta(turns[nth] ?? []).replace('<|im_end|>"}', '"}'); // in the list, not in the text
    send(response, nth === 0 ? text : delta(turns[1]), finish('stop'), done);
  });
  const { policy, learner, manifest } = remoteEpisode(ref(server), task, settings, false);
  const head = policy.begin([{ role: 'user', content: 'Task: find it\n' }]);
  const rng = () => deriveRng(1, 'sample');
  const heard: string[] = [];
  const first = await policy.generate(head, settings, 9, rng(), signal, (_, text) =>
    heard.push(text),
  );
  expect(first).toMatchObject({ logprobs: [-0.1, -0.2], text: 'Thought: go', stop: 'eos' });
  expect(learner.decode(first.ids)).toBe('Thought: go');
  expect(heard).toEqual(['Thought: go']);

  const message = { role: 'user', content: 'You see ü.' } as const;
  const { ids, content } = policy.follow(first, message);
  expect(learner.decode(ids.slice(...content))).toBe('You see ü.');
  await policy.generate([...head, ...first.ids, ...ids], settings, 9, rng(), signal, () => {});
  expect(server.asked.map(({ body }) => body.messages)).toEqual([
    [{ role: 'user', content: 'Task: find it\n' }],
    [
      { role: 'user', content: 'Task: find it\n' },
      { role: 'assistant', content: 'Thought: go' },
      message,
    ],
  ]);
  const [asked] = server.asked;
  expect(asked?.body).toMatchObject({
    temperature: 0.5,
    top_k: 0,
    min_p: 0,
    // A server would take its own where 1 is not said, and llama.cpp the last 64 tokens.
    repetition_penalty: 1,
    repeat_penalty: 1,
    repeat_last_n: settings.context_length,
    presence_penalty: 0,
    frequency_penalty: 0,
    max_tokens: 9,
    logprobs: true,
  });
  expect(server.asked[1]?.body.seed).toBe(asked?.body.seed); // equal streams, equal draws
  expect(manifest).toMatchObject({ backend: 'remote', modelName: 'm', device: `${server.url}/v1` });
});

test('methods that change weights are refused with the reason; observing is not', async () => {
  const remote = {
    ...{ baseUrl: 'http://h.test', model: 'm', apiKey: null, timeout: 5 },
    ...{ name: 'm', options: {} },
  };
  const trains = { ...defaultSettings };
  expect(() => remoteEpisode(remote, task, trains, true)).toThrow(
    /cannot be written from here, so attt cannot train/,
  );
  const observing = remoteEpisode(remote, task, { ...trains, observe_only: true }, true);
  const text = { context: [], ids: [4, 5], weights: [0, 1] };
  expect(await observing.learner.measure(text, signal)).toEqual([null, null]);
  await expect(observing.learner.train([text], trains, signal, () => {})).rejects.toMatchObject({
    code: 'unsupported',
  });
  expect((await observing.learner.snapshot()).adapter.modules).toEqual([]);
});

test('a server without log-probabilities is refused before a run', async () => {
  await using server = await scriptedServer((response, nth) => {
    const bare = 'data: {"choices":[{"delta":{"content":"a"},"finish_reason":"length"}]}\n\n';
    send(response, nth === 0 ? bare : delta([['a', -1]]) + finish('length'), done);
  });
  await expect(probeRemote(ref(server), signal)).rejects.toThrow('no log-probabilities');
  expect(await probeRemote(ref(server), signal)).toMatchObject({
    name: 'm',
    endpoint: `${server.url}/v1`,
  });
});
