/** The adapter shelf over the real engine: open, name, compare, merge, mix, delete. */

import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { readGguf } from '../src/formats/gguf.ts';
import { type GgufLoraModule, readGgufLora, writeGgufLora } from '../src/formats/gguf-lora.ts';
import { type PeftModule, unzipPeft, zipPeft } from '../src/formats/peft.ts';
import { bytesSource } from '../src/formats/source.ts';
import { expectClean } from './axe.ts';
import { expect, test } from './live.ts';

const policy = new Uint8Array(readFileSync('models/household-2m/household-2m-q8_0.gguf'));

/** A LoRA on the output projections of the bundled policy, its values waves of this frequency. */
async function waves(frequency: number): Promise<readonly GgufLoraModule[]> {
  const { tensors } = await readGguf(bytesSource(policy, 'policy'));
  const rank = 2;
  return tensors
    .filter(({ name }) => name.endsWith('attn_output.weight'))
    .map(({ name, rows, cols }) => {
      const matrix = (r: number, c: number, size: number) => ({
        rows: r,
        cols: c,
        values: Float32Array.from(
          { length: r * c },
          (_, i) => size * Math.sin(frequency * (i + 1)),
        ),
      });
      return { tensor: name, scale: 2, a: matrix(rank, cols, 0.2), b: matrix(rows, rank, 0.2) };
    });
}

const inGguf = async (frequency: number) =>
  Buffer.from(writeGgufLora(await waves(frequency), { architecture: 'llama', name: 'household' }));

/** o_proj keeps its rows, so a PEFT folder holds the same matrices. */
async function inPeft(frequency: number): Promise<Buffer> {
  const modules: PeftModule[] = (await waves(frequency)).map(({ tensor, ...module }) => ({
    name: `model.layers.${/\d+/.exec(tensor)?.[0]}.self_attn.o_proj`,
    ...module,
  }));
  return Buffer.from(zipPeft(modules, { name: 'household', licence: null }));
}

async function openShelf(page: Page): Promise<void> {
  await page.getByRole('tab', { name: 'Adapters' }).click();
  await expect(page.getByRole('heading', { name: 'Adapters in this browser' })).toBeVisible();
}

/** Drops a file on the page, as a person does. */
async function drop(page: Page, name: string, bytes: Buffer): Promise<void> {
  const data = await page.evaluateHandle(
    ([text, file]) => {
      const transfer = new DataTransfer();
      const content = Uint8Array.from(atob(text ?? ''), (c) => c.charCodeAt(0));
      transfer.items.add(new File([content], file ?? ''));
      return transfer;
    },
    [bytes.toString('base64'), name],
  );
  await page.locator('.app').dispatchEvent('drop', { dataTransfer: data });
}

test('adapters are opened by drop and by choice, named, compared, merged, mixed and deleted', async ({
  page,
}) => {
  test.setTimeout(240_000);
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto('/?backend=wasm');
  await openShelf(page);
  await expect(page.getByText('No adapters yet.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Open…' })).toBeDisabled();
  await page.getByRole('tab', { name: 'Setup' }).click();
  const larger = page.getByRole('button', { name: 'SmolLM2 policy' });
  await expect(larger).toBeDisabled();
  await expect(larger).toHaveAttribute('data-tip', /needs SmolLM2-135M-Instruct\.Q4_1\.gguf/);
  await page.getByRole('button', { name: 'Bundled policy', exact: true }).click();
  await openShelf(page);
  await expect(page.getByRole('button', { name: 'Open…' })).toBeEnabled({ timeout: 60_000 });

  await drop(page, 'kitchen.gguf', await inGguf(0.7));
  const entries = page.locator('.shelf-entry');
  await expect(entries).toHaveCount(1);
  await expect(entries.first()).toContainText('kitchen');
  await expect(entries.first()).toContainText('rank 2 · 6 modules');
  await page.getByLabel('An adapter', { exact: true }).setInputFiles({
    name: 'garden.zip',
    mimeType: 'application/zip',
    buffer: await inPeft(1.3),
  });
  await expect(entries).toHaveCount(2);
  await page.getByLabel('An adapter', { exact: true }).setInputFiles({
    name: 'broken.zip',
    mimeType: 'application/zip',
    buffer: Buffer.from('PK, but no zip'),
  });
  await expect(page.getByText('broken.zip was not opened')).toBeVisible();
  await expect(entries).toHaveCount(2);
  await expectClean(page);

  // Name and note.
  await page.getByRole('button', { name: /^kitchen/ }).click();
  const window = page.getByRole('dialog');
  await window.getByLabel('Name').fill('after the kitchen');
  await window.getByLabel('Note').fill('step 40');
  await window.getByRole('button', { name: 'Keep', exact: true }).click();
  await expect(page.getByRole('dialog', { name: 'after the kitchen' })).toBeVisible();
  await window.getByText('Modules by norm').click();
  await expect(window.locator('.shelf-modules tbody tr')).toHaveCount(6);
  await expectClean(page, 'dialog[open]');

  // Saved at half the strength: the file's scale is half of 2.
  await window.getByRole('slider', { name: /Strength/ }).fill('0.5');
  const [lora] = await Promise.all([
    page.waitForEvent('download'),
    window.getByRole('button', { name: 'GGUF LoRA' }).click(),
  ]);
  expect(lora.suggestedFilename()).toBe('after-the-kitchen.gguf');
  const saved = bytesSource(new Uint8Array(readFileSync(await lora.path())), 'saved');
  const { modules } = await readGgufLora(saved);
  expect(modules.map(({ scale }) => scale)).toEqual(Array(6).fill(1));
  expect(modules[0]?.a).toEqual((await waves(0.7))[0]?.a);
  await window.getByRole('slider', { name: /Strength/ }).fill('1');

  // Merged: the file opens, and the cost of the number format is said.
  const [merged] = await Promise.all([
    page.waitForEvent('download'),
    window.getByRole('button', { name: 'GGUF in Q8_0' }).click(),
  ]);
  const bytes = new Uint8Array(readFileSync(await merged.path()));
  const { tensors, metadata } = await readGguf(bytesSource(bytes, 'merged'));
  expect(metadata['general.file_type']).toBe(7);
  expect(tensors).toHaveLength((await readGguf(bytesSource(policy, 'policy'))).tensors.length);
  await expect(window.getByText(/storing them in Q8_0 is off by .* % of the change/)).toBeVisible();

  // Difference and prune make new ones.
  await window.getByRole('button', { name: 'Difference' }).click();
  await expect(entries).toHaveCount(3);
  await expect(entries.first()).toContainText('after the kitchen − garden');
  await expect(entries.first()).toContainText('rank 4');
  await window.getByRole('button', { name: 'Prune' }).click();
  await expect(entries).toHaveCount(4);
  await expect(entries.first()).toContainText('3 modules');
  await page.keyboard.press('Escape');

  // Side by side.
  await page.getByRole('button', { name: 'Compare on a prompt' }).click();
  const compare = page.getByRole('dialog', { name: 'Compare on a prompt' });
  await compare.getByLabel('Prompt').fill('You are in the middle of a room.');
  for (const box of await compare.getByRole('checkbox').all()) await box.uncheck();
  await compare.getByRole('checkbox', { name: 'after the kitchen', exact: true }).check();
  await compare.getByRole('checkbox', { name: 'garden', exact: true }).check();
  await compare.getByRole('slider', { name: 'Strength of garden' }).fill('0');
  await compare.getByLabel('At most').fill('8');
  await compare.getByRole('button', { name: 'Compare', exact: true }).click();
  await expect(compare.locator('.prompt-compare-texts section')).toHaveCount(3, {
    timeout: 120_000,
  });
  await expect(compare.getByRole('region', { name: /garden × 0/ })).toContainText('+0.000 nats');
  await expect(
    compare.getByRole('region', { name: 'after the kitchen', exact: true }),
  ).not.toContainText('+0.000 nats');
  await compare.locator('.prompt-compare-token').first().click();
  await expect(
    compare.getByRole('table', { name: 'The chosen token under each side' }).locator('tbody tr'),
  ).toHaveCount(3);
  await expectClean(page, 'dialog[open]');
  await page.keyboard.press('Escape');

  // Kept over a reload, and deleted only when asked twice.
  await page.reload();
  await openShelf(page);
  await expect(entries).toHaveCount(4);
  await expect(page.getByText('step 40')).toBeVisible();
  await page.getByRole('button', { name: 'Delete the adapter: garden' }).click();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(entries).toHaveCount(3);
  expect(errors).toEqual([]);
});

test('the adapter of a run goes on the shelf, home as a PEFT zip, and is where another run starts', async ({
  page,
}) => {
  test.setTimeout(240_000);
  await page.goto('/?backend=wasm');
  await page.getByRole('button', { name: 'Run the bundled policy' }).click();
  await expect(page.getByText(/boundary after step 5/)).toBeVisible({ timeout: 200_000 });
  await expect(page.locator('.run-end')).toBeVisible({ timeout: 200_000 });
  await page.getByRole('button', { name: 'Keep adapter' }).click();
  await openShelf(page);
  await page.locator('.shelf-open').click();
  const [zip] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('dialog').getByRole('button', { name: 'PEFT zip' }).click(),
  ]);
  const modules = await unzipPeft(new Uint8Array(readFileSync(await zip.path())));
  expect(modules).toHaveLength(12); // q and v of six layers
  await page.keyboard.press('Escape');

  await page.getByRole('tab', { name: 'Setup' }).click();
  const rank = page.getByLabel('LoRA rank');
  await rank.fill('4');
  await page.getByLabel('Start from').selectOption({ index: 1 });
  await expect(
    page.getByText(/has rank 8, alpha 16 on q_proj, v_proj; the settings/),
  ).toBeVisible();
  await expectClean(page);
  await page.getByRole('button', { name: 'Use its shape' }).click();
  await expect(rank).toHaveValue('8');
  await expect(page.getByText(/has rank 8, alpha 16/)).toBeHidden();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(page.locator('.run-where')).toContainText('from the adapter put a');
  await expect(page.getByText(/boundary after step 5/)).toBeVisible({ timeout: 200_000 });
  await expect(page.locator('.run-end')).toBeVisible({ timeout: 200_000 });

  // The queue starts there too.
  await page.getByRole('button', { name: 'Queue…' }).click();
  const queue = page.getByRole('dialog', { name: 'Several episodes' });
  await expect(queue).toContainText('Each starts from the adapter “put a');
  await queue.getByLabel(/^Tasks of/).fill('3');
  await queue.getByRole('button', { name: 'Run them' }).click();
  await expect(page.locator('.run-where')).toContainText('valid_unseen 3');
  await expect(page.locator('.run-where')).toContainText('from the adapter put a');
  await page.getByRole('button', { name: 'Stop' }).click();
});
