/** Threads for the kernels on WASM: the page is isolated, says how many compute, and keeps none behind. */

import type { Page } from '@playwright/test';
import { expect, test } from './live.ts';

const helpers = (page: Page) => page.workers().filter((worker) => worker.url().includes('kernels'));

test('an isolated page computes with threads, says so, and ends them with the engine', async ({
  page,
}) => {
  await page.goto('/?backend=wasm&threads=3');
  expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
  await page.getByRole('button', { name: /details/ }).click();
  const card = page.getByRole('dialog');
  await expect(card).toContainText('wasm simd, 3 threads');
  await expect(card.getByText('3 threads compute')).toBeVisible();
  await expect.poll(() => helpers(page).length).toBe(2);
  const before = helpers(page);
  await card.getByRole('button', { name: 'Restart the engine' }).click();
  // Two new ones in place of the two.
  await expect.poll(() => helpers(page).filter((each) => !before.includes(each)).length).toBe(2);
  await expect.poll(() => helpers(page).length).toBe(2);
});

test('one thread is enough where it is asked for, and no other is started', async ({ page }) => {
  await page.goto('/?backend=wasm&threads=1');
  await page.getByRole('button', { name: /details/ }).click();
  await expect(page.getByRole('dialog')).toContainText('wasm simd, 1 thread');
  await expect(page.getByText('one thread computes, as asked')).toBeVisible();
  expect(helpers(page)).toEqual([]);
});
