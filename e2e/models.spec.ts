/** Models by address, with the real engine on WASM: download, pause, reload, resume, cache, deletion, memory. */

import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { playBack } from './fixtures/recorded/engine.ts';
import { expect, test } from './live.ts';

const file = readFileSync('models/household-2m/household-2m-q4_0.gguf');

/** Serves the model from another origin, slowly after the first half, and notes what was asked for. */
function startSlowServer() {
  const asked: string[] = [];
  const state = { slow: true };
  const server: Server = createServer((request, response) => {
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
    const start = Number(range?.[1] ?? 0);
    const end = range?.[2] ? Number(range[2]) + 1 : file.length;
    if (!range?.[2]) asked.push(request.headers.range ?? 'all');
    response.writeHead(range ? 206 : 200, {
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'content-range, etag',
      'content-length': end - start,
      ...(range ? { 'content-range': `bytes ${start}-${end - 1}/${file.length}` } : {}),
      etag: '"policy"',
    });
    const half = file.length / 2;
    if (!state.slow || range?.[2] || start >= half) response.end(file.subarray(start, end));
    else response.write(file.subarray(start, half)); // and then nothing: the line is slow
  });
  return new Promise<{ server: Server; url: string; asked: string[]; state: { slow: boolean } }>(
    (resolve) => {
      server.listen(0, '127.0.0.1', () => {
        const { port } = server.address() as AddressInfo;
        resolve({ server, url: `http://127.0.0.1:${port}/policy.gguf`, asked, state });
      });
    },
  );
}

test('a download pauses, survives a reload, goes on by range, and the next load needs no network', async ({
  page,
}) => {
  const { server, url, asked, state } = await startSlowServer();
  const load = async () => {
    await page.getByPlaceholder(/gguf/).fill(url);
    await page.getByRole('button', { name: 'Load', exact: true }).click();
  };
  try {
    await page.goto('/?backend=wasm');
    await load();
    await expect(page.locator('.loading')).toContainText(/Downloading · \d+ kB of 1\.5 MB/);
    await expect(page.locator('.loading .memory')).toContainText('KV cache');
    await page.locator('.loading').getByRole('button', { name: 'Pause' }).click();
    await expect(page.locator('.stored')).toContainText(/policy\.gguf\d+ kB of 1\.5 MB/);

    await page.reload();
    state.slow = false;
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await expect(
      page.getByText('Downloaded; next time it is read from this browser.'),
    ).toBeVisible();
    expect(asked).toEqual(['all', `bytes=${file.length / 2}-`]);

    await page.reload();
    await page.locator('.stored .link').click();
    await expect(page.getByText('Read from this browser; nothing was downloaded.')).toBeVisible();
    expect(asked).toHaveLength(2);

    await page.getByText('Another model').click();
    await page.getByRole('button', { name: 'Delete all…' }).click();
    await page.getByRole('button', { name: 'Delete 1 model' }).click();
    await expect(page.locator('.stored')).toHaveCount(0);
    const left = await page.evaluate(async () =>
      (await (await caches.open('attt-models')).keys()).map(({ url }) => url),
    );
    expect(left).toEqual([]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('a model that may not fit asks first, part by part, and says what would help', async ({
  page,
}) => {
  await playBack(page, { memoryLimit: 30e6 });
  await page.goto('/');
  const picker = page.getByLabel('A GGUF file', { exact: true });
  const gguf = { name: 'large.gguf', mimeType: '', buffer: Buffer.from('GGUF') };
  await picker.setInputFiles(gguf);
  const question = page.locator('.loading-question');
  await expect(question).toContainText('needs about 46.9 MB, and there are about 30.0 MB');
  await expect(question).toContainText('a shorter context than 4,096 tokens makes it smaller');
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await expect(page.getByText('No model is loaded yet.')).toBeVisible();
  await picker.setInputFiles(gguf);
  await page.getByRole('button', { name: 'Load it anyway' }).click();
  await expect(page.locator('.model-name')).toBeVisible();
});

test('the estimate of the model in use follows context and rank as they are typed', async ({
  page,
}) => {
  await playBack(page, { modelLoaded: true });
  await page.goto('/');
  const part = (name: string) => page.locator('.memory li').filter({ hasText: name });
  await expect(part('Adam')).toContainText('786 kB');
  await page.getByLabel('LoRA rank', { exact: true }).fill('16');
  await expect(part('Adam')).toContainText('1.6 MB');
  await expect(part('KV cache')).toContainText('25.2 MB');
  await page.locator('.group').first().getByText(/more/).click();
  await page.getByLabel('Context', { exact: true }).fill('1024');
  await expect(part('KV cache')).toContainText('6.3 MB');
});

test('a model in three files loads when they are chosen together; a missing one is named', async ({
  page,
}) => {
  const shards = [1, 2, 3].map((n) => `e2e/fixtures/engine/tiny-0000${n}-of-00003.gguf`);
  await page.goto('/');
  await expect(page.getByRole('button', { name: 'GGUF file…' })).toBeEnabled({ timeout: 60_000 });
  const picker = page.getByLabel('A GGUF file', { exact: true });
  await picker.setInputFiles(shards.slice(1));
  await expect(page.getByText(/in 3 files and 1 of them is missing/)).toContainText(
    'tiny-00001-of-00003.gguf',
  );
  await picker.setInputFiles(shards);
  await expect(page.locator('.model-name')).toBeVisible({ timeout: 60_000 });
});
