import { describe, expect, it } from 'vitest';
import type { LlamaConfig } from './llama-config.ts';
import { defaultNeeds, estimateMemory, keepsActivations, weightBytesOn } from './memory.ts';

/** SmolLM2-135M's shape, from its GGUF. */
const smollm2: LlamaConfig = {
  architecture: 'llama',
  layers: 30,
  width: 576,
  heads: 9,
  kvHeads: 3,
  headDim: 64,
  inner: 1536,
  vocabulary: 49_152,
  contextLength: 2048,
  rmsEpsilon: 1e-5,
  ropeStyle: 'interleaved',
  ropeBase: 10_000,
  ropeScaling: { kind: 'none' },
  localRopeBase: null,
  sights: Array.from({ length: 30 }, () => ({ window: null, rope: 'global' as const })),
  attentionScale: 1 / 8,
  activation: 'silu',
  embeddingScale: 1,
  tied: true,
};

describe('the estimate', () => {
  it('counts the cache, the adapter and the moments of SmolLM2 by hand', () => {
    const parts = estimateMemory(smollm2, {
      tensors: [],
      rank: 8,
      targets: ['q_proj', 'v_proj'],
      trainTokens: 128,
      caches: 2,
      backend: 'webgpu',
    });
    const bytes = Object.fromEntries(parts.map(({ part, bytes }) => [part, bytes]));
    // Two conversations, 30 layers, keys and values, 2048 positions, 192 wide, 4 bytes.
    expect(bytes.kv).toBe(2 * 30 * 2 * 2048 * 192 * 4);
    // q: 8 (576 + 576), v: 8 (576 + 192).
    // Twice: as it was before an update, and as it is.
    expect(bytes.lora).toBe(2 * 30 * 8 * (1152 + 768) * 4);
    expect(bytes.optimiser).toBe(2 * (bytes.lora ?? 0));
    expect(bytes.activations).toBeGreaterThan(30 * 128 * 576 * 4);
  });

  it('says that 1,024 tokens of SmolLM2 train within 1 GiB, and that activations grow by the token', () => {
    const at = (trainTokens: number) =>
      estimateMemory(smollm2, {
        tensors: [{ type: 'Q4_1', rows: 4_918_122, cols: 32 }], // 98,362,440 bytes, as many as its file's
        rank: 8,
        targets: ['q_proj', 'v_proj'],
        trainTokens,
        caches: 2,
        backend: 'webgpu',
      });
    const total = (trainTokens: number) =>
      at(trainTokens).reduce((sum, { bytes }) => sum + bytes, 0);
    expect(total(1024)).toBeLessThan(2 ** 30);
    // 520 leaves as many positions for the last chunk of logits. Measured on WebGPU: two layers took 109.6 kB a token, one kept input a layer 2.3 kB of it.
    const perToken = (total(1024) - total(520)) / 504;
    expect(Math.abs(perToken - (109_600 + 28 * 2304))).toBeLessThan(0.02 * 174_000);
  });

  it('keeps weights as they are on WebGPU, in panels of eight rows on wasm, and decodes them on cpu', () => {
    const matrix = { type: 'Q4_1', rows: 12, cols: 64 } as const;
    expect(weightBytesOn('webgpu', [matrix, matrix])).toBe(960);
    // 16 rows in two panels, as float32 where the whole model has no more than 2^18 parameters.
    expect(weightBytesOn('wasm', [matrix])).toBe(16 * 64 * 4);
    // Two blocks each: 8 x 16 bytes of nibbles, 8 scales and 8 offsets.
    const large = { type: 'F16', rows: 2 ** 17, cols: 64 } as const;
    expect(weightBytesOn('wasm', [matrix, large])).toBe(2 * 2 * (128 + 64) + 2 ** 24);
    expect(weightBytesOn('cpu', [matrix])).toBe(480 + 4 * 12 * 64);
  });

  it('counts what the layers of SmolLM2 computed where an update keeps it, on wasm up to half a GiB', () => {
    const keeps = (backend: string, tokens: number, held = 0) =>
      keepsActivations(smollm2, backend, tokens, held);
    expect(keeps('wasm', 256)).toBe(true);
    expect(keeps('wasm', 1024)).toBe(false);
    expect(keeps('wasm', 256, 3.2 * 2 ** 30)).toBe(false);
    expect(keeps('webgpu', 256)).toBe(false);
    const activations = (backend: 'wasm' | 'webgpu') =>
      estimateMemory(smollm2, { ...defaultNeeds, tensors: [], backend }).find(
        ({ part }) => part === 'activations',
      )?.bytes ?? 0;
    // Normed, attended, middle, inner; q twice and mixed; k twice and v; gate, up and their product.
    const perToken = 4 * 576 + 3 * 576 + 3 * 192 + 3 * 1536;
    expect(activations('wasm') - activations('webgpu')).toBe(30 * 256 * 4 * perToken);
  });

  it('counts keys and values of 16 bits on wasm where weights are quantised, of 32 where they are not', () => {
    const kv = (type: 'F16' | 'Q8_0', contextLength: number) =>
      estimateMemory(
        { ...smollm2, contextLength },
        { ...defaultNeeds, tensors: [{ type, rows: 2 ** 17, cols: 64 }], backend: 'wasm' },
      ).find(({ part }) => part === 'kv')?.bytes;
    // Two conversations of 30 layers and 3 heads, in whole tiles of 64 positions of 64 keys and values.
    expect(kv('F16', 2048)).toBe(2 * 30 * 3 * 2048 * 2 * 64 * 4);
    expect(kv('Q8_0', 2048)).toBe(2 * 30 * 3 * 2048 * (2 * 64 * 2 + 8));
    expect(kv('Q8_0', 2000)).toBe(kv('Q8_0', 2048));
  });
});
