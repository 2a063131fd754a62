/** The accessibility check that every screen has to pass. */

import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

/**
 * No violation of WCAG 2.1 A and AA, as axe sees the page now, in light and in dark: what differs between
 * the two is colour alone, so dark is asked for its contrast only. The page is light afterwards. Frames are
 * left out: in one without scripts axe never comes back, and what it shows is a page that can be checked
 * alone. `part` is for what has changed since the whole page was seen.
 */
export async function expectClean(page: Page, part = 'body'): Promise<void> {
  await setColours(page, 'light');
  const light = await axe(page, part).withTags(['wcag2a', 'wcag2aa', 'wcag21aa']).analyze();
  await setColours(page, 'dark');
  const dark = await axe(page, part).withRules(['color-contrast']).analyze();
  await setColours(page, 'light');
  expect({ light: found(light), dark: found(dark) }).toEqual({ light: [], dark: [] });
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

/**
 * Legacy mode, since the other one opens a page of its own to join what frames have given: three times the
 * time, for frames that are left out.
 */
// `as never`: axe's package brings types of another Playwright; the object is the same.
function axe(page: Page, part: string): AxeBuilder {
  return new AxeBuilder({ page: page as never })
    .include(part)
    .exclude('iframe')
    .options({ resultTypes: ['violations'] })
    .setLegacyMode(true);
}

function found({ violations }: Awaited<ReturnType<AxeBuilder['analyze']>>): string[] {
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(' ')).join('; ')}`,
  );
}
