import { expect, test } from 'vitest';
import { deriveRng } from '../math/rng.ts';
import type { AdapterData, LoraModuleData } from '../records.ts';
import { combineAdapters, describeAdapter, pruneByNorm, scaleAdapter } from './adapter-algebra.ts';

const rng = deriveRng(1, 'algebra');
const random = (length: number) => Float32Array.from({ length }, () => 2 * rng.next() - 1);

function module(layer: number, rank: number, scale: number, b = random(rank * 2)): LoraModuleData {
  const shape = { layer, target: 'q_proj', inputs: 3, outputs: 2, rank, scale } as const;
  return { ...shape, aT: random(3 * rank), bT: b };
}

/** ΔW of one module, [outputs, inputs], by the definition. */
function dense({ inputs, outputs, rank, scale, aT, bT }: LoraModuleData): number[] {
  return Array.from({ length: outputs * inputs }, (_, at) => {
    const [o, i] = [Math.floor(at / inputs), at % inputs];
    let sum = 0;
    for (let r = 0; r < rank; r++) sum += (bT[r * outputs + o] ?? 0) * (aT[i * rank + r] ?? 0);
    return scale * sum;
  });
}

const changeOf = ({ modules }: AdapterData, layer: number) => {
  const found = modules.find((m) => m.layer === layer);
  return found ? dense(found) : new Array<number>(6).fill(0);
};

const left = { modules: [module(0, 2, 2), module(1, 1, 0.5)] };
const right = { modules: [module(1, 3, 4), module(2, 1, 1)] };

test.each([
  ['difference', 1, -1],
  ['interpolation at a quarter', 0.75, 0.25],
])('the %s is that of the whole matrices, module by module', (_, u, v) => {
  const sum = combineAdapters([
    { adapter: left, weight: u },
    { adapter: right, weight: v },
  ]);
  expect(sum.modules.map(({ layer, rank }) => [layer, rank])).toEqual([
    [0, 2],
    [1, 4], // 1 + 3
    [2, 1],
  ]);
  for (const layer of [0, 1, 2]) {
    const expected = changeOf(left, layer).map(
      (value, i) => u * value + v * (changeOf(right, layer)[i] ?? 0),
    );
    changeOf(sum, layer).forEach((value, i) => {
      expect(value).toBeCloseTo(expected[i] ?? NaN, 5);
    });
  }
});

test('an adapter minus itself changes nothing, and a module of scale 0 stands in no way', () => {
  const nothing = combineAdapters([
    { adapter: left, weight: 1 },
    { adapter: left, weight: -1 },
  ]);
  expect(describeAdapter(nothing).norm).toBeLessThan(1e-6);
  const silent = { modules: [module(0, 1, 0)] };
  const sum = combineAdapters([
    { adapter: silent, weight: 1 },
    { adapter: left, weight: 1 },
  ]);
  changeOf(sum, 0).forEach((value, i) => {
    expect(value).toBeCloseTo(changeOf(left, 0)[i] ?? NaN, 6);
  });
});

test('adapters of models of other shapes are not added', () => {
  const wide = { modules: [{ ...module(0, 1, 1), inputs: 4, aT: random(4) }] };
  expect(() =>
    combineAdapters([
      { adapter: left, weight: 1 },
      { adapter: wide, weight: 1 },
    ]),
  ).toThrow(/layers\.0\.self_attn\.q_proj has 3 inputs and 2 outputs in one adapter, 4 and 2/);
});

/** ‖ΔW‖ of a rank-1 module with A = (1, 0, 0) and B = (norm, 0) is its norm. */
const ofNorm = (layer: number, norm: number): LoraModuleData => ({
  ...module(layer, 1, 1),
  aT: Float32Array.of(1, 0, 0),
  bT: Float32Array.of(norm, 0),
});

test('half of norms 3, 1, 4, 2 are the modules of 4 and 3, and √(25/30) of the norm', () => {
  const adapter = { modules: [3, 1, 4, 2].map((norm, layer) => ofNorm(layer, norm)) };
  const pruned = pruneByNorm(adapter, 0.5);
  expect(pruned.adapter.modules.map(({ layer }) => layer)).toEqual([0, 2]);
  expect(pruned.removed).toEqual([
    'model.layers.1.self_attn.q_proj',
    'model.layers.3.self_attn.q_proj',
  ]);
  expect(pruned.keptNorm).toBeCloseTo(Math.sqrt(25 / 30), 12);
  expect(pruneByNorm(adapter, 1)).toEqual({ adapter, removed: [], keptNorm: 1 });
  expect(pruneByNorm(adapter, 0.01).adapter.modules).toHaveLength(1);
  for (const keep of [0, -1, 1.5, Number.NaN]) {
    expect(() => pruneByNorm(adapter, keep)).toThrow(/more than 0 and at most 1/);
  }
});

test('a description has norms, ranks, targets and parameters', () => {
  const info = describeAdapter({
    modules: [ofNorm(0, 3), { ...module(1, 2, 8), target: 'k_proj' }],
  });
  expect(info).toMatchObject({ targets: ['k_proj', 'q_proj'], layers: 2, ranks: [1, 2] });
  expect(info.parameters).toBe(1 * (3 + 2) + 2 * (3 + 2));
  expect(info.modules[0]).toMatchObject({ norm: 3, alpha: 1, rank: 1 });
  expect(info.modules[1]?.alpha).toBe(16);
  expect(info.norm).toBeCloseTo(Math.hypot(3, info.modules[1]?.norm ?? NaN), 12);
});

test('twice the strength is twice the norm, and a strength that is no number is refused', () => {
  expect(describeAdapter(scaleAdapter(left, 2)).norm).toBeCloseTo(
    2 * describeAdapter(left).norm,
    10,
  );
  expect(describeAdapter(scaleAdapter(left, 0)).norm).toBe(0);
  expect(() => scaleAdapter(left, Number.NaN)).toThrow(/strength is NaN/);
});
