import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { type GgufFile, readGguf } from '../formats/gguf.ts';
import { dequantize } from '../formats/quants.ts';
import { type ByteSource, bytesSource } from '../formats/source.ts';
import type { AdapterData } from '../records.ts';
import { openAdapter } from './adapter-file.ts';
import { cacheFor } from './cache.ts';
import { openBackend } from './device.ts';
import { forward } from './forward.ts';
import { loadLlama } from './llama.ts';
import { readLlamaConfig } from './llama-config.ts';
import { type MergeReport, type MergeType, mergeAdapter } from './merge.ts';
import { nodeWasmPaths } from './wasm-paths-node.ts';

const file = (path: string, name: string): ByteSource =>
  bytesSource(new Uint8Array(readFileSync(path)), name);
const tiny = file('e2e/fixtures/engine/tiny.gguf', 'tiny.gguf');
const policy = file('models/household-2m/household-2m-q4_0.gguf', 'policy.gguf');
const expected = JSON.parse(readFileSync('e2e/fixtures/adapters/patterns/expected.json', 'utf8'));

let base: GgufFile;
let adapter: AdapterData;

beforeAll(async () => {
  await openBackend('wasm', { wasmPaths: nodeWasmPaths(import.meta.url) });
  base = await readGguf(tiny);
  const lora = [file('e2e/fixtures/adapters/patterns.gguf', 'patterns.gguf')];
  adapter = await openAdapter(lora, readLlamaConfig(base));
});

async function merged(
  gguf: GgufFile,
  source: ByteSource,
  data: AdapterData,
  type: MergeType,
): Promise<{ bytes: Uint8Array; report: MergeReport }> {
  const parts: Uint8Array[] = [];
  const work = mergeAdapter(gguf, source, data, type);
  for (;;) {
    const next = await work.next();
    if (next.done) return { bytes: Buffer.concat(parts), report: next.value };
    parts.push(next.value);
  }
}

async function logitsOf(bytes: Uint8Array): Promise<number[][]> {
  const source = bytesSource(bytes, 'merged.gguf');
  const model = await loadLlama(await readGguf(source), source);
  using cache = cacheFor(model);
  const rows = await forward(model, null, cache, expected.ids, { logits: 'all' });
  const values = (await rows?.array()) ?? [];
  rows?.dispose();
  model.dispose();
  return values;
}

async function floatsOf(bytes: Uint8Array, name: string): Promise<Float32Array> {
  const { tensors } = await readGguf(bytesSource(bytes, 'merged.gguf'));
  const tensor = tensors.find((one) => one.name === name);
  if (tensor === undefined) throw new Error(`no ${name}`);
  const values = new Float32Array(tensor.rows * tensor.cols);
  dequantize(tensor.type, bytes.subarray(tensor.offset, tensor.offset + tensor.bytes), values);
  return values;
}

const norm = (values: readonly number[]) => Math.sqrt(values.reduce((sum, v) => sum + v * v, 0));

test("a model merged in F16 gives PEFT's logits of base and adapter, to float16's accuracy", async () => {
  const { bytes, report } = await merged(base, tiny, adapter, 'F16');
  const logits = await logitsOf(bytes);
  const far = logits.flatMap((row, t) =>
    row.map((value, i) => Math.abs(value - expected.logits[t][i])),
  );
  // Weights of about 0.3 lose up to 2^-12 of themselves, and sixteen of them are summed a layer.
  expect(Math.max(...far)).toBeLessThan(0.02);
  expect(report.bytes).toBe(bytes.length);
  expect(report.tensors).toHaveLength(adapter.modules.length);
  expect(report.errorShare).toBeLessThan(1e-3);
});

test('the reported change and error are those of the stored numbers', async () => {
  const { bytes, report } = await merged(base, tiny, adapter, 'F16');
  const module = adapter.modules.find((m) => m.layer === 1 && m.target === 'k_proj');
  if (module === undefined) throw new Error('no module');
  const { inputs, outputs, rank, scale, aT, bT } = module;
  const whole = new Uint8Array(await tiny.read(0, tiny.size));
  const before = await floatsOf(whole, 'blk.1.attn_k.weight');
  const after = await floatsOf(bytes, 'blk.1.attn_k.weight');
  const change = Array.from({ length: outputs * inputs }, (_, at) => {
    const [o, i] = [Math.floor(at / inputs), at % inputs];
    let sum = 0;
    for (let r = 0; r < rank; r++) sum += (bT[r * outputs + o] ?? 0) * (aT[i * rank + r] ?? 0);
    return scale * sum;
  });
  const error = change.map((delta, i) => (after[i] ?? 0) - (before[i] ?? 0) - delta);
  const entry = report.tensors.find(({ tensor }) => tensor === 'blk.1.attn_k.weight');
  expect(entry?.change).toBeCloseTo(norm(change), 6);
  expect(entry?.error).toBeCloseTo(norm(error), 6);
  expect(entry?.error).toBeGreaterThan(0);
});

test('the bundled Q4_0 policy becomes Q8_0; keys, vectors and the tokenizer stay as they are', async () => {
  const gguf = await readGguf(policy);
  const config = readLlamaConfig(gguf);
  const width = config.width;
  const one: AdapterData = {
    modules: [
      {
        ...({ layer: 0, target: 'o_proj', inputs: width, outputs: width } as const),
        ...{ rank: 1, scale: 1 },
        aT: new Float32Array(width).fill(0.01),
        bT: new Float32Array(width).fill(0.01),
      },
    ],
  };
  const { bytes, report } = await merged(gguf, policy, one, 'Q8_0');
  const back = await readGguf(bytesSource(bytes, 'merged.gguf'));
  const keys = ({ metadata }: GgufFile) => {
    const { 'general.file_type': _, 'general.quantization_version': __, ...rest } = metadata;
    return rest;
  };
  expect(keys(back)).toEqual(keys(gguf));
  expect(back.metadata['general.file_type']).toBe(7);
  expect(back.tensors.map(({ name, shape }) => [name, shape])).toEqual(
    gguf.tensors.map(({ name, shape }) => [name, shape]),
  );
  expect(
    back.tensors.every(({ type, shape }) => type === (shape.length > 1 ? 'Q8_0' : 'F32')),
  ).toBe(true);
  // ‖ΔW‖ = 1e-4 · width, all entries being equal.
  expect(report.change).toBeCloseTo(1e-4 * width, 6);
  expect(report.tensors).toHaveLength(1);
  expect(report.converted.tensors).toBe(
    gguf.tensors.filter(({ type }) => type !== 'F32' && type !== 'Q8_0').length - 1,
  );
  expect(report.converted.error).toBeGreaterThan(0);
});

test('a matrix without an adapter that has the wanted type already keeps its bytes', async () => {
  const q8 = file('models/household-2m/household-2m-q8_0.gguf', 'q8.gguf');
  const gguf = await readGguf(q8);
  const { bytes, report } = await merged(gguf, q8, { modules: [] }, 'Q8_0');
  expect(report).toMatchObject({ change: 0, error: 0, errorShare: 0, converted: { tensors: 0 } });
  const back = await readGguf(bytesSource(bytes, 'merged.gguf'));
  for (const [i, { offset, bytes: size }] of back.tensors.entries()) {
    const tensor = gguf.tensors[i];
    const original = await q8.read(tensor?.offset ?? 0, tensor?.bytes ?? 0);
    expect(Buffer.compare(bytes.subarray(offset, offset + size), original)).toBe(0);
  }
});

test('an adapter of another model is refused before a byte is written, and a stop is heard', async () => {
  const [module] = adapter.modules;
  if (module === undefined) throw new Error('no module');
  const deeper = { modules: [{ ...module, layer: 7 }] };
  await expect(mergeAdapter(base, tiny, deeper, 'F16').next()).rejects.toThrow(
    /changes blk\.7\.\S+ .* no such matrix/,
  );
  const stop = new AbortController();
  const work = mergeAdapter(base, tiny, adapter, 'F16', stop.signal);
  await work.next();
  stop.abort();
  await expect(work.next()).rejects.toMatchObject({ code: 'aborted' });
});
