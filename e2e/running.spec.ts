/** Stopping, taking up and queueing runs. */

import type { Page } from '@playwright/test';
import { fields } from '../src/config.ts';
import { expectClean } from './axe.ts';
import { playBack } from './fixtures/recorded/engine.ts';
import { madeRun } from './fixtures/recorded/household-run.ts';
import { expect, test } from './live.ts';

/**
 * Waits until the engine is at this kind of work, stops it there, and gives the milliseconds until
 * the page says that the run has ended. In the page itself: the driver would look too seldom.
 */
function stopTime(page: Page, work: string): Promise<number> {
  return page.evaluate(async (wanted) => {
    const wait = () => new Promise((resolve) => setTimeout(resolve, 5));
    // At any step after the first: a fast engine writes a step between two frames of the page.
    while (
      !document.querySelector('.step') ||
      !document.querySelector('.activity')?.textContent?.includes(wanted)
    )
      await wait();
    const stop = [...document.querySelectorAll('button')].find(
      (button) => button.textContent?.trim() === 'Stop',
    );
    const began = performance.now();
    stop?.click();
    while (!document.querySelector('.run-end')) await wait();
    return performance.now() - began;
  }, work);
}

test('the real engine stops within a second in mid-sentence and in mid-update, and takes the run up after each and after a crash', {
  tag: '@timed',
}, async ({ page }) => {
  test.setTimeout(240_000);
  await page.goto('/?backend=wasm');
  // Many gradient steps of a large adapter: an update takes long enough to be stopped in its middle.
  await page.getByLabel(fields.grad_steps.label, { exact: true }).fill('100');
  await page.getByLabel(fields.lora_rank.label, { exact: true }).fill('256');
  await page.getByLabel(fields.update_interval_k.label, { exact: true }).fill('3');
  await page.getByLabel(fields.min_steps_before_first_update.label, { exact: true }).fill('3');
  await page.getByRole('button', { name: 'Run the bundled policy' }).click();
  const inSentence = await stopTime(page, 'writing');
  await expect(page.locator('.run-end')).toHaveText('Stopped by you');
  const written = page.locator('.step').first().locator('.thought, .action, .observation');
  const first = await written.allTextContents();

  await page.getByRole('button', { name: /^Resume from step/ }).click();
  const inUpdate = await stopTime(page, 'training the adapter');
  console.log(
    `stop: ${Math.round(inSentence)} ms in a sentence, ${Math.round(inUpdate)} ms in an update`,
  );
  expect(inSentence).toBeLessThan(1000);
  expect(inUpdate).toBeLessThan(1000);
  const steps = await page.locator('.step').count();
  expect(steps % 3).toBe(0);
  expect(await written.allTextContents()).toEqual(first);

  // Once more, and this time the tab dies in mid-update: nothing of the three steps is lost.
  await page.getByRole('button', { name: `Resume from step ${steps}` }).click();
  await expect(page.locator('.activity')).toContainText('training the adapter', {
    timeout: 60_000,
  });
  page.once('dialog', (dialog) => void dialog.accept());
  await page.reload();
  // The address names the run and the step that were looked at, so the page opens there.
  await expect(page.getByText('The run was interrupted before its end')).toBeVisible();
  await page.getByRole('button', { name: `Resume from step ${steps}` }).click();
  await expect(page.locator('.step')).toHaveCount(steps);
  await expect(page.locator('.activity')).toContainText('training the adapter', {
    timeout: 60_000,
  });
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(page.locator('.run-end')).toHaveText('Stopped by you');
});

test('a method that tries again does so on the page, each try a run of its own', async ({
  page,
}) => {
  const made = madeRun({ steps: 6, seed: 2 });
  const reflection = {
    promptTokens: 9,
    ids: [1],
    logprobs: [-1],
    text: ' Look behind the mug first. ',
    stop: 'eos' as const,
  };
  const events = made.map((event) =>
    event.type === 'episode_ended' ? { ...event, reflection } : event,
  );
  await playBack(page, { events, tokenMs: 0, modelLoaded: true });
  await page.goto('/');
  await page.getByRole('button', { name: 'Run', exact: true }).first().click();
  // Three tries by default: the recording fails each of them.
  await expect(page.getByRole('tab', { name: 'Runs (3)' })).toBeVisible({ timeout: 60_000 });
  await expect(page.locator('.run-where')).toContainText('try 3');
  await expect(page.locator('.card.end .reflection')).toHaveText('Look behind the mug first.');
  await expect(page.getByRole('button', { name: 'Run', exact: true }).first()).toBeEnabled();
  await expectClean(page);
});

test('several tasks and methods run one after another with the time that is left, and stop together', async ({
  page,
}) => {
  await playBack(page, { events: madeRun({ steps: 6, seed: 2 }), tokenMs: 1, modelLoaded: true });
  await page.goto('/');
  await page.getByRole('button', { name: 'Queue…' }).click();
  // What a method does is said above the window, not behind it.
  await page.locator('label.check', { hasText: 'loop_breaker' }).hover();
  await expect(page.locator('.tip:popover-open')).toContainText('sampled again');
  const dialog = page.getByRole('dialog', { name: 'Several episodes' });
  await dialog.getByLabel(/^Tasks of/).fill('0-4');
  await dialog.getByLabel('Seeds').fill('1,x');
  await expect(dialog.getByRole('status')).toHaveText('Seeds want numbers such as 1-3 or 1,5.');
  await dialog.getByLabel('Seeds').fill('1,2');
  await dialog.getByLabel('frozen', { exact: true }).check();
  await expect(dialog.getByRole('status')).toHaveText('20 episodes: 5 tasks × 2 seeds × 2 methods');
  await expectClean(page, 'dialog[open]');
  await dialog.getByRole('button', { name: 'Run them' }).click();
  await expect(page.locator('.activity')).toContainText(/Episode 2 of 20, about .+ left/);
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(page.locator('.run-end')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Run', exact: true }).first()).toBeEnabled();
  await page.getByRole('tab', { name: 'Runs (2)' }).click();
});

test('an experiment file runs in the queue, and goes on with what has no run here yet', async ({
  page,
}) => {
  await playBack(page, { events: madeRun({ steps: 6, seed: 2 }), tokenMs: 0, modelLoaded: true });
  await page.goto('/');
  const open = async (name: string, text: string) => {
    await page.getByRole('button', { name: 'Queue…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Several episodes' });
    await dialog
      .locator('input[type=file]')
      .setInputFiles({ name, mimeType: 'application/toml', buffer: Buffer.from(text) });
    return dialog;
  };
  const text = `
    name = "ranks"
    question = "Which rank?"
    env = "household"
    split = "valid_seen"
    tasks = "0-1"
    seeds = [1]
    methods = ["frozen", "attt"]
    [[sweep]]
    method = "attt"
    lora_rank = [4, 8]
  `;
  const dialog = await open('ranks.toml', text);
  await expect(dialog.getByRole('status')).toHaveText('6 episodes: 2 tasks × 1 seed × 3 arms');
  await expect(dialog).toContainText('is told from 0 with 80 % power if it is');
  await expectClean(page, 'dialog[open]');
  await dialog.getByRole('button', { name: 'Run them' }).click();
  await page.getByRole('tab', { name: 'Runs (6)' }).click({ timeout: 60_000 });
  const wrong = await open('wrong.toml', text.replace('valid_seen', 'test'));
  await expect(page.getByText('wrong.toml: there is no household test here')).toBeVisible();
  await wrong.getByRole('button', { name: 'Cancel' }).click();
  const path = await open('path.toml', `${text}\nadapter = "kept/mine"`);
  await expect(
    page.getByText(/path\.toml starts episodes from the adapter kept\/mine/),
  ).toBeVisible();
  await path.getByRole('button', { name: 'Cancel' }).click();
});

test('the first run worth keeping asks the browser to keep it, and its end is told to whoever looks elsewhere', async ({
  page,
}) => {
  await playBack(page, { events: madeRun({ steps: 6, seed: 2 }), tokenMs: 0, modelLoaded: true });
  await page.addInitScript(() => {
    const told: string[] = [];
    class Told {
      static permission = 'granted';
      static requestPermission = async () => 'granted';
      constructor(title: string, options: { body: string }) {
        told.push(`${title} | ${options.body}`);
      }
    }
    let asked = 0;
    const persist = async () => {
      asked++;
      return true;
    };
    Object.defineProperty(document, 'hidden', { get: () => true });
    Object.assign(window, { Notification: Told, told, asked: () => asked });
    Object.assign(navigator.storage, { persist, persisted: async () => asked > 0 });
  });
  await page.goto('/');
  const bell = page.getByRole('button', { name: 'Notify me when a run ends' });
  await bell.click();
  await expect(bell).toHaveAttribute('aria-pressed', 'true');
  await page.getByRole('button', { name: 'Run', exact: true }).first().click();
  await expect(page.locator('.card.end')).toBeVisible();
  await expect
    .poll(() => page.evaluate(() => Reflect.get(window, 'told')))
    .toEqual(['aTTT Lab: Step limit reached | put a hot potato in sinkbasin. 6 steps, 1 update.']);
  expect(await page.evaluate(() => Reflect.get(window, 'asked')())).toBe(1);
  await expect(page).toHaveTitle(/^Done, 6 steps/);
  await page.getByRole('tab', { name: /Runs/ }).click();
  await expect(page.locator('.storage')).toContainText(
    'This browser keeps it until you delete it.',
  );
  await page.reload();
  await expect(bell).toHaveAttribute('aria-pressed', 'true');
});
