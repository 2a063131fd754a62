/** The accessibility check that every screen has to pass. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, type Page } from '@playwright/test';
import type { RunOptions } from 'axe-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** All of WCAG 2.1 A and AA that axe can see. */
const ALL: RunOptions = {
  resultTypes: ['violations'],
  runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21aa'] },
};

/** What differs between light and dark; it needs no style sheet to be fetched again. */
const CONTRAST: RunOptions = {
  resultTypes: ['violations'],
  runOnly: { type: 'rule', values: ['color-contrast'] },
  preload: false,
};

/**
 * No violation of WCAG 2.1 A and AA, as axe sees the page now, in light and in dark: what differs between
 * the two is colour alone, so dark is asked for its contrast only. The page is light afterwards. Frames are
 * left out: in one without scripts axe never comes back, and what it shows is a page that can be checked
 * alone. `part` is for what has changed since the whole page was seen, in this test or another: most of a
 * check is the contrast of each text.
 */
export async function expectClean(page: Page, part = 'body'): Promise<void> {
  await setColours(page, 'light');
  const light = await violations(page, part, ALL);
  await setColours(page, 'dark');
  const dark = await violations(page, part, CONTRAST);
  await setColours(page, 'light');
  expect({ light, dark }).toEqual({ light: [], dark: [] });
}

/** With colours that are still changing axe would see what nobody reads. */
async function setColours(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.evaluate(async () => {
    // The page hears of it in the next frame, and draws in the one after that.
    for (let n = 0; n < 3; n++) await new Promise(requestAnimationFrame);
    const changing = document
      .getAnimations()
      .filter((animation) => animation instanceof CSSTransition);
    await Promise.all(changing.map((animation) => animation.finished.catch(() => null)));
  });
}

/** Each rule that is broken, with the elements that break it. A part that is not there is an error. */
async function violations(page: Page, part: string, options: RunOptions): Promise<string[]> {
  // Half a megabyte, which a document needs only once.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(source);
  return page.evaluate(
    async ([include, how]) => {
      const { axe } = window as unknown as { readonly axe: typeof import('axe-core') }; // just put there
      const found = await axe.run({ include: [[include]], exclude: [['iframe']] }, how);
      return found.violations.map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join('; ')}`,
      );
    },
    [part, options] as const,
  );
}
