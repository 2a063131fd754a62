/** Reading a code repair: the diff of a step, all changes, the tests, and the patch to take home. No model. */

import { readFileSync } from 'node:fs';
import { repairDescription } from '../src/envs/repair-description.ts';
import { formatRunFile } from '../src/formats/run-file.ts';
import { expectClean } from './axe.ts';
import { dropFile } from './drop.ts';
import { household, playBack } from './fixtures/recorded/engine.ts';
import { madePrograms, madeRepair, patch } from './fixtures/recorded/repair-run.ts';
import { expect, test } from './live.ts';

test('a repair shows its diff and tests at each step, and goes home as a patch', async ({
  page,
}) => {
  await playBack(page, {
    environments: [household, repairDescription],
    worlds: madePrograms,
    patch,
  });
  await page.goto('/#panel=world');
  await dropFile(page, 'repair.jsonl', formatRunFile(madeRepair()));
  const panel = page.locator('.world');
  await expect(panel.getByRole('heading', { name: 'Program after step 3' })).toBeVisible();
  await expect(panel).toContainText('3 of 3 tests pass · handed in, solved');
  await expect(panel.locator('.diff')).toHaveCount(0);

  await page.keyboard.press('k');
  await expect(panel.locator('.diff')).toContainText(
    '+    if (this.entries.size > this.capacity) {',
  );
  await expect(panel.getByRole('listitem')).toHaveText([
    '✓ passgives back what was put in',
    '✓ passforgets the oldest entry since this step',
    '✓ passa cache of one keeps the last hidden since this step',
  ]);
  await expectClean(page);
  await page.keyboard.press('k');
  await expect(panel.locator('.diff')).toHaveCount(0);
  await expect(panel.locator('[data-passed="false"]')).toHaveCount(2);
  await expect(panel).toContainText('expected null, got "aa"');
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await panel.getByText('Since the start').click();
  await expect(panel.locator('.diff')).toContainText('lru.js');

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Patch' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('repair__train-0.predictions.jsonl');
  expect(JSON.parse(readFileSync(await download.path(), 'utf8'))).toEqual({
    instance_id: 'repair__train-0',
    model_name_or_path: expect.stringMatching(/__frozen$/),
    model_patch: patch,
  });
});
