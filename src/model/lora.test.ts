import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { LoraTarget } from '../config.ts';
import { deriveRng } from '../math/rng.ts';
import type { AdapterData, LoraModuleData } from '../records.ts';
import { Adapter, deltaNorm, freshAdapter } from './lora.ts';
import { fromHf, hfModuleName, parseHfModuleName, toHf } from './lora-hf.ts';
import { openHost } from './ops/testing-node.ts';

const shapes = (target: LoraTarget) =>
  target === 'q_proj' ? { inputs: 16, outputs: 24 } : { inputs: 24, outputs: 8 };
const fresh = (seed: number) =>
  freshAdapter({ rank: 3, alpha: 6, targets: ['q_proj', 'v_proj'] }, 2, shapes, deriveRng(seed));

/** The same adapter with a B that is not zero. */
function moved(data: AdapterData): AdapterData {
  return {
    modules: data.modules.map((module, m) => ({
      ...module,
      bT: module.bT.map((_, i) => Math.sin(m + 12.9898 * i)),
    })),
  };
}

describe('a fresh adapter', () => {
  it('has A uniform within 1 / √in and B zero, as PEFT makes it, in seeded order', () => {
    const data = fresh(1);
    expect(data.modules.map(({ layer, target }) => `${layer}.${target}`)).toEqual([
      '0.q_proj',
      '0.v_proj',
      '1.q_proj',
      '1.v_proj',
    ]);
    for (const { inputs, aT, bT, scale } of data.modules) {
      const bound = 1 / Math.sqrt(inputs);
      expect(Math.max(...aT.map(Math.abs))).toBeLessThanOrEqual(bound);
      expect(Math.max(...aT)).toBeGreaterThan(0.8 * bound);
      expect(Math.min(...aT)).toBeLessThan(-0.8 * bound);
      expect(bT.every((value) => value === 0)).toBe(true);
      expect(scale).toBe(2);
    }
    expect(fresh(1)).toEqual(data);
    expect(fresh(2)).not.toEqual(data);
    expect(deltaNorm(data)).toBe(0);
  });

  it('refuses a rank of 0 and an empty list of targets', () => {
    const make = (rank: number, targets: readonly LoraTarget[]) => () =>
      freshAdapter({ rank, alpha: 1, targets }, 1, shapes, deriveRng(1));
    expect(make(0, ['q_proj'])).toThrow(/rank/);
    expect(make(4, [])).toThrow(/target/);
  });
});

describe('the norm of the change', () => {
  it('is that of scale · B A written out', () => {
    const data = moved(fresh(3));
    let sum = 0;
    for (const module of data.modules) {
      for (let o = 0; o < module.outputs; o++) {
        for (let i = 0; i < module.inputs; i++) sum += delta(module, o, i) ** 2;
      }
    }
    expect(deltaNorm(data)).toBeCloseTo(Math.sqrt(sum), 10);
  });

  function delta({ rank, outputs, scale, aT, bT }: LoraModuleData, o: number, i: number): number {
    let sum = 0;
    for (let k = 0; k < rank; k++) sum += (bT[k * outputs + o] ?? 0) * (aT[i * rank + k] ?? 0);
    return scale * sum;
  }
});

describe('an adapter on the device', () => {
  beforeAll(() => openHost('cpu'));

  it('comes back bit for bit, and its version moves with every change', async () => {
    const data = moved(fresh(4));
    using adapter = new Adapter(data);
    const before = adapter.version;
    expect(await adapter.export()).toEqual(data);
    adapter.restore(fresh(4));
    expect(adapter.version).not.toBe(before);
    expect(deltaNorm(await adapter.export())).toBe(0);
    adapter.restore(structuredClone(data));
    expect(await adapter.export()).toEqual(data);
  });
});

describe('the Hugging Face layout', () => {
  it("undoes the converter's order of rows in q and k alone", () => {
    // llama.cpp's permute() on a head of 4 rows gives the GGUF order [0, 2, 1, 3].
    const column = (target: LoraTarget): AdapterData => ({
      modules: [
        {
          layer: 0,
          target,
          inputs: 1,
          outputs: 8,
          rank: 1,
          scale: 1,
          aT: Float32Array.of(1),
          bT: Float32Array.of(0, 2, 1, 3, 4, 6, 5, 7),
        },
      ],
    });
    const rows = (target: LoraTarget, ropeStyle: 'interleaved' | 'halves') => [
      ...(toHf(column(target), { headDim: 4, ropeStyle })[0]?.b.values ?? []),
    ];
    expect(rows('q_proj', 'interleaved')).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(rows('k_proj', 'interleaved')).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(rows('v_proj', 'interleaved')).toEqual([0, 2, 1, 3, 4, 6, 5, 7]);
    expect(rows('q_proj', 'halves')).toEqual([0, 2, 1, 3, 4, 6, 5, 7]);
  });

  it('comes back bit for bit', () => {
    const data = moved(fresh(5));
    fc.assert(
      fc.property(fc.constantFrom(4, 8), fc.constantFrom('interleaved', 'halves'), (headDim, s) => {
        const order = { headDim, ropeStyle: s };
        expect(fromHf(toHf(data, order), order)).toEqual(data);
      }),
    );
  });

  it('names modules as transformers does, and reads only such names', () => {
    expect(hfModuleName(3, 'q_proj')).toBe('model.layers.3.self_attn.q_proj');
    expect(hfModuleName(0, 'down_proj')).toBe('model.layers.0.mlp.down_proj');
    expect(parseHfModuleName('model.layers.12.mlp.up_proj')).toEqual({
      layer: 12,
      target: 'up_proj',
    });
    for (const name of [
      'transformer.layers.0.self_attn.q_proj',
      'model.layers.0.mlp.q_proj',
      'lm_head',
    ]) {
      expect(parseHfModuleName(name)).toBeNull();
    }
  });
});
