/** Elastic weight consolidation over a learner's updates, against PyTorch. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { defaultSettings, type Settings } from '../config.ts';
import { readGguf } from '../formats/gguf.ts';
import { bytesSource } from '../formats/source.ts';
import { cacheFor } from '../model/cache.ts';
import { loadLlama } from '../model/llama.ts';
import { hfModuleName, toHf } from '../model/lora-hf.ts';
import { openHost } from '../model/ops/testing-node.ts';
import type { TrainText } from '../ports.ts';
import { createTokenizer } from '../text/tokenizer.ts';
import { LoraLearner } from './learner.ts';
import { caseStart } from './training-case.ts';

/** scripts/make-ewc-fixture.py: three texts, one Adam step each. */
const expected: {
  strength: number;
  lr: number;
  texts: { ids: number[]; weights: number[] }[];
  losses: number[][];
  param_after: Record<string, number[][]>;
} = JSON.parse(
  readFileSync(new URL('../../e2e/fixtures/engine/tiny_ewc.json', import.meta.url), 'utf8'),
);

await openHost('wasm');
const bytes = readFileSync(new URL('../../e2e/fixtures/engine/tiny.gguf', import.meta.url));
const source = bytesSource(new Uint8Array(bytes), 'tiny.gguf');
const gguf = await readGguf(source);
const model = await loadLlama(gguf, source);
const start = caseStart(model, {
  ...{ ids: [], first_label_index: 1, weights: [], target_modules: ['q_proj', 'v_proj'] },
  ...{ r: 2, lora_alpha: 4, lr: 0, steps: 0, init: { b_scale: 0.02 } },
  adam: { beta1: 0.9, beta2: 0.999, eps: 1e-8 },
});
const tokenizer = createTokenizer(gguf.metadata);
const texts = expected.texts.map((text): TrainText => ({ context: [], ...text }));
const { signal } = new AbortController();
const once: Settings = {
  ...defaultSettings,
  ...{ grad_steps: 1, learning_rate: expected.lr, ewc_strength: expected.strength },
};

/** The learner after one update on each window. */
async function trained(windows: readonly (readonly TrainText[])[], settings: Settings) {
  const learner = new LoraLearner(model, tokenizer, start, cacheFor(model));
  const losses: (readonly number[])[] = [];
  for (const window of windows) {
    losses.push((await learner.train(window, settings, signal, () => {})).losses);
  }
  const snapshot = await learner.snapshot();
  learner.dispose();
  return { losses, snapshot };
}

test('three updates of one step each end where PyTorch’s do', async () => {
  const { losses, snapshot } = await trained(
    texts.map((text) => [text]),
    once,
  );
  losses.flat().forEach((loss, i) => {
    expect(loss).toBeCloseTo(expected.losses.flat()[i] ?? Number.NaN, 5);
  });
  const compared = toHf(snapshot.adapter, model.config).flatMap(({ layer, target, a, b }) =>
    (
      [
        ['A', a],
        ['B', b],
      ] as const
    ).map(([which, { values }]) => {
      const name = `base_model.model.${hfModuleName(layer, target)}.lora_${which}.default.weight`;
      const rows = expected.param_after[name]?.flat() ?? [];
      expect(values.length, name).toBe(rows.length);
      // Without consolidation they are up to 3e-3 apart.
      rows.forEach((want, i) => {
        expect(Math.abs((values[i] ?? Number.NaN) - want), `${name}[${i}]`).toBeLessThan(1e-5);
      });
      return name;
    }),
  );
  expect(compared.sort()).toEqual(Object.keys(expected.param_after));
});

test('with one step each, the third update is the first that consolidation changes', async () => {
  const adapters = async (count: number) => {
    const windows = texts.slice(0, count).map((text) => [text]);
    const [on, off] = [
      await trained(windows, once),
      await trained(windows, { ...once, ewc_strength: 0 }),
    ];
    return [on.snapshot.adapter, off.snapshot.adapter];
  };
  const [two, free] = await adapters(2);
  expect(two).toEqual(free);
  const [three, freely] = await adapters(3);
  expect(three).not.toEqual(freely);
});

test('a first update is the same with consolidation, and one of one step with a KL penalty', async () => {
  const [text] = texts;
  if (!text) throw new Error('the fixture has texts');
  const adapter = async (over: Partial<Settings>) =>
    (await trained([[text]], { ...once, ewc_strength: 0, ...over })).snapshot.adapter;
  const [one, two] = [await adapter({}), await adapter({ grad_steps: 2 })];
  expect(await adapter({ grad_steps: 2, ewc_strength: 1e6 })).toEqual(two);
  // KL(now ‖ start) and its gradient are 0 at the start.
  expect(await adapter({ kl_penalty: 50 })).toEqual(one);
  expect(await adapter({ kl_penalty: 50, grad_steps: 2 })).not.toEqual(two);
});

test('F is of the new text’s cross entropy alone, whatever else was trained along', async () => {
  const [text, other] = texts;
  if (!text || !other) throw new Error('the fixture has texts');
  // At a learning rate of 0 all end at the same θ*.
  const still = { ...once, learning_rate: 0 };
  const alone = await trained([[text]], still);
  const along = await trained([[text, other]], { ...still, kl_penalty: 5, grad_steps: 2 });
  expect(alone.snapshot.ewc?.fisher.flatMap((one) => [...one]).some((x) => x > 0)).toBe(true);
  expect(along.snapshot.ewc).toEqual(alone.snapshot.ewc);
});

test('F is taken where the update has led: A has one as soon as B has left zero', async () => {
  const zero = { modules: start.modules.map((m) => ({ ...m, bT: new Float32Array(m.bT.length) })) };
  const learner = new LoraLearner(model, tokenizer, zero, cacheFor(model));
  const [text] = texts;
  if (!text) throw new Error('the fixture has texts');
  await learner.train([text], once, signal, () => {});
  const { ewc } = await learner.snapshot();
  learner.dispose();
  // Module by module, A before B.
  for (const fisher of ewc?.fisher ?? []) expect(fisher.some((x) => x > 0)).toBe(true);
});

test('its progress counts the pass back that F takes', async () => {
  const learner = new LoraLearner(model, tokenizer, start, cacheFor(model));
  const told: (readonly [number, number])[] = [];
  const [text, other] = texts;
  if (!text || !other) throw new Error('the fixture has texts');
  await learner.train([text, other], once, signal, (...progress) => told.push(progress));
  learner.dispose();
  // Two layers: of two texts a step forwards and back and a pass forwards, of the first one more back.
  expect(told).toEqual(Array.from({ length: 14 }, (_, done) => [done, 14]));
});
