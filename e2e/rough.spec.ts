/** The page in rough hands: hasty clicks, runs of odd shape, texts of any kind, small windows, no mouse. */

import type { Page } from '@playwright/test';
import { formatRunFile } from '../src/formats/run-file.ts';
import type { EpisodeEvent } from '../src/records.ts';
import { expectClean } from './axe.ts';
import { dropFile } from './drop.ts';
import { type EngineScript, playBack } from './fixtures/recorded/engine.ts';
import { longUpdates, madeRun } from './fixtures/recorded/household-run.ts';
import { expect, test } from './live.ts';

/** Opens the page on a recorded engine; what it throws or logs as an error is gathered. */
async function openPage(page: Page, script: Partial<EngineScript>, path = '/'): Promise<string[]> {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  await playBack(page, { modelLoaded: true, ...script });
  await page.goto(path);
  return errors;
}

/** Opens a run from an address, once its head is drawn. */
async function openRun(page: Page, events: readonly EpisodeEvent[]): Promise<string[]> {
  await page.route(
    ({ pathname }) => pathname === '/rough.jsonl',
    (route) => route.fulfill({ body: formatRunFile(events) }),
  );
  const errors = await openPage(page, {}, '/?run=/rough.jsonl');
  await page.locator('.run-stats').waitFor();
  return errors;
}

const run = (page: Page) => page.getByRole('button', { name: 'Run', exact: true }).first();
const stop = (page: Page) => page.getByRole('button', { name: 'Stop', exact: true });
const wide = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);

test('hasty clicks start one run, stop it, even before it has begun, and take it up at once', async ({
  page,
}) => {
  const errors = await openPage(page, {
    events: madeRun({ steps: 30, seed: 2 }),
    tokenMs: 5,
    startMs: 150,
  });
  // Stopped between the click and the first sign of life.
  await run(page).click();
  await stop(page).click();
  await expect(page.locator('.run-end')).toHaveText('Stopped by you');
  await run(page).dblclick();
  await expect(page.locator('.step')).not.toHaveCount(0);
  await stop(page).dblclick();
  await page.getByRole('button', { name: /^Resume from step/ }).dblclick();
  await expect(page.locator('.activity')).toContainText(/Step \d+ · writing/);
  await stop(page).click();
  await expect(page.locator('.run-end')).toHaveText('Stopped by you');
  await page.getByRole('tab', { name: 'Runs (2)' }).click();
  expect(errors).toEqual([]);
});

test('a run goes on while others are read, closed and models are dropped on it', async ({
  page,
}) => {
  const events = madeRun({ steps: 30, seed: 2 });
  const [first] = events;
  if (first?.type !== 'episode_started') throw new Error('the made run starts');
  const stored = {
    summary: {
      id: 'old',
      createdAt: '2026-11-28T10:00:00.000Z',
      manifest: first.manifest,
      goal: 'an earlier run',
      steps: 6,
      updates: 1,
      rollbacks: 0,
      reason: 'step_limit',
      reward: 0,
    } as const,
    events: madeRun({ steps: 6, seed: 4 }),
  };
  const errors = await openPage(page, { events, tokenMs: 8, runs: [stored] });
  await run(page).click();
  await page.locator('.step').first().waitFor();
  await dropFile(page, 'other.gguf', 'GGUF');
  await expect(page.locator('.notice')).toContainText('Stop the run first');
  await page.getByRole('tab', { name: /^Runs/ }).click();
  await page
    .getByRole('button', { name: /an earlier run/ })
    .first()
    .click();
  await expect(page.locator('.run-stats')).toContainText('read only');
  await page.getByRole('button', { name: 'Close this run and go back' }).click();
  await expect(page.getByRole('button', { name: 'Close this run' })).toBeDisabled();
  const before = await page.locator('.step').count();
  await expect(page.locator('.step')).not.toHaveCount(before);
  await stop(page).click();
  await expect(page.locator('.run-end')).toHaveText('Stopped by you');
  expect(errors).toEqual([]);
});

test('a full disk is told with how full it is, and the oldest run can make room', async ({
  page,
}) => {
  const events = madeRun({ steps: 6, seed: 4 });
  const [first] = events;
  if (first?.type !== 'episode_started') throw new Error('the made run starts');
  const stored = ['a new one', 'an old one'].map((goal, i) => ({
    summary: {
      id: goal,
      createdAt: `2026-11-2${8 - i}T10:00:00.000Z`,
      manifest: first.manifest,
      goal,
      steps: 6,
      updates: 1,
      rollbacks: 0,
      reason: 'step_limit',
      reward: 0,
    } as const,
    events,
  }));
  const failRun = { code: 'quota', message: 'Could not save the run.', details: {} } as const;
  await openPage(page, { events, runs: stored, failRun });
  await run(page).click();
  const notice = page.locator('.notice');
  await expect(notice).toContainText(/ of .+ used\./);
  await expectClean(page);
  await notice.getByRole('button', { name: 'Delete the oldest run: an old one (27 Nov' }).click();
  await expect(notice).toHaveCount(0);
  await page.getByRole('tab', { name: 'Runs (2)' }).click();
  await expect(page.locator('.runs')).toContainText('a new one');
  await expect(page.locator('.runs')).not.toContainText('an old one');
});

test('runs of odd shape can be read: no step, one step, no end, no tokens', async ({ page }) => {
  const shapes = {
    'no step': madeRun({ steps: 0 }),
    'one step': madeRun({ steps: 1 }),
    'no end': madeRun({ steps: 0, end: 'none' }),
    'no tokens': madeRun({ steps: 6, seed: 2 }).map((event) =>
      event.type === 'boundary' ? { ...event, tokens: null } : event,
    ),
  };
  const errors = await openPage(page, {});
  for (const [name, events] of Object.entries(shapes)) {
    await dropFile(page, `${name}.jsonl`, formatRunFile(events));
    await expect(page.getByText(`${name}.jsonl · read only`)).toBeVisible();
    const steps = events.filter(({ type }) => type === 'step').length;
    await expect(page.locator('.step'), name).toHaveCount(steps);
    for (const key of ['Home', 'ArrowRight', 'End', ' ', 'Escape', '[', ']']) {
      await page.keyboard.press(key);
    }
    for (const view of ['all', 'kept', 'text']) {
      await page.locator('.heatmap-head').getByText(view, { exact: true }).click();
    }
    await expect(page.locator('.heatmap-empty'), name).toBeVisible();
    expect(await wide(page), name).toBe(false);
  }
  expect(errors).toEqual([]);
});

/** A run in which one step thinks, does and sees this. */
function saying(text: string): readonly EpisodeEvent[] {
  return madeRun({ steps: 6, seed: 2 }).map((event) =>
    event.type === 'step' && event.t === 2
      ? { ...event, thought: text, action: text.slice(0, 300), observation: text }
      : event.type === 'boundary' && event.tokens
        ? {
            ...event,
            tokens: { ...event.tokens, pieces: piecesFrom(text, event.tokens.ids.length) },
          }
        : event,
  );
}

function piecesFrom(text: string, count: number): readonly string[] {
  const letters = [...text];
  return Array.from({ length: count }, (_, i) => letters[i % letters.length] ?? '');
}

test('what the agent writes is shown as it is: markup, other scripts, emoji, no blanks', async ({
  page,
}) => {
  const markup = '<img src=x onerror="document.title=1"><b>bold</b>&amp;<script>1</script>';
  const scripts =
    'שלום עולם، مرحبا بالعالم 你好 👩‍👩‍👧‍👦 e\u0301 \u202eunder\u202c \u0000\u0007 end';
  const errors = await openRun(page, saying(`${markup}\n${scripts}`));
  const step = page.locator('.step[data-step="2"]');
  await expect(step.locator('.observation')).toContainText(markup);
  await expect(step.locator('.observation')).toContainText('مرحبا بالعالم 你好 👩‍👩‍👧‍👦');
  await expect(step.locator('img, b, script')).toHaveCount(0);
  await expect(page).not.toHaveTitle('1');
  await page.locator('[data-token]').nth(3).hover();
  await expect(page.locator('.token-detail')).toBeVisible();
  expect(await wide(page)).toBe(false);
  await expectClean(page);
  expect(errors).toEqual([]);
});

test('an observation of a hundred thousand letters is folded, opens, and is searched', {
  tag: '@long',
}, async ({ page }) => {
  const text = `${'nothing '.repeat(12_000)}needle ${'x'.repeat(10_000)}`;
  const errors = await openRun(page, saying(text));
  const observation = page.locator('.step[data-step="2"] .observation');
  const height = async () => (await observation.boundingBox())?.height ?? 0;
  expect(await height()).toBeLessThan(800);
  await observation.getByRole('button', { name: /Show all/ }).click();
  expect(await height()).toBeGreaterThan(5_000);
  expect(await wide(page)).toBe(false);
  await observation.getByRole('button', { name: 'Show less' }).click();
  expect(await height()).toBeLessThan(800);
  await page.getByLabel('Search the transcript').fill('needle');
  await expect(observation.locator('mark')).toHaveText('needle');
  expect(errors).toEqual([]);
});

test('five thousand tokens of one update are shown, walked and drawn as cells', {
  tag: '@long',
}, async ({ page }) => {
  const errors = await openRun(page, longUpdates(madeRun({ steps: 6, seed: 2 }), 5000));
  await expect(page.locator('[data-token]')).toHaveCount(5000);
  await page.locator('.tokens').focus();
  await page.keyboard.press('End');
  await expect(page.getByText('place 5000 of 5000')).toBeVisible();
  await expect(page.locator('[data-token="4999"]')).toBeInViewport();
  await page.keyboard.press('ArrowLeft');
  await expect(page.getByText('place 4999 of 5000')).toBeVisible();
  await page.locator('.heatmap-head').getByText('all', { exact: true }).click();
  await page.locator('.matrix canvas').hover({ position: { x: 200, y: 8 } });
  await expect(page.getByText(/place \d+ of 5000/)).toBeVisible();
  expect(await wide(page)).toBe(false);
  expect(errors).toEqual([]);
});

test('on a narrow page a run opens at its head, whatever lies below it', { tag: '@long' }, async ({
  page,
}) => {
  await page.setViewportSize({ width: 360, height: 740 });
  const errors = await openRun(page, madeRun({ steps: 30, seed: 2, talk: 5 }));
  await expect(page.locator('.recharts-surface')).toHaveCount(4);
  await expect(page.locator('[data-token]')).not.toHaveCount(0);
  await expect(page.locator('.run-head')).toBeInViewport();
  expect(await page.evaluate(() => scrollY)).toBe(0);
  expect(errors).toEqual([]);
});

test('at 200 % zoom, and while the window is dragged to any size, nothing lies outside of it', {
  tag: '@long',
}, async ({ page }) => {
  const errors = await openRun(page, madeRun({ steps: 30, seed: 2 }));
  for (const [width, height] of [
    [640, 400], // 1280 × 800 at 200 %
    [320, 640],
    [800, 500],
    [1181, 700],
    [2560, 1300],
    [1280, 800],
  ] as const) {
    await page.setViewportSize({ width, height });
    await expect.poll(() => wide(page)).toBe(false);
    const heights = await page
      .locator('.chart-plot, .tokens, .transcript-scroll')
      .evaluateAll((boxes) => boxes.map((box) => box.clientHeight));
    expect(heights).toHaveLength(6);
    expect(Math.min(...heights)).toBeGreaterThan(50);
  }
  await page.setViewportSize({ width: 640, height: 400 });
  await page.getByRole('button', { name: 'Help' }).click();
  const dialog = page.getByRole('dialog', { name: 'Help' });
  await expect(dialog.getByRole('button', { name: 'Close' })).toBeInViewport();
  expect(await dialog.evaluate((box) => box.scrollWidth <= box.clientWidth)).toBe(true);
  expect(errors).toEqual([]);
});

test('an episode is run, paused, gone on with, stopped and read without a mouse', async ({
  page,
}) => {
  const errors = await openPage(page, { events: madeRun({ steps: 30, seed: 2 }), tokenMs: 4 });
  const press = async (key: string, times = 1) => {
    for (let n = 0; n < times; n++) await page.keyboard.press(key);
  };
  const tabTo = async (name: string) => {
    for (let n = 0; n < 120; n++) {
      await press('Tab');
      const at = await page.evaluate(() => {
        const one = document.activeElement;
        return one?.getAttribute('aria-label') ?? one?.textContent?.trim() ?? '';
      });
      if (at === name) return;
    }
    throw new Error(`the Tab key does not come to "${name}"`);
  };
  await run(page).waitFor();
  await tabTo('Run');
  await press('Enter');
  await page.locator('.step').first().waitFor();
  // The focus is on Pause now, in the place of Run.
  await press('Enter');
  await expect(page.locator('.activity')).toContainText('Paused after step');
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await press(' ');
  await expect(page.locator('.activity')).toContainText('writing');
  await tabTo('Stop');
  await press('Enter');
  await expect(page.locator('.run-end')).toHaveText('Stopped by you');
  await press('Home');
  await expect(page.locator('.step[aria-current]')).toHaveAttribute('data-step', '1');
  await tabTo('Transcript');
  await press('j');
  await press('Escape');
  expect(errors).toEqual([]);
});
