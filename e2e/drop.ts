/** Drops a file on the page, as a person would. */

import type { Page } from '@playwright/test';

export async function dropFile(page: Page, name: string, content: string | Buffer): Promise<void> {
  const transfer = await page.evaluateHandle(
    ([fileName, body]) => {
      const data = new DataTransfer();
      const bytes = Uint8Array.from(atob(body), (character) => character.charCodeAt(0));
      data.items.add(new File([bytes], fileName));
      return data;
    },
    [name, Buffer.from(content).toString('base64')] as const,
  );
  await page.locator('.app').dispatchEvent('drop', { dataTransfer: transfer });
}
