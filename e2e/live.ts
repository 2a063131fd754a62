/**
 * Playwright's test, with pages that are touched only once they answer. Until the script has drawn the page its root is
 * inert: a person cannot reach anything in it, but Playwright can, and what it typed there would be lost.
 */

import { type Page, test as plain } from '@playwright/test';

export { expect } from '@playwright/test';

/** The page, whose `goto` and `reload` end when it answers. */
export function answering(page: Page): Page {
  const answers = () => page.waitForFunction(() => document.getElementById('root')?.inert !== true);
  const goto = page.goto.bind(page);
  const reload = page.reload.bind(page);
  page.goto = async (...wish) => {
    const response = await goto(...wish);
    await answers();
    return response;
  };
  page.reload = async (...wish) => {
    const response = await reload(...wish);
    await answers();
    return response;
  };
  return page;
}

export const test = plain.extend({
  context: async ({ context }, use) => {
    const newPage = context.newPage.bind(context);
    context.newPage = async () => answering(await newPage());
    await use(context);
  },
});
