/** What is seen can be sent and taken home: views in the address, bundles, reports; and what is dropped opens. */

import { readFileSync } from 'node:fs';
import { headerOf } from '../src/experiment/testing-rows.ts';
import { formatRunFile } from '../src/formats/run-file.ts';
import { readZip, writeZip } from '../src/formats/zip.ts';
import { expectClean } from './axe.ts';
import { dropFile } from './drop.ts';
import { playBack } from './fixtures/recorded/engine.ts';
import { madeRun } from './fixtures/recorded/household-run.ts';
import { expect, test } from './live.ts';

const kept = (['attt', 'frozen'] as const).map((method, i) => {
  const events = madeRun({ steps: 12, seed: 6 + i, settings: { method, seed: i + 1 } });
  const [first] = events;
  if (first?.type !== 'episode_started') throw new Error('the made run starts');
  const summary = {
    id: `run-${i}`,
    createdAt: `2026-11-29T1${i}:00:00.000Z`,
    manifest: first.manifest,
    goal: first.task.goal ?? '',
    steps: 12,
    updates: 2,
    rollbacks: 0,
    reason: 'step_limit',
    reward: 0,
  } as const;
  return { summary, events };
});

test('how a run is looked at is in the address, and the address shows it so again', async ({
  page,
}) => {
  await playBack(page, { runs: kept, modelLoaded: true });
  await page.goto('/#run=run-0&step=10');
  const foot = page.locator('.heatmap-foot');
  await foot.getByText('change', { exact: true }).click();
  await page.locator('.heatmap-head').getByText('all', { exact: true }).click();
  await page.getByLabel('Chart 1 shows').selectOption('reward');
  await page.getByRole('slider', { name: 'smoothing' }).fill('0.5');
  // One chart has a smoothing of its own, and all are drawn over what was written.
  await page.getByRole('button', { name: 'Drift: smoothing and axis of its own' }).click();
  await page.getByRole('slider', { name: 'smoothing' }).last().fill('0.9');
  await page.getByLabel('What the charts are drawn over').selectOption('tokens');
  await expect
    .poll(() => new URL(page.url()).hash)
    .toBe(
      '#run=run-0&step=10&colour=ce_change&tokens=matrix&charts=reward.kl.loss.updates&smoothing=0.5&own=kl-90&axis=tokens',
    );
  await page.reload();
  await expect(page.locator('.step[aria-current]')).toHaveAttribute('data-step', '10');
  await expect(page.getByLabel('Chart 1 shows')).toHaveValue('reward');
  await expect(page.locator('.chart-axis').first()).toHaveText('tokens');
  await expect(page.locator('.matrix canvas')).toBeVisible();
  await expect(page.locator('.legend')).toContainText('less likely');

  await page.goto('/#compare=run-0.run-1');
  await page.reload();
  await expect(page.locator('.overlay-legend > button')).toHaveCount(2);
  // With a run by its address: that run, at that step.
  await page.route(
    ({ pathname }) => pathname === '/r.jsonl',
    (route) => route.fulfill({ body: formatRunFile(kept[0]?.events ?? []) }),
  );
  await page.goto('/?run=/r.jsonl#step=7&colour=entropy');
  await expect(page.locator('.step[aria-current]')).toHaveAttribute('data-step', '7');
  await expect(foot.getByRole('radio', { name: 'entropy' })).toBeChecked();
});

test('a link gives its settings whole, at the start and into a page that is open', async ({
  page,
}) => {
  await playBack(page, {});
  await page.addInitScript(() =>
    localStorage.setItem('attt.settings', '{"lora_rank":16,"temperature":0}'),
  );
  await page.goto('/#method=frozen');
  const news = page.locator('.notice', { hasText: 'Settings of the link' });
  await expect(news).toContainText('LoRA rank: 8, was 16');
  await expect(news).toContainText('frozen, was attt');
  await news.getByRole('button', { name: /^Dismiss/ }).click();
  // The same page is given another address, as by pasting it.
  await page.evaluate(() => {
    location.hash = 'lora_rank=4';
  });
  await expect(news).toContainText('LoRA rank: 4, was 8');
  await expect(news).toContainText('attt, was frozen');
  await page.getByRole('button', { name: /^Dismiss/ }).click();
  await expect.poll(() => new URL(page.url()).hash).toBe('#lora_rank=4');
});

test('a run goes home as a bundle, and bundle, world and model open by drop', async ({ page }) => {
  await playBack(page, { modelLoaded: true });
  await page.goto('/');
  await dropFile(page, 'mine.jsonl', formatRunFile(kept[0]?.events ?? []));
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.locator('.run-head').getByRole('button', { name: 'Bundle' }).click(),
  ]);
  expect(file.suggestedFilename()).toBe('mine.attt.zip');
  const bundle = readFileSync(await file.path());
  await page.getByRole('button', { name: 'Close this run' }).click();
  await dropFile(page, 'mine.attt.zip', bundle);
  await expect(page.getByText('mine.attt.zip · read only')).toBeVisible();
  await expect(page.locator('.step')).toHaveCount(12);
  // A table of it is gone: the run opens all the same, and what is missing is told.
  const parts = [...readZip(bundle, 'mine')].filter(([path]) => path !== 'metrics.csv');
  const part = writeZip(parts.map(([path, bytes]) => ({ path, bytes, stored: false })));
  await dropFile(page, 'part.attt.zip', Buffer.from(part));
  await expect(page.getByText('part.attt.zip · read only')).toBeVisible();
  await expect(page.getByText('part.attt.zip is open, but not whole')).toBeVisible();
  await expect(page.getByText(/metrics\.csv is named in MANIFEST\.json, but is not/)).toBeVisible();
  // One byte of it changed: refused in words, and the run on screen stays.
  const broken = Buffer.from(bundle);
  broken[broken.length >> 1] = (broken[broken.length >> 1] ?? 0) ^ 0xff;
  await dropFile(page, 'broken.attt.zip', broken);
  await expect(page.getByText('broken.attt.zip was not opened')).toBeVisible();
  await expect(page.getByText('part.attt.zip · read only')).toBeVisible();

  await dropFile(page, 'scene.json', '{"objects": []}');
  await expect(page.getByText('scene.json is open')).toBeVisible();
  await dropFile(page, 'game.tw-pddl', 'nothing');
  await expect(page.getByText('game.tw-pddl was not opened')).toBeVisible();
  await dropFile(page, 'other.gguf', 'GGUF');
  await expect(page.getByText('Read from a file of this computer.')).toBeVisible();
});

test('a report is made of the runs kept here, and all runs are deleted after asking', async ({
  page,
}) => {
  await playBack(page, { runs: kept, modelLoaded: true });
  await page.goto('/#compare=run-0.run-1');
  await page.getByRole('tab', { name: 'Runs (2)' }).click();
  await page.getByRole('tabpanel').getByRole('button', { name: 'Report…' }).click();
  const report = page.getByRole('dialog', { name: 'Report' });
  await expect(report.locator('iframe').contentFrame().locator('h1')).toBeVisible();
  await expectClean(page, 'dialog[open]');
  const [html] = await Promise.all([
    page.waitForEvent('download'),
    report.getByRole('button', { name: 'HTML' }).click(),
  ]);
  const alone = await page.context().newPage();
  await alone.setContent(readFileSync(await html.path(), 'utf8'));
  await expect(alone.locator('body')).toContainText('frozen');
  await expectClean(alone);
  await alone.close();
  // Files that are no experiment's are refused by place and reason, with what to do.
  const why = async (...files: readonly (readonly [name: string, text: string])[]) => {
    await report
      .locator('input[type=file]')
      .setInputFiles(
        files.map(([name, text]) => ({ name, mimeType: '', buffer: Buffer.from(text) })),
      );
    return report.getByRole('alert');
  };
  const header = JSON.stringify(headerOf(['frozen']));
  await expect(await why(['settings.json', '{"att":{}}'], ['rows.jsonl', ''])).toContainText(
    'settings.json has no schema; expected what "attt experiment" writes',
  );
  await expect(await why(['experiment.json', header], ['rows.jsonl', 'null\n'])).toContainText(
    'rows.jsonl, line 1, is damaged: it holds null, expected one row of an experiment.',
  );
  await expectClean(page, 'dialog[open]');
  await expect(await why(['experiment.json', header], ['rows.jsonl.gz', 'no gzip'])).toContainText(
    'rows.jsonl.gz could not be unpacked',
  );
  await report.getByRole('button', { name: 'Close' }).click();
  await expect(report).toHaveCount(0);

  await page.getByRole('button', { name: 'Delete all…' }).click();
  await expectClean(page, '.side');
  await page.getByRole('button', { name: 'Keep', exact: true }).click();
  await expect(page.locator('.run-open')).toHaveCount(2);
  await page.getByRole('button', { name: 'Delete all…' }).click();
  await page.getByRole('button', { name: 'Delete 2 runs' }).click();
  await expect(page.getByText('No runs yet.').first()).toBeVisible();
});

test('a served model is connected by its address, and the first screen says what goes there', async ({
  page,
}) => {
  await playBack(page, {});
  await page.goto('/');
  await expect(page.locator('.lead')).toContainText('Nothing leaves your computer.');
  await page.getByText('Model on a server').click();
  await expectClean(page);
  await page.getByLabel('Address of the server', { exact: true }).fill('http://127.0.0.1:8080');
  await page.getByLabel('Name of the model on the server').fill('tuned');
  await page.getByRole('button', { name: 'Connect' }).click();
  await expect(page.locator('.model-name')).toContainText('tuned');
  await expect(page.locator('.lead')).toContainText(
    'at http://127.0.0.1:8080: the conversation is sent there, and nowhere else.',
  );
  await expect(page.locator('.lead')).not.toContainText('Nothing leaves');
  await expectClean(page);
});
