/** Keeping and sharing: the notebook as a file, runs by address, settings in the address, two tabs. */

import { readFileSync } from 'node:fs';
import { formatRunFile } from '../src/formats/run-file.ts';
import { playBack } from './fixtures/recorded/engine.ts';
import { madeRun } from './fixtures/recorded/household-run.ts';
import { answering, expect, test } from './live.ts';

const events = madeRun({ steps: 12, seed: 3 });
const [first] = events;
if (first?.type !== 'episode_started') throw new Error('the made run starts');
const interrupted = {
  summary: {
    id: 'cut',
    createdAt: '2026-11-28T10:00:00.000Z',
    manifest: first.manifest,
    goal: 'put a hot potato in sinkbasin.',
    steps: 6,
    updates: 1,
    rollbacks: 0,
    reason: null,
    reward: 0,
  },
  events: events.slice(
    0,
    events.findIndex((one) => one.type === 'step' && one.t === 7),
  ),
} as const;

test('an interrupted run is offered at opening, can be read first, and goes on to its end', async ({
  page,
}) => {
  await playBack(page, { events, runs: [interrupted], tokenMs: 0 });
  await page.goto('/');
  const offer = page.getByRole('region', { name: 'An interrupted run' });
  await offer.getByRole('button', { name: 'Read it' }).click();
  await expect(page.locator('.step')).toHaveCount(6);
  await page.getByRole('button', { name: 'Resume from step 6' }).click();
  await expect(page.locator('.card.end')).toBeVisible();
  await expect(page.locator('.step')).toHaveCount(12);
});

test('the whole notebook goes out as one file and comes back into an empty browser', async ({
  browser,
  page,
  baseURL,
}) => {
  // The real engine and its stores; no model is needed.
  await page.goto('/?backend=cpu');
  await page.evaluate(
    async ([runs, stored]) => {
      const put = (name: string, key: IDBValidKey, value: unknown) =>
        new Promise<void>((resolve, reject) => {
          const opening = indexedDB.open(`attt-${name}`);
          opening.onupgradeneeded = () => opening.result.createObjectStore(name);
          opening.onerror = () => reject(opening.error);
          opening.onsuccess = () => {
            const writing = opening.result.transaction(name, 'readwrite');
            writing.objectStore(name).put(value, key);
            writing.oncomplete = () => {
              opening.result.close();
              resolve();
            };
          };
        });
      const summary = JSON.parse(runs ?? '');
      await put('runs', summary.id, summary);
      for (const event of JSON.parse(stored ?? '')) {
        await put('events', [summary.id, event.seq], event);
      }
      await put('snapshots', [summary.id, 'latest'], {
        schema: 1,
        adapter: {
          modules: [
            {
              ...{ layer: 0, target: 'q_proj', inputs: 2, outputs: 1, rank: 1, scale: 2 },
              ...{ aT: new Float32Array([0.1, -0]), bT: new Float32Array(1) },
            },
          ],
        },
        optimiser: {
          step: 2,
          m: [new Float32Array(2), new Float32Array(1)],
          v: [new Float32Array(2), new Float32Array(1)],
        },
      });
    },
    [JSON.stringify(interrupted.summary), JSON.stringify(interrupted.events)],
  );
  await page.reload();
  await page.getByRole('tab', { name: 'Runs (1)' }).click();
  // Nine numbers of 4 bytes, saved without their size.
  await expect(page.locator('.storage')).toContainText(
    /used\. Adapters: 1 snapshot, 36 B; .* This browser/,
  );
  await expect(page.locator('.run-facts').last()).toContainText('1 snapshot, 36 B');
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export all' }).click(),
  ]);
  expect(file.suggestedFilename()).toMatch(/^\d{4}-\d\d-\d\d\.attt-notebook\.zip$/);
  const notebook = {
    name: file.suggestedFilename(),
    mimeType: 'application/zip',
    buffer: readFileSync(await file.path()),
  };

  const other = await browser.newContext({ ...(baseURL ? { baseURL } : {}) });
  const empty = answering(await other.newPage());
  await empty.goto('/?backend=cpu');
  await empty.getByRole('tab', { name: 'Runs' }).click();
  const picker = empty.getByLabel(/^A notebook/);
  await picker.setInputFiles(notebook);
  await expect(empty.getByText('1 run added.')).toBeVisible();
  await empty.locator('.run-open').click();
  await expect(empty.locator('.step')).toHaveCount(6);
  await picker.setInputFiles(notebook);
  await expect(empty.getByText('0 runs added, 1 run was here already.')).toBeVisible();
  const kept = await empty.evaluate(
    () =>
      new Promise((resolve) => {
        const opening = indexedDB.open('attt-snapshots');
        opening.onsuccess = () => {
          const reading = opening.result
            .transaction('snapshots')
            .objectStore('snapshots')
            .get(['cut', 'latest']);
          reading.onsuccess = () => resolve(Object.is(reading.result.adapter.modules[0].aT[1], -0));
        };
      }),
  );
  expect(kept).toBe(true);
  await other.close();
});

test('a run opens by its address, read only, and an address that gives none is said in words', async ({
  page,
}) => {
  await playBack(page, {});
  await page.route(
    ({ pathname }) => pathname === '/shared/run.jsonl',
    (route) => route.fulfill({ body: formatRunFile(events) }),
  );
  await page.goto('/?run=/shared/run.jsonl');
  await expect(page.getByText('run.jsonl · read only')).toBeVisible();
  await expect(page.locator('.step')).toHaveCount(12);
  await page.goto('/?run=/shared/none.jsonl');
  await expect(page.getByText('The run at this address could not be opened')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Run the bundled policy' })).toBeEnabled();
});

test('changed settings are in the address, and the address gives them to another browser', async ({
  page,
  browser,
  baseURL,
}) => {
  await playBack(page, {});
  await page.goto('/');
  await page.getByLabel('LoRA rank', { exact: true }).fill('4');
  await page.getByLabel('Method', { exact: true }).selectOption('frozen');
  await expect.poll(() => page.url()).toContain('#method=frozen&lora_rank=4'); // as in the schema
  const other = await browser.newContext({ ...(baseURL ? { baseURL } : {}) });
  const shared = answering(await other.newPage());
  await playBack(shared, {});
  await shared.goto(page.url().replace('lora_rank=4', 'lora_rank=4&w_min=7'));
  await expect(shared.getByLabel('LoRA rank', { exact: true })).toHaveValue('4');
  await expect(shared.getByLabel('Method', { exact: true })).toHaveValue('frozen');
  await expect(shared.getByLabel('Smallest weight', { exact: true })).toHaveValue('0.05');
  await other.close();
});

test('a second tab only reads until it takes over; then the first one does', async ({
  page,
  context,
}) => {
  // Slow enough to be running still when another tab has opened, read a run and taken over.
  const script = { events, tokenMs: 40, modelLoaded: true, runs: [interrupted] };
  await playBack(page, script);
  await page.goto('/');
  await page.getByRole('button', { name: 'Not now' }).click();
  await page.getByRole('button', { name: 'Run', exact: true }).first().click();
  await expect(page.locator('.step').first()).toBeVisible();
  const second = await context.newPage();
  await playBack(second, script);
  await second.goto('/');
  await expect(second.getByText(/This one only reads/)).toBeVisible();
  await expect(second.getByRole('button', { name: 'Run', exact: true }).first()).toBeDisabled();
  await second.getByRole('tab', { name: /Runs/ }).click();
  await second.locator('.run-open').first().click();
  await expect(second.locator('.step')).toHaveCount(6);
  await second.getByRole('button', { name: 'Take over' }).click();
  await expect(second.getByText(/This one only reads/)).toHaveCount(0);
  await expect(page.getByText(/This one only reads/)).toBeVisible();
  await expect(page.locator('.run-end')).toHaveText('Stopped by you');
  await expect(page.getByRole('button', { name: 'Run', exact: true }).first()).toBeDisabled();
});
