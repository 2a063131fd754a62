/**
 * What is timed to choose variants: the ops on a loaded model's own matrix, and the decoder's kernels alone.
 * Knows no clock.
 */

import * as tf from '@tensorflow/tfjs-core';
import { LabError } from '../errors.ts';
import type { Trial } from './choose-variants.ts';
import { attendShader, mergeShader, partsLength, partsShader } from './decode/attention-wgsl.ts';
import { type Compiler, compilerOf } from './decode/compile.ts';
import { type Matrix, productsShader, type Shader, splitOf } from './decode/wgsl.ts';
import { trimPool } from './gpu-pool.ts';
import type { LlamaModel } from './llama.ts';
import { attention, linear, linearBackward } from './ops/index.ts';
import { gpuBackend } from './ops/program.ts';
import { type Choice, FIXED, useChoice, type VariantOf, type VariantOp } from './variants.ts';
import type { WeightMatrix } from './weights.ts';

/** Rows of x that stand for a prompt. */
const MANY = 32;

/** Rows of the cache that stand for a conversation. */
const SEEN = 512;

/** A trial a variant for each op; null where the decoder could not run the matrix. */
export type VariantTrials = {
  readonly [Op in Exclude<VariantOp, 'matvec'>]: (name: VariantOf<Op>) => Trial;
} & { readonly matvec: ((name: VariantOf<'matvec'>) => Trial) | null } & Disposable;

/** Trials with the first layer's widest matrix; the ops' leave another choice in use. Owns its tensors. */
export function variantTrials(model: LlamaModel): VariantTrials {
  const [first] = model.layers;
  if (first === undefined) throw new LabError('internal', 'The model has no layers.');
  const matrix = first.projections.gate_proj;
  const x = waves(MANY, matrix.cols);
  const dy = waves(MANY, matrix.rows);
  const { heads } = first;
  const q = waves(MANY, heads.heads * heads.headDim);
  const cache = waves(SEEN, heads.kvHeads * heads.headDim);
  const span = { ...heads, start: SEEN - MANY, length: SEEN };
  const bench = new Bench(gpuBackend().device);
  // One layer and the head: wide and narrow, long and short, as a token meets them.
  const walked = [...Object.values(first.projections), model.head].flatMap(wholeMatrix);
  return {
    matvec: walked.length > 0 ? (name) => matvecTrial(bench, walked, name) : null,
    matmul: (name) => opTrial(() => linear(x, matrix), { ...FIXED, matmul: name }),
    transpose: (name) => opTrial(() => linearBackward(dy, matrix), { ...FIXED, transpose: name }),
    attention: (name) => attentionTrial(bench, model, name),
    prefill: (name) => opTrial(() => attention(q, cache, cache, span), { ...FIXED, prefill: name }),
    [Symbol.dispose]() {
      tf.dispose([x, dy, q, cache]);
      bench[Symbol.dispose]();
      trimPool();
    },
  };
}

/** Values without a pattern that a kernel could miss. */
const waves = (rows: number, cols: number) => tf.tensor2d(wave(rows * cols), [rows, cols]);

const wave = (length: number) => Float32Array.from({ length }, (_, i) => Math.sin(i * 1.7));

function opTrial(op: () => tf.Tensor2D, choice: Choice): Trial {
  const { device } = gpuBackend();
  const result = () => {
    useChoice(device, choice);
    return op();
  };
  return {
    run: () => result().dispose(),
    result: async () => {
      const y = result();
      const values = Float32Array.from(await y.data());
      y.dispose();
      return values;
    },
  };
}

interface WholeMatrix extends Matrix {
  readonly planes: readonly GPUBuffer[];
}

/** The matrix, if the decoder's kernels can walk over it in one binding. */
function wholeMatrix({ type, rows, cols, storage }: WeightMatrix): WholeMatrix[] {
  if (storage.kind !== 'gpu' || cols % 32 !== 0 || storage.shards.length !== 1) return [];
  const planes = storage.shards.flatMap((shard) => shard.planes);
  const buffers = planes.map(({ dataId }) => gpuBackend().tensorMap.get(dataId).resource);
  return [{ type, rows, cols, planes: buffers as GPUBuffer[] }]; // textures are made from images only
}

function matvecTrial(
  bench: Bench,
  matrices: readonly WholeMatrix[],
  name: VariantOf<'matvec'>,
): Trial {
  const split = splitOf(name, gpuBackend().device);
  const steps = matrices.map((matrix) => {
    const { rows, cols, planes } = matrix;
    const x = bench.filled(`x${cols}`, wave(cols));
    const y = bench.empty(`y${rows}`, rows);
    return { shader: productsShader([matrix], null, split), buffers: [x, ...planes, y] };
  });
  return bench.trial(steps, matrices.at(-1)?.rows ?? 0);
}

function attentionTrial(bench: Bench, model: LlamaModel, name: VariantOf<'attention'>): Trial {
  const heads = model.layers[0]?.heads;
  if (heads === undefined) throw new LabError('internal', 'The model has no layers.');
  const { kvHeads, headDim } = heads;
  const width = heads.heads * headDim;
  const q = bench.filled('q', wave(width));
  const k = bench.filled('k', wave(SEEN * kvHeads * headDim));
  const mixed = bench.empty('mixed', width);
  switch (name) {
    case 'registers': {
      const parts = bench.empty('parts', partsLength(heads));
      return bench.trial(
        [
          { shader: partsShader(heads), buffers: [q, k, k, parts] },
          { shader: mergeShader(heads), buffers: [parts, mixed] },
        ],
        width,
      );
    }
    case 'workgroup':
      return bench.trial([{ shader: attendShader(heads), buffers: [q, k, k, mixed] }], width);
    default:
      return name satisfies never;
  }
}

/** Runs the decoder's kernels alone; owns the buffers that they need, one a name. */
class Bench {
  readonly #device: GPUDevice;
  readonly #compiler: Compiler;
  readonly #token: GPUBuffer;
  readonly #buffers = new Map<string, GPUBuffer>();

  constructor(device: GPUDevice) {
    this.#device = device;
    this.#compiler = compilerOf(device);
    const { UNIFORM, COPY_DST } = GPUBufferUsage;
    this.#token = device.createBuffer({ label: 'timing', size: 16, usage: UNIFORM | COPY_DST });
    device.queue.writeBuffer(this.#token, 0, Uint32Array.of(0, SEEN - 1));
  }

  empty(name: string, values: number): GPUBuffer {
    const { STORAGE, COPY_DST, COPY_SRC } = GPUBufferUsage;
    const usage = STORAGE | COPY_DST | COPY_SRC;
    const known = this.#buffers.get(name);
    const buffer = known ?? this.#device.createBuffer({ label: 'timing', size: 4 * values, usage });
    this.#buffers.set(name, buffer);
    return buffer;
  }

  filled(name: string, values: Float32Array<ArrayBuffer>): GPUBuffer {
    const buffer = this.empty(name, values.length);
    this.#device.queue.writeBuffer(buffer, 0, values);
    return buffer;
  }

  /** The shaders one after the other; the last buffer of the last one has the result. */
  trial(
    steps: readonly { readonly shader: Shader; readonly buffers: readonly GPUBuffer[] }[],
    length: number,
  ): Trial {
    const device = this.#device;
    const recorded = steps.map(({ shader, buffers }) => {
      const { pipeline, layout } = this.#compiler.compile(shader);
      const entries = [this.#token, ...buffers].map((buffer, binding) => ({
        binding,
        resource: { buffer },
      }));
      const group = device.createBindGroup({ layout, entries });
      return { pipeline, group, workgroups: shader.workgroups };
    });
    const run = (encoder: GPUCommandEncoder) => {
      const pass = encoder.beginComputePass();
      for (const { pipeline, group, workgroups } of recorded) {
        pass.setPipeline(pipeline);
        pass.setBindGroup(0, group);
        pass.dispatchWorkgroups(workgroups);
      }
      pass.end();
    };
    const output = steps.at(-1)?.buffers.at(-1);
    return {
      run: () => {
        const encoder = device.createCommandEncoder();
        run(encoder);
        device.queue.submit([encoder.finish()]);
      },
      result: async () => {
        const { COPY_DST, MAP_READ } = GPUBufferUsage;
        const size = 4 * length;
        const read = device.createBuffer({ label: 'timing', size, usage: COPY_DST | MAP_READ });
        const encoder = device.createCommandEncoder();
        run(encoder);
        if (output) encoder.copyBufferToBuffer(output, 0, read, 0, size);
        device.queue.submit([encoder.finish()]);
        await read.mapAsync(GPUMapMode.READ);
        const values = new Float32Array(read.getMappedRange()).slice();
        read.destroy();
        return values;
      },
    };
  }

  [Symbol.dispose](): void {
    for (const buffer of [this.#token, ...this.#buffers.values()]) buffer.destroy();
  }
}
