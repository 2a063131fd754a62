/** The shell of the page: its size, its first paint, small screens, keys. */

import { gzipSync } from 'node:zlib';
import type { Page, Response } from '@playwright/test';
import { expectClean } from './axe.ts';
import { playBack } from './fixtures/recorded/engine.ts';
import { expect, test } from './live.ts';

interface Sight {
  /** First and largest contentful paint, in milliseconds. */
  readonly first: number;
  readonly largest: number;
  /** How much moved after it: cumulative layout shift. */
  readonly shift: number;
}

function firstSight(page: Page): Promise<Sight> {
  return page.evaluate(
    () =>
      new Promise((resolve) => {
        let shift = 0;
        let largest = Number.NaN;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) {
            shift += (entry as unknown as { value: number }).value; // a LayoutShift, which has no type yet
          }
        }).observe({ type: 'layout-shift', buffered: true });
        new PerformanceObserver((list) => {
          largest = list.getEntries().at(-1)?.startTime ?? largest;
        }).observe({ type: 'largest-contentful-paint', buffered: true });
        // A busy machine tells of a paint some time after it.
        const look = (left: number) => {
          const [paint] = performance.getEntriesByName('first-contentful-paint');
          const known = paint !== undefined && !Number.isNaN(largest);
          if (!known && left > 0) setTimeout(() => look(left - 1), 100);
          else resolve({ first: paint?.startTime ?? Number.NaN, largest, shift });
        };
        setTimeout(() => look(50), 300);
      }),
  );
}

test('the shell is at most 350 kB gzipped, paints within a second and does not move afterwards', {
  tag: '@timed',
}, async ({ page }) => {
  await playBack(page, {});
  const sizes: Promise<readonly [url: string, bytes: number]>[] = [];
  const problems: string[] = [];
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  const measure = (response: Response) => {
    if (!['document', 'script', 'stylesheet'].includes(response.request().resourceType())) return;
    if (!response.ok()) return; // a redirect has no body
    sizes.push(response.body().then((body) => [response.url(), gzipSync(body).length] as const));
  };
  page.on('response', measure);
  await page.goto('/');
  await expect(page.getByRole('button', { name: 'Run the bundled policy' })).toBeEnabled();
  page.off('response', measure); // a body is gone when the page is loaded again
  const measured = await Promise.all(sizes);
  expect(measured.length).toBeGreaterThan(2); // page, script and style at least
  expect(measured.reduce((sum, [, bytes]) => sum + bytes, 0)).toBeLessThan(350_000);
  // The best of three: other work on the machine only ever adds to the time.
  const sights: Sight[] = [];
  for (let n = 0; n < 3; n++) {
    await page.reload();
    await expect(page.getByRole('button', { name: 'Run the bundled policy' })).toBeEnabled();
    const sight = await firstSight(page);
    sights.push(sight);
    expect(sight.shift).toBeLessThan(0.1);
  }
  expect(Math.min(...sights.map(({ first }) => first))).toBeLessThan(1000);
  // Where Lighthouse's desktop score for it begins to fall below 90.
  expect(Math.min(...sights.map(({ largest }) => largest))).toBeLessThan(1200);
  expect(problems).toEqual([]);
  // What else such a score asks of a page.
  expect(asked.filter((url) => new URL(url).origin !== new URL(page.url()).origin)).toEqual([]);
  await expect(page.locator('html')).toHaveAttribute('lang', 'en');
  await expect(page.locator('meta[name=viewport]')).toHaveAttribute(
    'content',
    /width=device-width/,
  );
  await expect(page.locator('meta[name=description]')).toHaveAttribute('content', /.{50}/);
  await expect(page.locator('h1')).toHaveCount(1);
  const robots = await page.request.get('/robots.txt');
  expect(await robots.text()).toMatch(/^User-agent: /);
});

test('a run can be read on 360 pixels', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.setViewportSize({ width: 360, height: 740 });
  await playBack(page, {});
  await page.goto('/');
  const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
  await expect(page.getByRole('button', { name: 'Open a recorded run' })).toBeInViewport();
  expect(await fits()).toBe(true);
  await page.getByRole('button', { name: 'Open a recorded run' }).click();
  await expect(page.locator('.step').first()).toBeAttached();
  await page.locator('.step').first().scrollIntoViewIfNeeded();
  expect(await fits()).toBe(true);
  // Where a box is too narrow for its words, they are cut and nobody sees that.
  const cut = await page
    .locator('button, .segments label, th, dt, .tabs [role=tab]')
    .evaluateAll((all) =>
      all
        .filter(
          (one) => one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1,
        )
        .filter((one) => one.clientWidth > 2 && getComputedStyle(one).overflow === 'visible')
        .map((one) => one.textContent),
    );
  expect(cut).toEqual([]);
  await expectClean(page);
});

test('the tour can be taken, left and taken again, by keys alone', async ({ page }) => {
  await playBack(page, {});
  await page.goto('/');
  await page.getByRole('button', { name: 'Take the tour' }).focus();
  await page.keyboard.press('Enter');
  const stop = page.locator('.tour');
  await expect(stop).toContainText('1 of 6');
  await expectClean(page);
  for (let n = 2; n <= 6; n++) {
    await page.keyboard.press('Enter');
    await expect(stop).toContainText(`${n} of 6`);
    await expect(stop.getByRole('button', { name: n < 6 ? 'Next' : 'Done' })).toBeInViewport();
  }
  await page.keyboard.press('Enter');
  await expect(stop).toHaveCount(0);
  await page.keyboard.press('Shift+?');
  await page.getByRole('button', { name: 'Take the tour' }).click();
  await expect(stop).toContainText('1 of 6');
  await page.keyboard.press('Escape');
  await expect(stop).toHaveCount(0);
});

test('the Tab key reaches every button and field of the first screen', async ({ page }) => {
  await playBack(page, {});
  await page.goto('/');
  await expect(page.getByRole('button', { name: 'Run the bundled policy' })).toBeEnabled();
  const missed = await page.evaluate(() => {
    const wanted = [
      ...document.querySelectorAll(
        'button, a[href], input, select, textarea, summary, [role=slider]',
      ),
    ].filter(
      (one) =>
        one.checkVisibility({ visibilityProperty: true }) &&
        !one.matches(
          ':disabled, [hidden], [role=tab][aria-selected=false], [type=radio]:not(:checked)',
        ) &&
        !(one instanceof HTMLElement && one.tabIndex >= 0),
    );
    return wanted.map((one) => one.outerHTML.slice(0, 120));
  });
  expect(missed).toEqual([]);
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  const reached = new Set<string>();
  for (let n = 0; n < 40; n++) {
    await page.keyboard.press('Tab');
    reached.add(
      await page.evaluate(() => document.activeElement?.textContent?.trim().slice(0, 30) ?? ''),
    );
  }
  for (const name of ['Help', 'Run', 'Queue…', 'Bundled policy', 'Setup']) {
    expect([...reached]).toContain(name);
  }
});
