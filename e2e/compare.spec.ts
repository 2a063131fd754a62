/** Comparing recorded runs: table, overlay, final values, differing settings, side by side. No GPU. */

import { readFileSync } from 'node:fs';
import { formatRunFile } from '../src/formats/run-file.ts';
import { expectClean } from './axe.ts';
import { playBack } from './fixtures/recorded/engine.ts';
import { madeRun, startOf } from './fixtures/recorded/household-run.ts';
import { expect, test } from './live.ts';

test.use({ timezoneId: 'UTC' });

const kept = (['attt', 'frozen', 'attt'] as const).map((method, i) => {
  const events = madeRun({
    steps: 20,
    seed: 6 + i,
    settings: { method, seed: i === 0 ? 1 : 3 },
    end: i === 2 ? 'solved' : 'step_limit',
  });
  const { manifest, task } = startOf(events);
  const summary = {
    id: `run-${i}`,
    createdAt: `2026-11-29T1${i}:00:00.000Z`,
    manifest,
    goal: task.goal ?? '',
    steps: 20,
    updates: 2 + i,
    rollbacks: 0,
    reason: i === 2 ? 'solved' : 'step_limit',
    reward: i === 2 ? 1 : 0,
  } as const;
  return { summary, events };
});
/** The first run again, with another action at step 7. */
const parted = (kept[0]?.events ?? []).map((event) =>
  event.type === 'step' && event.t === 7 ? { ...event, action: 'dance' } : event,
);

test('a compared run has one number everywhere, and its numbers are a table', async ({ page }) => {
  await playBack(page, { runs: kept, modelLoaded: true });
  // The first of the link was deleted.
  await page.goto('/#compare=gone.run-1.run-0');
  await expect(page.locator('.overlay-legend > button')).toHaveText([
    '1: frozen, seed 3',
    '2: attt, seed 1',
  ]);
  const row = (at: string) => page.locator('.runs-table tbody tr').filter({ hasText: at });
  await expect(row('11:00').locator('.pick')).toHaveText('1');
  await expect(row('10:00').locator('.pick')).toHaveText('2');
  await page.getByRole('button', { name: 'Repetition: numbers as a table' }).click();
  const numbers = page.getByRole('dialog');
  await expect(numbers.locator('tbody tr')).toHaveCount(20);
  await expect(numbers.locator('thead th')).toHaveText([
    'step',
    '1: frozen, seed 3',
    '2: attt, seed 1',
  ]);
});

test('runs are filtered, noted and compared, and the numbers go home', async ({ page }) => {
  await playBack(page, { runs: kept, modelLoaded: true });
  await page.goto('/');
  await page.getByRole('tab', { name: /Runs/ }).click();
  await page.getByRole('button', { name: 'Compare' }).click();
  const rows = page.locator('.runs-table tbody tr');
  await expect(rows).toHaveCount(3);
  await page.getByRole('button', { name: 'updates', exact: true }).click();
  await expect(rows.first()).toContainText('2026-11-29 10:00');
  await page.getByLabel('Tags, apart by blanks').nth(1).fill('baseline');
  await page.getByLabel('Note', { exact: true }).nth(1).fill('without training');
  await page.getByLabel('Filter the runs').fill('frozen BASELINE');
  await expect(rows).toHaveCount(1);
  await page.getByLabel('Filter the runs').fill('');

  await page.getByLabel('Choose all runs shown').check();
  await expect(page.locator('.overlay-legend > button')).toHaveCount(3);
  await expect(page.locator('.overlay-plot .recharts-line-curve')).toHaveCount(3);
  await page.locator('.overlay-legend > button').nth(1).hover();
  await expect(page.locator('.overlay-plot .recharts-line-curve[stroke-opacity="1"]')).toHaveCount(
    1,
  );
  await page.getByLabel('group by method').check();
  await expect(page.locator('.overlay-legend')).toContainText('attt (n = 2)');
  await expect(page.locator('.overlay-plot .recharts-area-area')).not.toHaveCount(0);
  // One of two solved: Wilson's interval of statsmodels.
  await expect(page.getByRole('row', { name: /^attt 2 / })).toContainText('0.5 [0.0945, 0.905]');
  // The second and the third run are of one task and seed: three in one, so that anything may hold of other tasks.
  await expect(page.getByRole('row', { name: /^attt 1 1 / })).toContainText('+1 [−1, +1], p 1');
  const differing = page.locator('section', { has: page.getByText('Where their settings differ') });
  await expect(differing.locator('tbody th').filter({ hasText: /^(Method|Seed)$/ })).toHaveCount(2);
  await expectClean(page);
  const [csv] = await Promise.all([
    page.waitForEvent('download'),
    page.locator('.compare-bar .dialog-buttons').getByRole('button', { name: 'CSV' }).click(),
  ]);
  expect(readFileSync(await csv.path(), 'utf8')).toMatch(
    /^step,attt \(n = 2\),frozen \(n = 1\),attt \(n = 2\) low,/,
  );
  await page.getByLabel('What the charts are drawn over').selectOption('share');
  await page.getByRole('button', { name: 'Logarithmic axis of steps' }).click();
  await expect(page.locator('.overlay-plot .chart-axis')).toHaveText('share');
  await expect(page.locator('.overlay-plot .recharts-area-area')).not.toHaveCount(0);
  const [svg] = await Promise.all([
    page.waitForEvent('download'),
    page.locator('.compare-bar .dialog-buttons').getByRole('button', { name: 'SVG' }).click(),
  ]);
  const picture = readFileSync(await svg.path(), 'utf8');
  expect(picture).toContain('Repetition');
  expect(picture).not.toContain('var(');

  // A run of a file beside the stored ones: equal to the first but for one action.
  await page.getByLabel('Runs as JSONL to compare').setInputFiles({
    name: 'parted.jsonl',
    mimeType: 'application/jsonl',
    buffer: Buffer.from(formatRunFile(parted)),
  });
  await expect(rows).toHaveCount(4);
  const options = page.getByLabel('The run on the left').locator('option');
  const first = (await options.allTextContents()).findIndex((text) =>
    text.includes('attt, seed 1'),
  );
  await page.getByLabel('The run on the left').selectOption(String(first));
  await page.getByLabel('The run on the right').selectOption('3');
  await page.getByRole('button', { name: 'They part at step 7' }).click();
  await expect(page.locator('.pair[data-first]')).toBeInViewport();
  await expect(page.locator('.pair.apart')).toHaveCount(1);

  // Notes are kept beside the runs.
  await page.reload();
  await page.getByRole('tab', { name: /Runs/ }).click();
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByLabel('Filter the runs').fill('without training');
  await expect(rows).toHaveCount(1);
});
