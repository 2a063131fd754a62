/** Reading a recorded run: search, filter, keys, playback, links and records. No model, no GPU. */

import { formatRunFile } from '../src/formats/run-file.ts';
import { expectClean } from './axe.ts';
import { dropFile } from './drop.ts';
import { playBack } from './fixtures/recorded/engine.ts';
import { madeRun } from './fixtures/recorded/household-run.ts';
import { expect, test } from './live.ts';

const events = madeRun({ steps: 50, talk: 2, seed: 6 });
const steps = events.filter((event) => event.type === 'step');
const [started] = events;
if (started?.type !== 'episode_started') throw new Error('the made run starts');
const summary = {
  id: '20261129-184211-9f3c',
  createdAt: '2026-11-29T18:42:11.000Z',
  manifest: started.manifest,
  goal: started.task.goal ?? '',
  steps: 50,
  updates: 6,
  rollbacks: 2,
  reason: 'step_limit',
  reward: 0,
} as const;

test('a transcript is searched, filtered, played back and walked by keys', async ({ page }) => {
  await playBack(page, { modelLoaded: true });
  await page.goto('/');
  await dropFile(page, 'shared.jsonl', formatRunFile(events));
  await expect(page.locator('.step')).toHaveCount(50);

  // Search marks and walks; what it must find is counted here, not there.
  await page.keyboard.press('/');
  await page.keyboard.type('go to fridge');
  const holding = steps.filter((step) =>
    [step.thought, step.action, step.observation].some((text) => /go to fridge/i.test(text)),
  );
  expect(holding.length).toBeGreaterThan(1);
  await expect(page.locator('.find-steps output')).toHaveText(`– of ${holding.length}`);
  await page.keyboard.press('Enter');
  const current = page.locator('.step[aria-current]');
  await expect(current).toHaveAttribute('data-step', String(holding[0]?.t));
  await expect(current.locator('mark').first()).toHaveText(/go to fridge/i);
  await expect(current).toBeInViewport();
  await page.keyboard.press('Shift+Enter');
  await expect(current).toHaveAttribute('data-step', String(holding.at(-1)?.t));
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await expect(page.locator('mark')).toHaveCount(0);

  const failed = steps.filter((step) =>
    ['not_admissible', 'malformed', 'cut_off'].includes(step.actionClass),
  );
  await page.getByLabel('Show only').selectOption('failures');
  await expect(page.locator('.step')).toHaveCount(failed.length);
  await expect(page.locator('.find-count')).toHaveText(`${failed.length} of 60`);
  await expectClean(page, '.middle');
  await page.getByLabel('Show only').selectOption('updates');
  await expect(page.locator('.card.good')).toHaveCount(
    events.filter((event) => event.type === 'boundary' && event.outcome === 'updated').length,
  );
  await page.getByLabel('Show only').selectOption('all');

  // By a number: those that took long, with their place in the whole run kept.
  await page.getByRole('button', { name: 'Filter by a number' }).click();
  await page.getByLabel('Limit of the filter').fill('1');
  const slow = steps.filter((step) => (step.clock?.seconds ?? 0) >= 1);
  expect(slow.length).toBeGreaterThan(1);
  await expect(page.locator('.step')).toHaveCount(slow.length);
  await expectClean(page, '.middle');
  await page.getByLabel('Number to filter by').selectOption('kl');
  await expect(page.locator('.step')).toHaveCount(50); // no limit is typed yet
  await page.getByRole('button', { name: 'Do not filter by a number' }).click();

  const slider = page.getByRole('slider', { name: 'Step on screen' });
  await page.locator('.find-bar').click({ position: { x: 2, y: 2 } });
  await page.keyboard.press('Home');
  await page.keyboard.press(']');
  await expect(slider).toHaveAttribute('aria-valuenow', '5');
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  await page.keyboard.press('[');
  await expect(slider).toHaveAttribute('aria-valuenow', '5');
  await page.keyboard.press('Space');
  await expect
    .poll(async () => Number(await slider.getAttribute('aria-valuenow')))
    .toBeGreaterThan(5);
  await page.keyboard.press('Space');
  const halted = await slider.getAttribute('aria-valuenow');
  expect(Number(halted)).toBeLessThan(50);
  await page.getByRole('button', { name: /Playback speed 1×/ }).click();
  await page.getByRole('button', { name: /Playback speed 2×/ }).click();
  await expect(page.getByRole('button', { name: /Playback speed 4×/ })).toBeVisible();
  await expect(slider).toHaveAttribute('aria-valuenow', halted ?? '');
});

test('a step has an address, its record, and says why there was no update in numbers', async ({
  page,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await playBack(page, { modelLoaded: true, runs: [{ summary, events }] });
  await page.goto(`/#run=${summary.id}&step=35&token=4`);
  const current = page.locator('.step[aria-current]');
  await expect(current).toHaveAttribute('data-step', '35');
  await expect(page.locator('.token-detail')).toContainText('place 5 of');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('region', { name: 'Transcript' })).toBeFocused();
  await page.keyboard.press('ArrowLeft');
  await expect.poll(() => new URL(page.url()).hash).toBe(`#run=${summary.id}&step=34`);
  await current.getByRole('button', { name: 'Link' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
    new URL(`/#run=${summary.id}&step=34`, page.url()).href,
  );
  await page.evaluate(() => {
    location.hash = '#step=12';
  });
  await expect(current).toHaveAttribute('data-step', '12');

  await current.getByRole('button', { name: 'JSON' }).click();
  const shown = await page.getByRole('dialog').locator('pre').textContent();
  expect(JSON.parse(shown ?? '')).toEqual(steps[11]);
  await expectClean(page, 'dialog[open]');
  await page.keyboard.press('Escape');

  // The numbers of a boundary stand beside what they were compared with.
  const skipped = events.find(
    (event) => event.type === 'boundary' && event.outcome === 'skipped_novelty',
  );
  if (skipped?.type !== 'boundary') throw new Error('the made run skips an update');
  const card = page.locator('.card', { hasText: `after step ${skipped.t}` });
  await expect(card).toContainText(skipped.why);
  await expect(card).toContainText('(at least 0.5)');
  await expect(card).toContainText('(at most 0.8)');
});

test('a note is written beside a step by keys, is found again and outlives the visit', async ({
  page,
}) => {
  await playBack(page, { modelLoaded: true, runs: [{ summary, events }] });
  await page.goto(`/#run=${summary.id}&step=12`);
  const step = page.locator('.step[data-step="12"]');
  await expect(step.getByRole('button', { name: 'Note' })).toBeVisible();
  await page.keyboard.press('n');
  await page.keyboard.type('the loop begins here');
  await page.keyboard.press('Enter');
  await expect(step.locator('.step-note')).toHaveText('Note on step 12: the loop begins here');
  // Escape leaves it as it was.
  await page.keyboard.press('n');
  await page.keyboard.type('!');
  await page.keyboard.press('Escape');
  await expect(step.locator('.step-note')).toContainText('begins here');
  await expectClean(page);

  await page.reload();
  await expect(step.locator('.step-note')).toContainText('the loop begins here');
  await expect(page.locator('.track .noted')).toHaveCount(1);
  await page.getByLabel('Show only').selectOption('noted');
  await expect(page.locator('.step')).toHaveCount(1);
  // An empty note is none.
  await page.keyboard.press('n');
  await page.getByLabel('Note on step 12').fill('');
  await page.keyboard.press('Enter');
  await expect(page.locator('.none-shown')).toBeVisible();
});
