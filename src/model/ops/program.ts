/**
 * Knows how a WGSL kernel runs through tfjs's WebGPU backend: bindings, uniforms, limits, in-place
 * output. Not what any kernel computes.
 */

import type { WebGPUBackend } from '@tensorflow/tfjs-backend-webgpu';
import * as tf from '@tensorflow/tfjs-core';
import { LabError } from '../../errors.ts';

/** One generated kernel. Equal keys must mean equal code: tfjs caches pipelines by key. */
export interface Kernel {
  readonly key: string;
  /** WGSL names of the inputs, each with how many 4-byte values an element of its array holds. */
  readonly inputs: Readonly<Record<string, 1 | 2 | 4>>;
  readonly uniforms: Readonly<Record<string, 'u32' | 'f32'>>;
  /** How many floats an element of `result` holds; 1 unless said. */
  readonly output?: 1 | 4;
  readonly workgroup: number;
  /** Functions and constants before main. */
  readonly prelude?: string;
  /**
   * The statements of main. `gx` and `gy` are the invocation's coordinates (u32), `result` is the
   * output as an array, `uniforms.name` the values, each input is an array under its name. Called
   * only when a pipeline is compiled.
   */
  readonly body: () => string;
}

export interface Launch {
  readonly inputs: readonly tf.Tensor[]; // in the kernel's order
  readonly uniforms: Readonly<Record<string, number>>;
  /** Invocations asked for; the kernel must return early beyond them in both directions. */
  readonly threads: { readonly x: number; readonly y?: number };
}

/** Runs a kernel that writes every element of a new [rows, cols] tensor. Returns owned. */
export function run2D(kernel: Kernel, launch: Launch, rows: number, cols: number): tf.Tensor2D {
  const output = empty2D(kernel.key, rows, cols);
  runInto(kernel, launch, output);
  return output;
}

/** One invocation a value: the kernel reads `uniforms.length`, the number of values. Returns owned. */
export function elementwise(
  kernel: Kernel,
  inputs: tf.Tensor[],
  rows: number,
  cols: number,
): tf.Tensor2D {
  const length = rows * cols;
  return run2D(kernel, { inputs, uniforms: { length }, threads: { x: length } }, rows, cols);
}

/**
 * A tensor with undefined contents, for {@link runInto}. Throws `limit`, before anything is allocated,
 * where it would not fit a binding. Returns owned.
 */
export function empty2D(what: string, rows: number, cols: number): tf.Tensor2D {
  refuseBeyondBinding(what, rows * cols * 4);
  const info = gpuBackend().makeTensorInfo([rows, cols], 'float32');
  return tf.engine().makeTensorFromTensorInfo(info) as tf.Tensor2D; // the shape above
}

/** As {@link run2D}, for a vector. */
export function run1D(kernel: Kernel, launch: Launch, length: number): tf.Tensor1D {
  refuseBeyondBinding(kernel.key, length * 4);
  const info = gpuBackend().makeTensorInfo([length], 'float32');
  const output = tf.engine().makeTensorFromTensorInfo(info) as tf.Tensor1D; // the shape above
  runInto(kernel, launch, output);
  return output;
}

/** Runs a kernel that writes some elements of `output` in place; the others keep their bits. */
export function runInto(kernel: Kernel, launch: Launch, output: tf.Tensor): void {
  const backend = gpuBackend();
  const names = Object.keys(kernel.inputs);
  if (names.length !== launch.inputs.length) {
    throw new LabError('internal', `${kernel.key} wants the inputs ${names.join(', ')}.`);
  }
  for (const input of launch.inputs) refuseBeyondBinding(kernel.key, input.size * 4);
  const { x, y } = launch.threads;
  const program = {
    shaderKey: kernel.key,
    variableNames: names,
    variableComponents: Object.values(kernel.inputs),
    outputComponent: kernel.output ?? 1,
    outputShape: [output.size, 1],
    workgroupSize: [kernel.workgroup, 1, 1] satisfies [number, number, number],
    // At least two rows where y is in use: tfjs compiles a second pipeline for dispatches of one row.
    dispatch: [Math.ceil(x / kernel.workgroup), y === undefined ? 1 : Math.max(2, y), 1] satisfies [
      number,
      number,
      number,
    ],
    // tfjs folds an x that is too large for one dimension into three, unless y is in use.
    dispatchLayout: y === undefined ? { x: [0] } : { x: [0], y: [1] },
    uniforms: Object.entries(kernel.uniforms)
      .map(([name, type]) => `${name} : ${type},`)
      .join(' '),
    getUserCode: () => sourceOf(kernel, y !== undefined),
  };
  const uniforms = Object.entries(kernel.uniforms).map(([name, type]) => {
    const value = launch.uniforms[name];
    if (value === undefined) throw new LabError('internal', `${kernel.key} wants ${name}.`);
    return { type: type === 'f32' ? 'float32' : 'uint32', data: [value] };
  });
  // Flat shapes: tfjs compiles one more pipeline for each pattern of equal and broadcast shapes.
  backend.runWebGPUProgram(
    program,
    launch.inputs.map(({ dataId, size, dtype }) => ({ dataId, shape: [size], dtype })),
    'float32',
    uniforms,
    { dataId: output.dataId, shape: [output.size, 1], dtype: 'float32' },
  );
  // A copy that an earlier read left on the host would hide what the kernel has just written.
  backend.tensorMap.get(output.dataId).values = null as never; // tfjs itself sets null here
}

/** How a kernel walks over rows of `length` values: four at a time where that divides them. */
export function lanes(length: number): {
  readonly count: 1 | 4;
  readonly type: 'f32' | 'vec4<f32>';
  /** The sum over the lanes of an expression. */
  readonly total: (value: string) => string;
  /** The product of two expressions, summed over the lanes. */
  readonly dot: (a: string, b: string) => string;
} {
  return length % 4 === 0
    ? {
        count: 4,
        type: 'vec4<f32>',
        total: (value) => `dot(${value}, vec4<f32>(1.0))`,
        dot: (a, b) => `dot(${a}, ${b})`,
      }
    : { count: 1, type: 'f32', total: (value) => value, dot: (a, b) => `${a} * ${b}` };
}

/** The backend as its own class; call only where {@link onGpu} holds. */
export function gpuBackend(): WebGPUBackend {
  const backend: unknown = tf.backend();
  return backend as WebGPUBackend; // registered under this name by device.ts
}

/** What tfjs records into, and keeps from others; null where nothing is recorded. */
interface Recording {
  readonly commandEncoder: GPUCommandEncoder | null;
}

/** Hands what is recorded so far, if anything, to the GPU; tfjs then frees what waited for it. */
export function submitRecorded(): void {
  const backend = gpuBackend();
  const { commandEncoder } = backend as unknown as Recording; // private there
  if (commandEncoder === null) return;
  backend.ensureCommandEncoderReady();
  backend.endComputePassEncoder();
  backend.submitQueue();
}

/**
 * Throws `limit` when `bytes` exceed what one binding may hold: WebGPU would otherwise fail at bind
 * time and leave zeros.
 */
export function refuseBeyondBinding(what: string, bytes: number): void {
  const limit = gpuBackend().device.limits.maxStorageBufferBindingSize;
  if (bytes <= limit) return;
  throw new LabError(
    'limit',
    `${what}: a tensor of ${bytes} bytes does not fit the GPU's binding limit of ${limit} bytes. Use a shorter context or text, a smaller model, or the WASM backend.`,
    { bytes, limit },
  );
}

function sourceOf(kernel: Kernel, planar: boolean): string {
  const head = planar
    ? 'fn main() { let gx = globalId.x; let gy = globalId.y;'
    : 'fn main(index : i32) { let gx = u32(index);';
  return `${kernel.prelude ?? ''}\n${head}\n${kernel.body()}\n}`;
}
