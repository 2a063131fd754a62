/** Drops a file on the page, as a person would. */

import type { Page } from '@playwright/test';

export async function dropFile(page: Page, name: string, content: string): Promise<void> {
  const transfer = await page.evaluateHandle(
    ([fileName = '', body = '']) => {
      const data = new DataTransfer();
      data.items.add(new File([body], fileName));
      return data;
    },
    [name, content],
  );
  await page.locator('.app').dispatchEvent('drop', { dataTransfer: transfer });
}
