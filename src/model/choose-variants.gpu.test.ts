/** Timings on the adapter at hand: only that they end in a choice, are made once, and stop in time. */

import { afterAll, beforeAll, expect, it } from 'vitest';
import { readGguf } from '../formats/gguf.ts';
import { blobSource } from '../formats/source.ts';
import { settleVariants } from './choose-variants.ts';
import type { OpenBackend } from './device.ts';
import { loadLlama } from './llama.ts';
import { gpuBackend } from './ops/program.ts';
import { openGpu } from './ops/testing-gpu.ts';
import { choiceOn, FIXED, readChoice, useChoice, writeChoice } from './variants.ts';

let opened: OpenBackend;
beforeAll(async () => {
  opened = await openGpu();
});
afterAll(() => opened.dispose());

it('an adapter is timed once, if there is time, and its choice used from then on', async () => {
  const path = '/models/household-2m/household-2m-q4_0.gguf';
  const source = blobSource(await (await fetch(path)).blob(), path);
  const model = await loadLlama(await readGguf(source), source);
  const { device } = gpuBackend();
  const held = opened.ledger?.live.bytes;
  const kept = new Map<string, string>();
  const memory = {
    recall: async (adapter: string) => kept.get(adapter),
    keep: async (adapter: string, choice: string) => void kept.set(adapter, choice),
  };
  const patient = { asked: 'measure', memory, budgetMs: 60_000 };
  await settleVariants(model, opened, { ...patient, budgetMs: 0 });
  expect(choiceOn(device)).toEqual(FIXED);
  expect(kept.size).toBe(0);
  await settleVariants(model, opened, patient);
  const [[key = '', first = ''] = []] = kept;
  expect(key).toContain(opened.device);
  expect(readChoice(first)).not.toBeNull();
  expect(writeChoice(choiceOn(device))).toBe(first);
  expect(opened.ledger?.livePurposes().get('timing')).toBeUndefined();
  expect(opened.ledger?.live.bytes).toBeLessThan((held ?? 0) + 2 ** 20); // tfjs's pool

  // Another choice under the same key is what a second load finds.
  const other = 'matvec=workgroup matmul=registers transpose=wide attention=workgroup prefill=wide';
  kept.set(key, other);
  await settleVariants(model, opened, { asked: 'measure', memory });
  expect(writeChoice(choiceOn(device))).toBe(other);
  await settleVariants(model, opened, { asked: 'fixed', memory });
  expect(choiceOn(device)).toEqual(FIXED);
  await settleVariants(model, opened, { asked: other, memory });
  expect(writeChoice(choiceOn(device))).toBe(other);
  await expect(settleVariants(model, opened, { asked: 'fastest' })).rejects.toThrow(
    '"fastest" names no kernels',
  );
  useChoice(device, FIXED);
  model.dispose();
});
