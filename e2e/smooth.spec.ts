/** The page thread is never held: while an episode runs, along the steps of a long run, and down a transcript of thousands. */

import type { Page } from '@playwright/test';
import { formatRunFile } from '../src/formats/run-file.ts';
import { playBack } from './fixtures/recorded/engine.ts';
import { type MadeRun, madeRun } from './fixtures/recorded/household-run.ts';
import { expect, test } from './live.ts';
import { pressEachFrame, traceWork } from './trace.ts';

// Playwright's own trace copies the document before and after each action, on the thread that is measured.
test.use({ trace: 'off' });

/** Opens a made run from an address, once its charts are drawn. */
async function openMade(page: Page, wish: MadeRun): Promise<void> {
  await playBack(page, { modelLoaded: true });
  await page.route(
    ({ pathname }) => pathname === '/made.jsonl',
    (route) => route.fulfill({ body: formatRunFile(madeRun(wish)) }),
  );
  await page.goto('/?run=/made.jsonl');
  await expect(page.locator('.recharts-surface')).toHaveCount(4);
  await page.keyboard.press('Home');
  await expect(page.locator('.step[data-step="1"]')).toHaveAttribute('aria-current', 'step');
}

function told(what: string, times: readonly number[]): string {
  const sorted = [...times].sort((a, b) => b - a);
  const shown = sorted.slice(0, 3).map((ms) => ms.toFixed(1));
  return `${what}: ${times.length}, the longest ${shown.join(', ')} ms, the middle one ${(sorted[Math.floor(sorted.length / 2)] ?? 0).toFixed(1)} ms`;
}

test('no task holds the page thread for more than 50 ms while an episode runs', {
  tag: '@timed',
}, async ({ page, browser }) => {
  await playBack(page, { events: madeRun({ steps: 15, seed: 4 }), tokenMs: 2, modelLoaded: true });
  await page.goto('/');
  // The first drawing of the panels is loading, not running.
  await page.getByRole('button', { name: 'Run', exact: true }).first().click();
  await expect(page.locator('.step[data-step="2"]')).toBeVisible();
  const stop = await traceWork(browser, page);
  // An assertion that waits reads the whole page at each look, in 50 ms and more of the page thread.
  await page.locator('.card.end').waitFor({ timeout: 60_000 });
  const { tasks } = await stop();
  console.log(told('tasks of an episode', tasks));
  expect(tasks.length).toBeGreaterThan(100);
  expect(tasks[0]).toBeLessThan(50);
});

test('50 steps of 300 tokens are walked at a step a frame, and no frame takes 33 ms', {
  tag: '@timed',
}, async ({ page, browser }) => {
  await openMade(page, { steps: 50, talk: 22, seed: 6 });
  await pressEachFrame(page, 'ArrowRight', 49); // once before, as in any second look
  const walk = async () => {
    await page.keyboard.press('Home');
    const stop = await traceWork(browser, page);
    await pressEachFrame(page, 'ArrowRight', 49);
    return (await stop()).frames;
  };
  // A step's cost is the lower of two: what else the machine does at that moment only ever adds to it.
  const [once, again] = [await walk(), await walk()];
  const frames = once.map((ms, i) => Math.min(ms, again[i] ?? ms));
  console.log(told('frames along the steps', frames));
  await expect(page.getByRole('slider', { name: 'Step on screen' })).toHaveAttribute(
    'aria-valuenow',
    '50',
  );
  expect(frames).toHaveLength(49);
  expect(Math.max(...frames)).toBeLessThan(33);
});

test('of a thousand steps only those near the visible ones are drawn, and each can be reached', {
  tag: ['@timed', '@long'],
}, async ({ page, browser }) => {
  await openMade(page, { steps: 1000, talk: 2, seed: 6 });
  const drawn = () => page.locator('.step').count();
  expect(await drawn()).toBeLessThan(60);
  await page.evaluate(() => {
    location.hash = '#step=700';
  });
  await expect(page.locator('.step[aria-current]')).toHaveAttribute('data-step', '700');
  await expect(page.locator('.step[aria-current]')).toBeInViewport();
  expect(await drawn()).toBeLessThan(60);
  await page.keyboard.press('ArrowRight');
  await expect(page.locator('.step[aria-current]')).toHaveAttribute('data-step', '701');
  await expect(page.locator('.step[aria-current]')).toBeInViewport();

  const stop = await traceWork(browser, page);
  await page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        const box = document.querySelector('.transcript-scroll');
        let left = 60;
        const frame = () => {
          performance.mark('frame');
          if (!box || left-- <= 0) return resolve();
          box.scrollTop -= 300;
          requestAnimationFrame(frame);
        };
        requestAnimationFrame(frame);
      }),
  );
  const { frames } = await stop();
  console.log(told('frames up a transcript of 1,000 steps', frames));
  expect(Math.max(...frames)).toBeLessThan(33);
  expect(await drawn()).toBeLessThan(60);
  // What is scrolled to is there, and no empty room.
  const first = page.locator('.step').first();
  expect(Number(await first.getAttribute('data-step'))).toBeLessThan(690);
  await page.keyboard.press('End');
  await page.locator('.transcript-scroll').evaluate((box) => box.scrollTo(0, box.scrollHeight));
  await expect(page.locator('.card.end')).toBeInViewport();
  await expect(page.locator('.step[data-step="1000"]')).toBeInViewport();
});
