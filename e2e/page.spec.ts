import { expectClean } from './axe.ts';
import { expect, test } from './live.ts';

test('a recorded run opens without a GPU and is readable', async ({ page }) => {
  await page.goto('/');
  await expect(page.getByRole('button', { name: 'Run the bundled policy' })).toBeEnabled();
  await expectClean(page);
  await page.getByRole('button', { name: 'Open a recorded run' }).click();
  await expect(page.locator('.run-stats')).toBeVisible();
  await expect(page.getByText('Tokens of an update')).toBeVisible();
  await expect(page.locator('.recharts-surface').first()).toBeVisible();
  await expectClean(page);
  const wider = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
  expect(wider).toBe(false);
});

test('arrow keys walk the steps, and a token tells its weight', async ({ page }) => {
  await page.goto('/');
  await page.getByRole('button', { name: 'Open a recorded run' }).click();
  const place = page.locator('.run-bar');
  await page.keyboard.press('ArrowLeft');
  const before = await place.textContent();
  await page.keyboard.press('ArrowLeft');
  await expect.poll(() => place.textContent()).not.toBe(before);
  const token = page.locator('[data-token]').nth(3);
  await token.hover();
  await expect(page.getByText(/place 4 of/)).toBeVisible();
});

test('a dead address and a wrong file are said in words, and the page stays usable', async ({
  page,
}) => {
  await page.goto('/');
  await page.getByPlaceholder(/gguf/).fill('http://127.0.0.1:9/none.gguf');
  await page.getByRole('button', { name: 'Load', exact: true }).click();
  await expect(page.getByText(/Could not reach http:\/\/127\.0\.0\.1:9\/none\.gguf/)).toBeVisible();
  const input = page.locator('input[type=file][accept*=gguf]').first();
  await input.setInputFiles({ name: 'no.gguf', mimeType: '', buffer: Buffer.from('not a model') });
  await expect(page.getByText(/no\.gguf/).first()).toBeVisible();
  await expectClean(page);
  await page.getByRole('button', { name: 'Open a recorded run' }).click();
  await expect(page.locator('.run-stats')).toBeVisible();
});
