/** Update text "summary" on the page: a server writes it, the policy trains on it, and nobody keeps the key. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expectClean } from './axe.ts';
import { expect, test } from './live.ts';

/** Answers with the next of some texts as a stream, or with the status that is set; notes keys. */
async function startTeller() {
  const keys: (string | undefined)[] = [];
  const state = { status: 200, told: 0 };
  const server = createServer((request, response) => {
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('access-control-allow-headers', '*, authorization');
    if (request.method === 'OPTIONS') return response.writeHead(204).end();
    keys.push(request.headers.authorization);
    if (state.status !== 200) return response.writeHead(state.status).end('{}');
    const text = `It looked at place${state.told++} and found nothing new.`;
    const part = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
    response.setHeader('content-type', 'text/event-stream');
    return response.end(
      part({ choices: [{ delta: { content: text }, finish_reason: null }] }) +
        part({ choices: [{ delta: {}, finish_reason: 'stop' }] }) +
        'data: [DONE]\n\n',
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { server, url: `http://127.0.0.1:${port}`, keys, state };
}

test('a server writes summaries, the policy trains on them, and the key stays in the tab', async ({
  page,
}) => {
  test.setTimeout(240_000);
  const { server, url, keys, state } = await startTeller();
  try {
    await page.goto(
      '/?backend=wasm#text_source=summary&update_interval_k=2&min_steps_before_first_update=2&step_limit=2&max_tokens=12',
    );
    const connect = async (key: string) => {
      await page.getByLabel('Address of the summary server').fill(url);
      await page.getByLabel('Name of the model on the summary server').fill('teller');
      await page.getByLabel('Key of the summary server').fill(key);
      await page.locator('.settings').getByRole('button', { name: 'Connect' }).click();
    };
    state.status = 401;
    await connect('wrong-key');
    await expect(page.getByText(/refused the key \(401\)/)).toBeVisible();
    state.status = 200;
    await connect('secret-key');
    await expect(page.getByText(/writes the summaries/)).toBeVisible();
    await expect(page.getByText(/refused the key/)).toHaveCount(0); // it went well since
    await expectClean(page);

    await page.getByRole('button', { name: 'Run the bundled policy' }).click();
    await expect(page.locator('.run-end')).toBeVisible({ timeout: 200_000 });
    await expect(page.locator('main')).toContainText(/It looked at place1 and found nothing new/);
    expect(keys).toEqual(['Bearer wrong-key', 'Bearer secret-key', 'Bearer secret-key']);
    const kept = await page.evaluate(async () => {
      const names = (await indexedDB.databases()).map(({ name }) => name ?? '');
      const found: string[] = [location.href, JSON.stringify({ ...localStorage })];
      for (const name of names) {
        const open = indexedDB.open(name);
        await new Promise((resolve) => {
          open.onsuccess = resolve;
        });
        for (const store of open.result.objectStoreNames) {
          const all = open.result.transaction(store).objectStore(store).getAll();
          await new Promise((resolve) => {
            all.onsuccess = resolve;
          });
          found.push(JSON.stringify(all.result));
        }
      }
      return found.join(' ');
    });
    expect(kept).toContain('It looked at place1'); // the run is kept
    expect(kept).not.toContain('secret-key');
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
