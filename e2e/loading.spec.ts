/** What is seen before the script has come, and what its coming costs. */

import { expect, test } from '@playwright/test';
import { formatRunFile } from '../src/formats/run-file.ts';
import { playBack } from './fixtures/recorded/engine.ts';
import { madeRun } from './fixtures/recorded/household-run.ts';
import { traceWork } from './trace.ts';

// Playwright's own trace copies the document, on the thread that is measured.
test.use({ trace: 'off' });

test('loading blocks the page thread for less than 100 ms, and the first sight needs no script', {
  tag: '@timed',
}, async ({ page, browser }) => {
  await playBack(page, {});
  // The lowest of three: a cold cache of compiled code is part of a first visit, other work is not.
  const blocked: number[] = [];
  const onPhone: number[] = [];
  for (let n = 0; n < 3; n++) {
    await page.goto('about:blank');
    const stop = await traceWork(browser, page);
    await page.goto('/');
    await page.locator('.welcome .button.primary:enabled').waitFor();
    await page.locator('#side-panel .settings-files').waitFor();
    const { tasks } = await stop();
    // Lighthouse's total blocking time, in time of the thread itself; up to 100 ms it scores 97 and more.
    const blockedAt = (slower: number) =>
      tasks.reduce((sum, ms) => sum + Math.max(0, slower * ms - 50), 0);
    blocked.push(blockedAt(1));
    // Lighthouse takes a phone for four times as slow.
    onPhone.push(blockedAt(4));
  }
  console.log(`blocked while loading: ${blocked.map((ms) => ms.toFixed(0)).join(', ')} ms`);
  expect(Math.min(...blocked)).toBeLessThan(100);
  console.log(`as on a phone: ${onPhone.map((ms) => ms.toFixed(0)).join(', ')} ms`);
  // 200 ms score 90 there, and with the other figures of the phone (paint after 0.8 s, largest 2.3 s) 95 in all.
  expect(Math.min(...onPhone)).toBeLessThan(200);

  await page.route(/\.js$/, (route) => route.abort());
  await page.goto('/');
  await expect(page.getByRole('heading', { name: 'Watch a language model learn' })).toBeVisible();
  await expect(page.locator('.run-bar')).toBeVisible();
  // What cannot answer yet takes neither a click nor the focus.
  await expect(page.locator('#root')).toHaveAttribute('inert');
});

test('a file that falls before the page is drawn is opened all the same', async ({ page }) => {
  await playBack(page, {});
  await page.addInitScript(
    (text) => {
      document.addEventListener('DOMContentLoaded', () => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([text], 'early.jsonl'));
        document.documentElement.dataset.early = String(document.getElementById('root')?.inert);
        document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true }));
      });
    },
    formatRunFile(madeRun({ steps: 6, talk: 1, seed: 2 })),
  );
  await page.goto('/');
  await expect(page.locator('html')).toHaveAttribute('data-early', 'true');
  await expect(page.locator('.step').first()).toBeVisible();
});

test('a newcomer sees a model act within ten seconds of opening the page, by one click', {
  tag: '@timed',
}, async ({ page }) => {
  const began = Date.now();
  // On the processor: an emulated graphics card is slower than any that somebody has.
  await page.goto('/?backend=wasm');
  await page.getByRole('button', { name: 'Run the bundled policy' }).click();
  await page.locator('.step').first().waitFor();
  console.log(`first step on screen after ${Date.now() - began} ms`);
  expect(Date.now() - began).toBeLessThan(10_000);
});
