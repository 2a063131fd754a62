/** Adapters on a server's disk, against scripted servers that answer as vLLM and llama-server do. */

import { expect, test } from 'vitest';
import { withAdapter } from './served-adapter.ts';
import { scriptedServer } from './testing-server.ts';

const { signal } = new AbortController();
const ref = (baseUrl: string, adapter: string) => ({
  baseUrl: `${baseUrl}/v1`,
  model: 'base',
  apiKey: 'secret-key',
  timeout: 5,
  adapter,
});
const notFound = '{"detail": "Not Found"}';

test('without an adapter nothing is asked', async () => {
  const remote = ref('http://h.test', '');
  expect(await withAdapter(remote, signal)).toMatchObject({
    model: 'base',
    name: 'base',
    options: {},
  });
});

test('vLLM loads the folder under its own name, in place of an older one, and is then asked by that name', async () => {
  await using server = await scriptedServer((response, nth) => {
    if (nth === 0) response.writeHead(404);
    response.end('"Success"');
  });
  expect(await withAdapter(ref(server.url, '/srv/runs/mine/'), signal)).toMatchObject({
    model: 'mine',
    name: 'base + /srv/runs/mine/',
    options: {},
  });
  expect(server.asked).toEqual([
    {
      path: '/v1/unload_lora_adapter',
      key: 'Bearer secret-key',
      body: { lora_name: 'mine' },
    },
    {
      path: '/v1/load_lora_adapter',
      key: 'Bearer secret-key',
      body: { lora_name: 'mine', lora_path: '/srv/runs/mine/' },
    },
  ]);
});

test('llama-server has the named one switched on in each request, and the others off', async () => {
  await using server = await scriptedServer((response, _, { path }) => {
    if (path !== '/lora-adapters') return void response.writeHead(404).end(notFound);
    const list = ['/a.gguf', '/b.gguf'].map((file, id) => ({ id, path: file, scale: 1 }));
    response.end(JSON.stringify(list));
  });
  expect(await withAdapter(ref(server.url, '/b.gguf'), signal)).toMatchObject({
    model: 'base',
    name: 'base + /b.gguf',
    options: {
      lora: [
        { id: 0, scale: 0 },
        { id: 1, scale: 1 },
      ],
    },
  });
  await expect(withAdapter(ref(server.url, '/c.gguf'), signal)).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('it has /a.gguf, /b.gguf'),
  });
});

test('a server that can do neither, or refuses the folder, says so with what to do', async () => {
  await using server = await scriptedServer((response, _, { path }) => {
    if (path !== '/v1/load_lora_adapter') return void response.writeHead(404).end(notFound);
    response.writeHead(400).end('{"message": "LoRA rank 64 is greater than max_lora_rank 16."}');
  });
  await expect(withAdapter(ref(server.url, '/srv/mine'), signal)).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringMatching(/rank 64 is greater.*VLLM_ALLOW_RUNTIME_LORA_UPDATING/),
  });
});
