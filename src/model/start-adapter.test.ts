import { expect, test } from 'vitest';
import { defaultSettings, type LoraTarget } from '../config.ts';
import { adapterSha256 } from '../formats/adapter-hash.ts';
import type { AdapterData, LoraModuleData } from '../records.ts';
import { checkTrainable, startAdapter } from './start-adapter.ts';

const module = (
  layer: number,
  target: LoraTarget,
  rank: number,
  scale: number,
  aT = [1, 2],
  bT = [3, 4],
): LoraModuleData => ({
  ...{ layer, target, inputs: aT.length / rank, outputs: bT.length / rank, rank, scale },
  aT: Float32Array.from(aT),
  bT: Float32Array.from(bT),
});

/** Two layers, q and v, rank 2, alpha 4. */
const plain: AdapterData = {
  modules: [0, 1].flatMap((layer) => [
    module(layer, 'q_proj', 2, 2),
    module(layer, 'v_proj', 2, 2),
  ]),
};
const settings = { ...defaultSettings, lora_rank: 2, lora_alpha: 4 };
const refusal = async (data: AdapterData, asked = settings) => {
  const start = await startAdapter('mine', data);
  return () => checkTrainable(start, asked, 2);
};

test('an adapter is named by its content, in whichever order a file has its modules', async () => {
  const [q0, v0, q1] = [
    module(0, 'q_proj', 1, 2, [1.5, -2], [0.25, 3]),
    module(0, 'v_proj', 1, 2, [0.5, 1], [-0]),
    module(1, 'q_proj', 1, 2),
  ];
  // hashlib and struct in Python, by the words of adapterSha256
  const expected = '659966ef684afbe99d5941b8459330aece080bee878c87e4a8f04cc60f02d3f1';
  expect(await adapterSha256({ modules: [q0, v0, q1] })).toBe(expected);
  const { data, sha256 } = await startAdapter('mine', { modules: [q1, v0, q0] });
  expect(sha256).toBe(expected);
  expect(data.modules).toEqual([q0, v0, q1]);
  const other = { modules: [q0, { ...v0, bT: Float32Array.of(0) }, q1] };
  expect(await adapterSha256(other)).not.toBe(expected);
});

test('training goes on from an adapter of the shape that the settings name', async () => {
  expect(await refusal(plain)).not.toThrow();
  // As a GGUF gives it back: alpha 0.1 in float32.
  const rounded = { modules: plain.modules.map((m) => ({ ...m, scale: Math.fround(0.1) / 2 })) };
  expect(await refusal(rounded, { ...settings, lora_alpha: 0.1 })).not.toThrow();
});

test('another shape is refused with both, and with what to do', async () => {
  expect(
    await refusal(plain, { ...defaultSettings, target_modules: ['v_proj', 'q_proj'] }),
  ).toThrow(
    'The adapter "mine" has rank 2, alpha 4 on q_proj, v_proj; the settings train rank 8, alpha 16 on q_proj, v_proj. Set these',
  );
  expect(await refusal(plain, { ...settings, lora_alpha: 8 })).toThrow(/alpha 4 on .* alpha 8 on/);
  expect(await refusal(plain, { ...settings, target_modules: ['q_proj'] })).toThrow(
    /on q_proj, v_proj; the settings train rank 2, alpha 4 on q_proj\./,
  );
});

test('an adapter of some layers, or of several ranks, is not what the settings train', async () => {
  expect(await refusal({ modules: plain.modules.slice(0, 2) })).toThrow(
    'rank 2, alpha 4 on q_proj, v_proj in 1 of 2 layers; the settings',
  );
  const [first, ...rest] = plain.modules;
  const mixed = [{ ...first, ...module(0, 'q_proj', 1, 4) }, ...rest];
  expect(await refusal({ modules: mixed })).toThrow('rank 1 and 2, alpha 4 on q_proj, v_proj; the');
});
