/** Without a network: after one visit everything is there, and nothing ever leaves the origin. */

import { expect, test } from './live.ts';

test.use({ serviceWorkers: 'allow' });

test('after the first visit the page opens and runs an episode without a network', async ({
  page,
  context,
  baseURL,
}) => {
  const outside: string[] = [];
  context.on('request', (request) => {
    if (!request.url().startsWith(baseURL ?? '')) outside.push(request.url());
  });
  await page.goto('/?backend=wasm');
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
  await context.setOffline(true);
  await page.reload();
  // Threads compute there as well: what was kept has its headers.
  expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
  await page.getByRole('button', { name: 'Open a recorded run' }).click();
  await expect(page.locator('.recharts-surface').first()).toBeVisible();
  await page.getByRole('button', { name: 'Run', exact: true }).first().click();
  await expect(page.locator('.step[data-step="1"]')).toBeVisible({ timeout: 90_000 });
  await page.getByRole('button', { name: 'Stop' }).click();
  expect(outside.filter((url) => url.startsWith('http'))).toEqual([]);
});
