/** The built page over an engine that plays back recorded events: no model, no GPU. */

import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { fieldNames, fields } from '../src/config.ts';
import { formatRunFile } from '../src/formats/run-file.ts';
import { expectClean } from './axe.ts';
import { dropFile } from './drop.ts';
import { playBack, quietScript } from './fixtures/recorded/engine.ts';
import { madeRun } from './fixtures/recorded/household-run.ts';
import { expect, test } from './live.ts';

const long = madeRun({ steps: 50, talk: 2, seed: 6 });

/** Opens the page and runs the bundled policy to the end of the recording. */
async function runToEnd(page: Page): Promise<void> {
  await page.goto('/');
  await page.getByRole('button', { name: 'Run the bundled policy' }).click();
  await expect(page.locator('.card.end')).toBeVisible({ timeout: 60_000 });
}

test('the form has every setting of the schema, marks what differs and refuses what is out of range', async ({
  page,
}) => {
  await playBack(page, { events: long, tokenMs: 0 });
  await page.goto('/');
  // And one for what runs start from, which is no setting of the schema.
  await expect(page.locator('.settings .row')).toHaveCount(fieldNames.length + 1);
  const rank = page.getByLabel(fields.lora_rank.label, { exact: true });
  await rank.fill('4');
  await expect(page.getByRole('button', { name: 'Reset 1' })).toBeEnabled();
  await page.getByRole('button', { name: 'LoRA rank: back to 8' }).click();
  await expect(rank).toHaveValue('8');

  const weight = page.getByLabel(fields.w_min.label, { exact: true });
  await weight.fill('0.');
  await weight.pressSequentially('25');
  await expect(weight).toHaveValue('0.25');
  await weight.fill('7');
  await expect(page.getByText('Smallest weight wants a value from 0 to 1.')).toBeVisible();
  await page.getByRole('button', { name: 'Run the bundled policy' }).click();
  await expect(page.getByText('The run was not started')).toBeVisible();
  await expect(page.locator('.step')).toHaveCount(0);

  const picker = page.getByLabel('A config.toml or settings.json');
  await picker.setInputFiles({
    name: 'config.toml',
    mimeType: 'application/toml',
    buffer: Buffer.from('[att]\nlora_rank = 16\n'),
  });
  await expect(rank).toHaveValue('16');
  await expect(page.locator('.problem')).toHaveCount(0);
  await picker.setInputFiles({
    name: 'settings.json',
    mimeType: 'application/json',
    buffer: Buffer.from('{"att": {"trigger": {"novelty_treshold": 0.1}}}'),
  });
  await expect(page.getByText(/nearest known key is .*novelty_threshold/)).toBeVisible();
  await expect(rank).toHaveValue('16');
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.locator('.settings').getByRole('button', { name: 'config.toml' }).click(),
  ]);
  expect(readFileSync(await saved.path(), 'utf8')).toMatch(/lora_rank = 16\b/);
});

test('a run fills transcript, charts, tokens and the line of steps; keys walk it', async ({
  page,
}) => {
  await playBack(page, { events: long, tokenMs: 0 });
  await runToEnd(page);
  await expect(page.locator('.step')).toHaveCount(50);
  await expect(page.locator('.card:not(.end)')).toHaveCount(10);
  await expect(
    page.getByText(/Rolled back: KL = 0\.\d+ nats after training/).first(),
  ).toBeAttached();
  await expect(page.locator('.chart .recharts-surface')).toHaveCount(4);
  await expect(page.locator('.run-stats')).toContainText('rollbacks2');

  const slider = page.getByRole('slider', { name: 'Step on screen' });
  await expect(slider).toHaveAttribute('aria-valuenow', '50');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await expect(slider).toHaveAttribute('aria-valuenow', '48');
  await expect(page.locator('.step[aria-current]')).toHaveAttribute('data-step', '48');
  await page.keyboard.press('Home');
  await expect(page.locator('.step[aria-current]')).toBeInViewport();
  await page.keyboard.press('End');
  await expect(slider).toHaveAttribute('aria-valuenow', '50');

  // The tokens of the boundary after step 30; its weights and counts come from the recording.
  await page.locator('.step[data-step="35"]').click();
  const tokens = page.getByRole('listbox', { name: 'Tokens of the boundary after step 35' });
  await tokens.getByRole('option').nth(2).hover();
  const detail = page.locator('.token-detail');
  await expect(detail).toContainText('place 3 of');
  await expect(detail).toContainText(/\d times before, in the text of step/);
  await tokens.focus();
  await page.keyboard.press('ArrowRight');
  await expect(detail).toContainText('place 3 of');
  await page.getByText('change', { exact: true }).click();
  await expect(page.locator('.legend')).toContainText('less likely');

  await page.keyboard.press('Escape');
  await page.keyboard.press('Shift+?');
  await expect(page.getByRole('dialog', { name: 'Help' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);

  await page.getByRole('button', { name: 'Drift: numbers as a table' }).click();
  await expect(page.getByRole('dialog').locator('tbody tr')).toHaveCount(7);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Command' }).click();
  await expect(page.locator('.command')).toHaveText(
    /^npx attt run --model household --env household --split valid_unseen --tasks 3 /,
  );
});

test('a run can be paused, stepped, resumed and stopped, and the page follows until it is scrolled', async ({
  page,
}) => {
  await playBack(page, { events: long, tokenMs: 1, modelLoaded: true });
  await page.goto('/');
  await page.getByRole('button', { name: 'Step', exact: true }).click();
  await expect(page.getByText('Paused after step 1')).toBeVisible();
  await expect(page.locator('.step')).toHaveCount(1);
  await page.getByRole('button', { name: 'Step', exact: true }).click();
  await expect(page.getByText('Paused after step 2')).toBeVisible();
  await expect(page.locator('.step')).toHaveCount(2);
  await page.locator('.transcript-scroll').click({ position: { x: 5, y: 5 } });
  await page.keyboard.press('Space');
  await expect(page.locator('.stream').first()).toBeVisible();
  await expect(page.locator('.step').nth(7)).toBeInViewport();
  await page.locator('.transcript-scroll').hover();
  await page.mouse.wheel(0, -3000);
  const follow = page.getByRole('button', { name: 'Follow the run' });
  await expect(follow).toBeVisible();
  await follow.click();
  await expect(follow).toHaveCount(0);
  await page.getByRole('button', { name: 'Roll back now' }).click();
  await expect(page.getByText(/Rolled back by you after step/)).toBeVisible();
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(page.locator('.run-end')).toHaveText('Stopped by you');
  await expect(page.getByRole('button', { name: 'Run', exact: true }).first()).toBeEnabled();
});

test('a failed load, a dying engine and a failing run are told with a way on', async ({ page }) => {
  const failLoad = {
    code: 'unsupported',
    message: 'mistral.gguf has the type Q3_K, expected F32, F16, Q8_0, Q4_0 or Q4_1.',
    details: {},
  } as const;
  await playBack(page, { events: long, tokenMs: 0, modelLoaded: true, failLoad, dieAfterStep: 3 });
  await page.goto('/');
  await page.getByText('Another model').click();
  await page.getByPlaceholder(/gguf/).fill('https://example.com/mistral.gguf');
  await page.getByRole('button', { name: 'Load', exact: true }).click();
  await expect(page.getByText('mistral.gguf was not loaded')).toBeVisible();
  await expect(page.getByText(/expected F32, F16/)).toBeVisible();
  await expect(page.locator('.model-name')).toContainText('household-7M-Q8_0');
  await page.getByRole('button', { name: /^Dismiss/ }).click();

  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(page.getByText('The engine stopped', { exact: true }).first()).toBeVisible();
  await expect(page.getByText(/out of memory/)).toBeVisible();
  await expect(page.locator('.step')).toHaveCount(3);
  await page.getByRole('button', { name: 'Restart the engine' }).click();
  await expect(page.locator('.badge-button')).toContainText('WASM');
  await page.getByRole('button', { name: 'Run', exact: true }).first().click();
  await expect(page.locator('.card.end')).toBeVisible({ timeout: 60_000 });
  await expect(page.locator('.step')).toHaveCount(50);
});

test('loading shows bytes and speed, and can be cancelled', async ({ page }) => {
  await playBack(page, { loadReports: 400 });
  await page.goto('/');
  await page.getByPlaceholder(/gguf/).fill('https://example.com/big.gguf');
  await page.getByRole('button', { name: 'Load', exact: true }).click();
  await expect(page.locator('.loading')).toContainText(
    /Downloading · .* of 7\.9 MB · 4\.2 MB\/s · \d+ s left/,
  );
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.locator('.loading')).toHaveCount(0);
  await expect(page.getByText('No model is loaded yet.')).toBeVisible();
});

test('runs from files and from the store open read only; a cut file is refused with its line', async ({
  page,
}) => {
  const [first] = long;
  if (first?.type !== 'episode_started') throw new Error('the made run starts');
  const summary = {
    id: 'old',
    createdAt: '2026-11-28T10:00:00.000Z',
    manifest: first.manifest,
    goal: 'put a hot potato in sinkbasin.',
    steps: 50,
    updates: 6,
    rollbacks: 2,
    reason: 'step_limit',
    reward: 0,
  } as const;
  await playBack(page, { runs: [{ summary, events: long }], modelLoaded: true });
  await page.goto('/');
  const text = formatRunFile(long);
  await dropFile(page, 'cut.jsonl', text.slice(0, text.length / 2));
  await expect(page.getByText(/^Line \d+: not JSON/)).toBeVisible();
  await expect(page.getByRole('button', { name: /^Run household/ })).toBeVisible();
  await dropFile(page, 'shared.jsonl', text);
  await expect(page.getByText('shared.jsonl · read only')).toBeVisible();
  await expect(page.locator('.step')).toHaveCount(50);
  await expect(page.getByRole('button', { name: 'Adapter', exact: true })).toBeDisabled();
  await page.getByRole('button', { name: 'Close this run' }).click();
  await expect(page.getByRole('heading', { name: /Watch a language model/ })).toBeVisible();

  await page.getByRole('tab', { name: 'Runs (1)' }).click();
  await page.locator('.run-open').click();
  await expect(page.getByText('Stored run · read only')).toBeVisible();
  await page.getByRole('button', { name: /^Delete the run/ }).click();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(page.getByText('No runs yet.')).toBeVisible();
});

test('every screen is accessible and fits its window', async ({ page }) => {
  await playBack(page, {
    // Each kind of card is in it, and the contrast of each text is most of this test.
    events: madeRun({ steps: 20, talk: 2, seed: 6 }),
    tokenMs: 0,
    storedModels: [
      {
        key: 'https://example.com/a.gguf',
        name: 'a.gguf',
        bytes: 98_362_432,
        total: 98_362_432,
        complete: true,
        lastUsed: '2026-11-20T00:00:00Z',
      },
      {
        key: 'https://example.com/half.gguf',
        name: 'half.gguf',
        bytes: 12_000_000,
        total: 98_362_432,
        complete: false,
        lastUsed: '2026-11-21T00:00:00Z',
      },
    ],
  });
  await page.goto('/');
  await expect(page.getByText(quietScript.tasks[0]?.goal ?? '')).toBeVisible();
  await expectClean(page);
  await page.locator('.badge-button').click();
  await expectClean(page, 'dialog[open]');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Run the bundled policy' }).click();
  await expect(page.locator('.card.end')).toBeVisible({ timeout: 60_000 });
  await expect(page.locator('.recharts-surface')).toHaveCount(4);
  await page.locator('.step[data-step="20"]').click();
  await expectClean(page);
  for (const quantity of ['CE before', 'change']) {
    await page.locator('.heatmap-foot').getByText(quantity, { exact: true }).click();
    await expectClean(page, '.heatmap');
  }
  await page.getByRole('tab', { name: /Runs/ }).click();
  await expectClean(page, '.side');
  for (const [width, height] of [
    [1280, 800],
    [1920, 1080],
  ] as const) {
    await page.setViewportSize({ width, height });
    const fits = await page.evaluate(() => {
      const { scrollWidth, scrollHeight } = document.documentElement;
      const wide = [
        ...document.querySelectorAll('.side, .middle, .right, .chart, .heatmap'),
      ].filter((panel) => panel.scrollWidth > panel.clientWidth);
      return wide.length === 0 && scrollWidth <= innerWidth && scrollHeight <= innerHeight;
    });
    expect(fits).toBe(true);
  }
});
