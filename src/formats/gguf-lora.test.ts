import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LabError } from '../errors.ts';
import { readGguf } from './gguf.ts';
import { type GgufLoraModule, readGgufLora, writeGgufLora } from './gguf-lora.ts';
import { type GgufValue, writeGguf } from './gguf-writer.ts';
import { quantize } from './quants.ts';
import { bytesSource } from './source.ts';

const fixture = (name: string) => new Uint8Array(readFileSync(`e2e/fixtures/adapters/${name}`));
const read = (bytes: Uint8Array) => readGgufLora(bytesSource(bytes, 'lora.gguf'));
const base = { architecture: 'llama', name: 'tiny' };

/** A module whose A and B hold these values again and again. */
function module(tensor: string, rank: number, scale: number, pool: readonly number[]) {
  const matrix = (rows: number, cols: number) => ({
    rows,
    cols,
    values: Float32Array.from({ length: rows * cols }, (_, i) => pool[i % pool.length] ?? 0),
  });
  return { tensor, scale, a: matrix(rank, 3), b: matrix(2, rank) } satisfies GgufLoraModule;
}

test("llama.cpp's file of a rank-stabilised adapter has scale 16 / 4, 8 modules", async () => {
  const { architecture, modules } = await read(fixture('tiny_lora_rslora.gguf'));
  expect(architecture).toBe('llama');
  expect(modules.map(({ scale }) => scale)).toEqual(Array(8).fill(4));
  expect(modules[0]).toMatchObject({
    tensor: 'blk.0.attn_k.weight',
    a: { rows: 4, cols: 16 },
    b: { rows: 8, cols: 4 },
  });
});

test("what is written has llama.cpp's keys, one alpha, and pairs of tensors", async () => {
  const { modules } = await read(fixture('tiny_lora_rslora.gguf'));
  const bytes = writeGgufLora(modules, base);
  const { metadata, tensors } = await readGguf(bytesSource(bytes, 'lora.gguf'));
  expect(metadata).toEqual({
    'general.type': 'adapter',
    'general.architecture': 'llama',
    'general.base_model.count': 1,
    'general.base_model.0.name': 'tiny',
    'general.file_type': 0,
    'adapter.type': 'lora',
    'adapter.lora.alpha': 16, // 8 · √4: readers divide by the rank (B19)
  });
  const original = fixture('tiny_lora_rslora.gguf');
  const reference = await readGguf(bytesSource(original, 'reference'));
  expect(tensors).toHaveLength(16);
  for (const { name, shape, type, offset, bytes: size } of tensors) {
    const twin = reference.tensors.find((tensor) => tensor.name === name);
    expect(twin).toMatchObject({ shape, type });
    expect(bytes.subarray(offset, offset + size)).toEqual(
      original.subarray(twin?.offset, (twin?.offset ?? 0) + size),
    );
  }
});

test('alphas that differ are folded into B: every product is what it was', async () => {
  // Alphas 16, 4 and 5: factors 1, 1/4 and 5/16.
  const modules = [
    module('blk.0.attn_q.weight', 8, 2, [0.1, -0.7, 3]),
    module('blk.0.attn_k.weight', 2, 2, [0.3, 1e-3]),
    module('blk.0.ffn_up.weight', 1, 5, [1.1, -0.2]),
  ];
  const file = writeGgufLora(modules, base);
  const { metadata, tensors } = await readGguf(bytesSource(file, 'lora.gguf'));
  expect(metadata['adapter.lora.alpha']).toBe(16);
  modules.forEach(({ tensor, scale, b }) => {
    const found = tensors.find(({ name }) => name === `${tensor}.lora_b`);
    const stored = new Float32Array(
      file.slice(found?.offset, (found?.offset ?? 0) + (found?.bytes ?? 0)).buffer,
    );
    // As llama.cpp does: alpha / rank.
    b.values.forEach((value, i) => {
      expect((16 / b.cols) * (stored[i] ?? NaN)).toBeCloseTo(scale * value, 6);
    });
  });
  // The factors are taken out again, so B comes back bit for bit.
  expect((await read(file)).modules).toEqual(modules);
});

test('any alphas beside each other come back with every bit of B, 200 random adapters', async () => {
  const alphas = fc.constantFrom(1, 3, 7, 12, 16, 24, 0.1, 12.5, -5, 8 * Math.sqrt(3));
  const value = fc.float({ noNaN: true, min: Math.fround(-1e6), max: Math.fround(1e6) });
  const each = fc.record({
    alpha: alphas,
    values: fc.array(value, { minLength: 1, maxLength: 20 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(each, { minLength: 1, maxLength: 5 }), async (list) => {
      const large = (v: number) => (Math.abs(v) < 1e-30 ? 1 : v); // smaller ones may underflow
      const modules = list.map(({ alpha, values }, i) =>
        module(`blk.${i}.attn_q.weight`, 3, Math.fround(alpha) / 3, values.map(large)),
      );
      const back = await read(writeGgufLora(modules, base));
      expect(back.modules.map(({ b }) => b)).toEqual(modules.map(({ b }) => b));
      expect(back.modules.map(({ scale }) => scale)).toEqual(modules.map(({ scale }) => scale));
    }),
    { numRuns: 200 },
  );
});

/** What a reader without this program's own keys gives of a written file. */
async function elsewhere(file: Uint8Array): Promise<readonly GgufLoraModule[]> {
  const text = new TextDecoder('latin1').decode(file).replaceAll('attt.lora.', 'else.lora.');
  return (await read(Uint8Array.from(text, (character) => character.charCodeAt(0)))).modules;
}

test('a module of scale 0, first or alone, stays without effect elsewhere and keeps its B', async () => {
  const silent = module('blk.0.attn_q.weight', 2, 0, [1, -0.3]);
  const loud = module('blk.0.attn_k.weight', 2, 3, [1, 0.7]);
  for (const modules of [[silent], [silent, loud], [loud, silent]]) {
    for (const dtype of modules.length > 1 ? (['F32'] as const) : (['F32', 'F16'] as const)) {
      const rounded = dtype === 'F16' ? [module('blk.0.attn_q.weight', 2, 0, [1, -0.5])] : modules;
      const file = writeGgufLora(rounded, base, dtype);
      const { metadata } = await readGguf(bytesSource(file, 'lora.gguf'));
      // llama.cpp takes an alpha of 0 for "no scaling".
      expect(metadata['adapter.lora.alpha']).not.toBe(0);
      for (const { tensor, scale, b } of await elsewhere(file)) {
        const largest = Math.max(...b.values.map((value) => Math.abs(value * scale)));
        if (tensor === silent.tensor) expect(largest).toBeLessThan(1e-19);
        else expect(largest).toBe(3);
      }
      expect((await read(file)).modules).toEqual(rounded);
    }
  }
  expect(() => writeGgufLora([silent, loud], base, 'F16')).toThrow(
    /blk\.0\.attn_q\.weight has scale 0, and float16 cannot hold its B/,
  );
});

test('scales that no float32 alpha gives come back to the last bit, 200 random ranks and alphas', async () => {
  const each = fc.record({
    rank: fc.integer({ min: 1, max: 64 }),
    alpha: fc.constantFrom(0, 1e-60, 0.1, 1, 16, 17.3, 1e6),
    stabilised: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(each, { minLength: 1, maxLength: 4 }), async (list) => {
      const modules = list.map(({ rank, alpha, stabilised }, i) => {
        const scale = alpha / (stabilised ? Math.sqrt(rank) : rank);
        return module(`blk.${i}.attn_q.weight`, rank, scale, [0.25, -3, 0.5]);
      });
      expect((await read(writeGgufLora(modules, base))).modules).toEqual(modules);
    }),
    { numRuns: 200 },
  );
});

test('a scale that alpha contradicts is refused, as is a list of another length', async () => {
  const scales = (...value: number[]) => made({ 'attt.lora.scales': { type: 'float64s', value } });
  expect((await read(scales(2 + 1e-9))).modules[0]?.scale).toBe(2 + 1e-9);
  await expect(read(scales(3))).rejects.toThrow(
    /gives blk\.0\.attn_q\.weight the scale 3, and alpha 2/,
  );
  await expect(read(scales(0))).rejects.toThrow(/the scale 0, and alpha 2/);
  await expect(read(scales(2, 2))).rejects.toThrow(/holds 2 numbers; expected 1/);
});

const pool = fc.array(
  fc.integer({ min: -192, max: 192 }).map((n) => n / 64),
  {
    minLength: 1,
    maxLength: 40,
  },
);

test('export and import give the same bits, whatever shapes, dtypes and powers of two', async () => {
  const one = fc.record({
    layer: fc.integer({ min: 0, max: 99 }),
    rank: fc.constantFrom(1, 2, 4, 8, 16),
    scale: fc.constantFrom(0.25, 0.5, 1, 2, 4),
    pool,
  });
  const lists = fc.uniqueArray(one, { minLength: 1, maxLength: 5, selector: (m) => m.layer });
  await fc.assert(
    fc.asyncProperty(lists, fc.constantFrom('F32', 'F16', 'BF16'), async (list, dtype) => {
      const modules = list.map(({ layer, rank, scale, pool: values }) =>
        module(`blk.${layer}.attn_v.weight`, rank, scale, values),
      );
      expect((await read(writeGgufLora(modules, base, dtype))).modules).toEqual(modules);
    }),
    { numRuns: 100 },
  );
});

test('a cut file is refused wherever it is cut', async () => {
  const file = fixture('tiny_lora_rslora.gguf');
  await fc.assert(
    fc.asyncProperty(fc.nat(file.length - 1), async (length) => {
      await expect(read(file.slice(0, length))).rejects.toBeInstanceOf(LabError);
    }),
    { numRuns: 100 },
  );
});

test('a header that names fewer tensors than the file holds is refused', async () => {
  const damaged = fixture('tiny_lora_rslora.gguf').slice();
  damaged[8] = 2; // the count of tensors; the other names are then read as numbers
  await expect(read(damaged)).rejects.toThrow(/bytes come after the last of its 2 tensors/);
});

test('a file with one damaged byte in its header gives an adapter or a LabError', async () => {
  const file = fixture('tiny_lora_rslora.gguf');
  const { dataOffset } = await readGguf(bytesSource(file, 'lora.gguf'));
  await fc.assert(
    fc.asyncProperty(fc.nat(dataOffset - 1), fc.nat(255), async (at, byte) => {
      const damaged = file.slice();
      damaged[at] = byte;
      const outcome = await read(damaged).catch((thrown: unknown) => thrown);
      if (outcome instanceof Error) expect(outcome).toBeInstanceOf(LabError);
      else expect(outcome).toMatchObject({ modules: { length: 8 } });
    }),
    { numRuns: 300, examples: [[8, 2]] },
  );
});

/** A LoRA of one module with some keys or tensors changed. */
function made(
  keys: Readonly<Record<string, GgufValue | null>>,
  b: { name?: string; shape?: readonly number[]; values?: Float32Array } = {},
): Uint8Array {
  const metadata: Record<string, GgufValue> = {
    'general.type': { type: 'string', value: 'adapter' },
    'general.architecture': { type: 'string', value: 'llama' },
    'adapter.type': { type: 'string', value: 'lora' },
    'adapter.lora.alpha': { type: 'float32', value: 2 },
  };
  for (const [key, value] of Object.entries(keys)) {
    if (value === null) delete metadata[key];
    else metadata[key] = value;
  }
  const f32 = (name: string, shape: readonly number[], values: Float32Array) => ({
    name,
    shape,
    type: 'F32' as const,
    data: quantize('F32', values),
  });
  const { name = 'blk.0.attn_q.weight.lora_b', shape = [1, 2], values = Float32Array.of(1, 2) } = b;
  return writeGguf(metadata, [
    f32('blk.0.attn_q.weight.lora_a', [2, 1], Float32Array.of(3, 4)),
    f32(name, shape, values),
  ]);
}

const text = (value: string): GgufValue => ({ type: 'string', value });

test('an alpha of 0 is no scaling, as in llama.cpp', async () => {
  const silent = made({ 'adapter.lora.alpha': { type: 'float32', value: 0 } });
  expect((await read(silent)).modules[0]?.scale).toBe(1);
  expect((await read(made({}))).modules[0]?.scale).toBe(2);
});

test.each([
  ['a model', made({ 'general.type': text('model') }), /general\.type "model"; expected "adapter"/],
  ['no type', made({ 'general.type': null }), /general\.type null/],
  [
    'a control vector',
    made({ 'adapter.type': text('control_vector') }),
    /"control_vector"; expected "lora"/,
  ],
  [
    'an activated LoRA',
    made({ 'adapter.alora.invocation_tokens': { type: 'int32s', value: [1] } }),
    /adapter\.alora\.invocation_tokens \[1\].*activated LoRA/,
  ],
  ['no alpha', made({ 'adapter.lora.alpha': null }), /adapter\.lora\.alpha is null/],
  ['no architecture', made({ 'general.architecture': null }), /general\.architecture null/],
  [
    'a full tensor',
    made({}, { name: 'output.weight' }),
    /1 tensors .* no LoRA matrices: output\.weight/,
  ],
  [
    'a missing half',
    made({}, { name: 'blk.1.attn_q.weight.lora_b' }),
    /attn_q\.weight: lora_a \[2, 1\], lora_b missing/,
  ],
  ['two ranks', made({}, { shape: [2, 1] }), /lora_b \[2, 1\]; expected .* of one rank/],
  [
    'an infinite value',
    made({}, { values: Float32Array.of(1, Infinity) }),
    /lora_b holds Infinity at place 1/,
  ],
  [
    'a factor that makes B infinite',
    made({ 'attt.lora.b_factors': { type: 'float64s', value: [2 ** -1000] } }),
    /lora_b holds Infinity at place 0/,
  ],
  [
    'a factor that makes the scale infinite',
    made({ 'attt.lora.b_factors': { type: 'float64s', value: [2 ** 1000] } }),
    /scale of blk\.0\.attn_q\.weight holds Infinity/,
  ],
  [
    'factors that fit no module',
    made({ 'attt.lora.b_factors': { type: 'float32s', value: [1, 2] } }),
    /attt\.lora\.b_factors and .* hold 2 factors and 0 units; expected 1 and 0/,
  ],
])('%s is refused by name', async (_, bytes, message) => {
  await expect(read(bytes)).rejects.toThrow(message);
});
