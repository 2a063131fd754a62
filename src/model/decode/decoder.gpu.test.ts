/** A token through the decoder against the same token through the ops, which have references of their own. */

import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readGguf } from '../../formats/gguf.ts';
import { blobSource } from '../../formats/source.ts';
import { deriveRng } from '../../math/rng.ts';
import type { AdapterData } from '../../records.ts';
import { cacheFor } from '../cache.ts';
import type { OpenBackend } from '../device.ts';
import { forward } from '../forward.ts';
import { type LlamaModel, loadLlama } from '../llama.ts';
import { projectionShape } from '../llama-config.ts';
import { Adapter, freshAdapter } from '../lora.ts';
import { gpuBackend } from '../ops/program.ts';
import { distance, randomArray } from '../ops/testing.ts';
import { openGpu } from '../ops/testing-gpu.ts';
import { GREEDY, plainDraw, sampleToken } from '../sampler.ts';
import { FIXED, offered, useChoice, VARIANTS } from '../variants.ts';
import { type Compiler, compilerOf } from './compile.ts';
import { decoderFits, decoderOf } from './decoder.ts';
import { normedLength, productsShader, splitOf } from './wgsl.ts';

/** float32 sums of the same products in another order, through six layers. */
const TOLERANCE = 2e-5;

let opened: OpenBackend;
beforeAll(async () => {
  opened = await openGpu();
});
afterAll(() => opened.dispose());

async function open(path: string): Promise<LlamaModel> {
  const source = blobSource(await (await fetch(path)).blob(), path);
  return loadLlama(await readGguf(source), source);
}

/** An adapter on q and v that moves the logits: B is not zero. */
function adapterFor({ config }: LlamaModel, rank: number): Adapter {
  const shape = { rank, alpha: 16, targets: ['q_proj', 'v_proj'] } as const;
  const rng = deriveRng(7, 'adapter', rank);
  const fresh = freshAdapter(shape, config.layers, (t) => projectionShape(config, t), rng);
  const modules: AdapterData['modules'] = fresh.modules.map((module) => ({
    ...module,
    bT: randomArray(rng, module.bT.length, 0.05),
  }));
  return new Adapter({ modules });
}

/** Logits of the last `alone` of ids, read one by one after the others. */
async function oneByOne(
  model: LlamaModel,
  adapter: Adapter | null,
  ids: readonly number[],
  alone: number,
): Promise<Float32Array[]> {
  using cache = cacheFor(model);
  const rest = ids.length - alone;
  await forward(model, adapter, cache, ids.slice(0, rest), { logits: 'none', chunk: 32 });
  const rows: Float32Array[] = [];
  for (const id of ids.slice(rest)) {
    const logits = await forward(model, adapter, cache, [id], { logits: 'last' });
    rows.push(Float32Array.from((await logits?.data<'float32'>()) ?? []));
    logits?.dispose();
  }
  return rows;
}

/** The same from one chunk, which the ops compute. */
async function together(
  model: LlamaModel,
  adapter: Adapter | null,
  ids: readonly number[],
  last: number,
): Promise<Float32Array[]> {
  using cache = cacheFor(model);
  const logits = await forward(model, adapter, cache, ids, { logits: 'all', chunk: 32 });
  const values = (await logits?.data<'float32'>()) ?? new Float32Array();
  logits?.dispose();
  const { vocabulary } = model.config;
  return Array.from({ length: last }, (_, i) => {
    const row = ids.length - last + i;
    return values.slice(row * vocabulary, (row + 1) * vocabulary);
  });
}

describe('the bundled policy', () => {
  it.each([
    { type: 'q8_0', rank: 0, length: 70 },
    // Past 256 rows the cache moves to larger buffers.
    { type: 'q8_0', rank: 3, length: 260 },
    { type: 'q4_0', rank: 8, length: 70 },
  ])(
    'as $type decodes as the ops do, with an adapter of rank $rank',
    async ({ type, rank, length }) => {
      const model = await open(`/models/household-2m/household-2m-${type}.gguf`);
      using adapter = rank === 0 ? null : adapterFor(model, rank);
      expect(decoderFits(model, adapter)).toBe(true);
      const ids = Array.from({ length }, (_, i) => (i * 37 + 11) % 1000);
      const expected = await together(model, adapter, ids, 6);
      const before = tf.memory().numTensors;
      const found = await oneByOne(model, adapter, ids, 6);
      expect(tf.memory().numTensors).toBe(before);
      found.forEach((row, i) => {
        expect(distance(row, expected[i] ?? []), `token ${i}`).toBeLessThan(TOLERANCE);
      });
      model.dispose();
      expect(opened.ledger?.livePurposes().get('decode')).toBeUndefined();
    },
  );
});

const variants = [
  ...VARIANTS.matvec.slice(1).map((matvec) => ({ ...FIXED, matvec })),
  ...VARIANTS.attention.slice(1).map((attention) => ({ ...FIXED, attention })),
];

it.each(variants)(
  'decodes as the ops do with $matvec products and $attention attention',
  async (choice) => {
    const { device } = gpuBackend();
    const model = await open('/models/household-2m/household-2m-q4_0.gguf');
    using adapter = adapterFor(model, 8);
    const ids = Array.from({ length: 40 }, (_, i) => (i * 37 + 11) % 1000);
    const expected = await together(model, adapter, ids, 3);
    useChoice(device, choice);
    const found = await oneByOne(model, adapter, ids, 3);
    useChoice(device, FIXED);
    found.forEach((row, i) => {
      expect(distance(row, expected[i] ?? []), `token ${i}`).toBeLessThan(TOLERANCE);
    });
    model.dispose();
  },
);

it('an adapter whose ranks add up to more than any before gets the room that it needs', async () => {
  const model = await open('/models/household-2m/household-2m-q8_0.gguf');
  using small = adapterFor(model, 4);
  using large = adapterFor(model, 64);
  const ids = Array.from({ length: 6 }, (_, i) => i + 5);
  await oneByOne(model, small, ids, 2);
  const found = await oneByOne(model, large, ids, 2);
  const expected = await together(model, large, ids, 2);
  expect(distance(found[1] ?? [], expected[1] ?? [])).toBeLessThan(TOLERANCE);
  model.dispose();
});

it('a trained adapter is used from the next token on', async () => {
  const model = await open('/models/household-2m/household-2m-q8_0.gguf');
  using adapter = adapterFor(model, 4);
  const ids = Array.from({ length: 12 }, (_, i) => i + 5);
  const first = await oneByOne(model, adapter, ids, 2);
  adapter.assign(adapter.parameters().map((each) => tf.mul(each, 2)));
  const second = await oneByOne(model, adapter, ids, 2);
  const expected = await together(model, adapter, ids, 2);
  expect(distance(second[1] ?? [], expected[1] ?? [])).toBeLessThan(TOLERANCE);
  expect(distance(second[1] ?? [], first[1] ?? [])).toBeGreaterThan(1e-3);
  model.dispose();
});

it('a token takes at most 8 dispatches a layer and 6 more, one submit, and 12 bytes read back', async () => {
  const model = await open('/models/household-2m/household-2m-q8_0.gguf');
  using adapter = adapterFor(model, 8);
  using cache = cacheFor(model);
  const draw = { temperature: 0.7, quantile: 0.5 };
  const decoder = decoderOf(model);
  await decoder.sample(adapter, cache, 5, 0, draw);
  const counts = { dispatches: 0, submits: 0, bytes: 0 };
  const dispatch = GPUComputePassEncoder.prototype.dispatchWorkgroups;
  const submit = GPUQueue.prototype.submit;
  const map = GPUBuffer.prototype.mapAsync;
  GPUComputePassEncoder.prototype.dispatchWorkgroups = function (...groups) {
    counts.dispatches++;
    return dispatch.apply(this, groups);
  };
  GPUQueue.prototype.submit = function (buffers) {
    counts.submits++;
    return submit.call(this, buffers);
  };
  GPUBuffer.prototype.mapAsync = function (...range) {
    counts.bytes += this.size;
    return map.apply(this, range);
  };
  await decoder.sample(adapter, cache, 6, 1, draw);
  GPUComputePassEncoder.prototype.dispatchWorkgroups = dispatch;
  GPUQueue.prototype.submit = submit;
  GPUBuffer.prototype.mapAsync = map;
  expect(counts.dispatches).toBeLessThanOrEqual(8 * model.config.layers + 6);
  expect(counts.dispatches).toBeGreaterThan(model.config.layers);
  expect(counts).toMatchObject({ submits: 1, bytes: 12 });
  model.dispose();
});

it('tokens drawn on the device are those that the sampler draws from the logits', async () => {
  const model = await open('/models/household-2m/household-2m-q4_0.gguf');
  using cache = cacheFor(model);
  const decoder = decoderOf(model);
  const rng = deriveRng(7, 'draws');
  const drawn = new Set<number>();
  for (let position = 0; position < 40; position++) {
    const id = rng.int(1000);
    const logits = await decoder.step(null, cache, id, position);
    const row = Float32Array.from(await logits.data<'float32'>());
    logits.dispose();
    const sampling = { ...GREEDY, temperature: [0, 0.7, 1.5, 5][position % 4] ?? 0 };
    const expected = sampleToken(row, [], sampling, deriveRng(9, position));
    const draw = plainDraw(sampling, deriveRng(9, position));
    const found = await decoder.sample(null, cache, id, position, draw);
    expect(found.id, `draw ${position}`).toBe(expected.id);
    expect(found.logprob, `draw ${position}`).toBeCloseTo(expected.logprob, 4);
    expect(found.entropy, `draw ${position}`).toBeCloseTo(expected.entropy, 4);
    drawn.add(found.id);
  }
  expect(drawn.size).toBeGreaterThan(15);
  model.dispose();
});

/** Each is a shader of its own, which SwiftShader compiles in a fifth of a second. */
const SHAPES = import.meta.env.VITE_LONG ? 20 : 7;

describe.each(VARIANTS.matvec)('products in the variant %s', (variant) => {
  it(`agree with sums in double on ${SHAPES} odd shapes, norm included`, async ({ skip }) => {
    const { device } = gpuBackend();
    if (!offered(device, 'matvec').includes(variant)) skip(`this adapter cannot run ${variant}`);
    const split = splitOf(variant, device);
    const compiler = compilerOf(device);
    for (let number = 0; number < SHAPES; number++) {
      const rng = deriveRng(7, 'products', number);
      const cols = 32 * (1 + rng.int(9));
      const matrices = [1, 2].map(() => ({ type: 'F32', rows: 1 + rng.int(40), cols }) as const);
      const values = matrices.map(({ rows }) => randomArray(rng, rows * cols));
      const x = randomArray(rng, cols, 2);
      const gain = randomArray(rng, cols);
      const shader = productsShader(matrices, { eps: 1e-5 }, split);
      const total = matrices.reduce((sum, { rows }) => sum + rows, 0);
      const normed = new Float32Array(normedLength(cols, split));
      normed.set(x.map((value, i) => value * (gain[i] ?? 0)));
      // Σ x² in as many parts as there are tiles of that many rows.
      x.forEach((value, i) => {
        const part = cols + Math.floor(i / split.rows);
        normed[part] = (normed[part] ?? 0) + value * value;
      });
      const found = await run(device, compiler, shader, [normed, ...values], total);
      const squares = x.reduce((sum, v) => sum + v * v, 0);
      const r = 1 / Math.sqrt(squares / cols + 1e-5);
      const expected = values.flatMap((w, n) =>
        Array.from({ length: matrices[n]?.rows ?? 0 }, (_, row) => {
          let sum = 0;
          for (let i = 0; i < cols; i++) {
            sum += (w[row * cols + i] ?? 0) * (x[i] ?? 0) * (gain[i] ?? 0);
          }
          return sum * r;
        }),
      );
      expect(distance(found, expected), `case ${number}`).toBeLessThan(5e-6);
    }
  });
});

/** One dispatch over float32 inputs; the result's values. */
async function run(
  device: GPUDevice,
  compiler: Compiler,
  shader: ReturnType<typeof productsShader>,
  inputs: readonly Float32Array[],
  length: number,
): Promise<Float32Array> {
  const { STORAGE, UNIFORM, COPY_DST, COPY_SRC, MAP_READ } = GPUBufferUsage;
  const token = device.createBuffer({ size: 16, usage: UNIFORM });
  const sent = inputs.map((values) => {
    const buffer = device.createBuffer({ size: values.byteLength, usage: STORAGE | COPY_DST });
    device.queue.writeBuffer(buffer, 0, Float32Array.from(values));
    return buffer;
  });
  const result = device.createBuffer({ size: 4 * length, usage: STORAGE | COPY_SRC });
  const read = device.createBuffer({ size: 4 * length, usage: MAP_READ | COPY_DST });
  const { pipeline, layout } = compiler.compile(shader);
  const entries = [token, ...sent, result].map((buffer, binding) => ({
    binding,
    resource: { buffer },
  }));
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, device.createBindGroup({ layout, entries }));
  pass.dispatchWorkgroups(shader.workgroups);
  pass.end();
  encoder.copyBufferToBuffer(result, 0, read, 0, 4 * length);
  device.queue.submit([encoder.finish()]);
  await read.mapAsync(GPUMapMode.READ);
  const values = new Float32Array(read.getMappedRange()).slice();
  for (const buffer of [token, ...sent, result, read]) buffer.destroy();
  return values;
}
