/** The token heatmap over a recorded run: quantities, kept tokens, and what can be taken home. */

import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { formatRunFile } from '../src/formats/run-file.ts';
import { expectClean } from './axe.ts';
import { dropFile } from './drop.ts';
import { playBack } from './fixtures/recorded/engine.ts';
import { madeRun } from './fixtures/recorded/household-run.ts';
import { expect, test } from './live.ts';

const events = madeRun({ steps: 40, talk: 1, seed: 6, settings: { log_alternatives: 3 } });
const updated = events.find((event) => event.type === 'boundary' && event.outcome === 'updated');
if (updated?.type !== 'boundary' || !updated.tokens) throw new Error('the made run updates');
const { t, tokens } = updated;

async function saved(page: Page, name: string): Promise<Buffer> {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('dialog').getByRole('button', { name }).click(),
  ]);
  return readFileSync(await file.path());
}

test('a token tells all its numbers, is kept in a table, and all boundaries are saved', async ({
  page,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await playBack(page, { modelLoaded: true });
  await page.goto('/');
  await dropFile(page, 'shared.jsonl', formatRunFile(events));
  await page.locator(`.step[data-step="${t}"]`).click();
  const option = page.getByRole('listbox').getByRole('option');
  await option.nth(3).click();
  const detail = page.locator('.token-detail');
  await expect(detail).toContainText(`id ${tokens.ids[3]}, place 4 of ${tokens.ids.length}`);
  await expect(detail).toContainText('entropy');
  await expect(detail.locator('.alternative')).toHaveCount(3);
  await page.getByRole('listbox').focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  for (const quantity of ['KL', 'entropy']) {
    await page.locator('.heatmap-foot').getByText(quantity, { exact: true }).click();
    await expect(page.locator('.token:not(.unmeasured)').first()).toBeVisible();
  }
  await expectClean(page, '.right');

  await page.getByText('kept 2', { exact: true }).click();
  const rows = page.locator('.token-table tbody tr');
  await expect(rows).toHaveCount(2);
  await page.getByRole('button', { name: 'place' }).click();
  await page.getByRole('button', { name: 'place' }).click();
  await expect(rows.first()).toContainText('5');
  await page.getByRole('button', { name: 'Copy as CSV' }).click();
  const csv = await page.evaluate(() => navigator.clipboard.readText());
  expect(csv.split('\n')[0]).toMatch(/^step,place,id,piece,weight,count,ce_before/);
  expect(csv).toContain(`${t},5,${tokens.ids[4]},`);
  await expectClean(page, '.right');

  await page.getByRole('button', { name: 'Save the tokens of all boundaries' }).click();
  const all = events.flatMap((event) =>
    event.type === 'boundary' ? (event.tokens?.ids ?? []) : [],
  );
  const numbers = (await saved(page, 'CSV')).toString('utf8');
  expect(numbers.match(/^\d+,/gm)).toHaveLength(all.length);
  expect((await saved(page, 'SVG')).toString('utf8')).toMatch(/^<svg [\s\S]*Entropy after/);
  expect([...(await saved(page, 'PNG')).subarray(0, 4)]).toEqual([0x89, 0x50, 0x4e, 0x47]);
});
