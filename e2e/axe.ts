/** The accessibility check that every screen has to pass. */

import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

/**
 * No violation of WCAG 2.1 A and AA, as axe sees the page now. Frames are left out: in one without scripts
 * axe never comes back, and what it shows is a page that can be checked alone.
 */
// `as never`: axe's package brings types of another Playwright; the object is the same.
export async function expectClean(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page: page as never })
    .exclude('iframe')
    .withTags(['wcag2a', 'wcag2aa', 'wcag21aa'])
    .analyze();
  const found = violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(' ')).join('; ')}`,
  );
  expect(found).toEqual([]);
}
