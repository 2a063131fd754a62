/** Pipelines of one device, each made once; and which variant of a product is fastest on it. */

import type { Access, Lanes, Matrix, Shader } from './wgsl.ts';
import { LANES, productsShader } from './wgsl.ts';

export interface Compiled {
  readonly pipeline: GPUComputePipeline;
  readonly layout: GPUBindGroupLayout;
}

export class Compiler {
  readonly device: GPUDevice;
  readonly #made = new Map<string, Compiled>();

  constructor(device: GPUDevice) {
    this.device = device;
  }

  /** By its text: equal kernels of different layers are one pipeline. */
  compile({ code, access }: Shader): Compiled {
    const known = this.#made.get(code);
    if (known !== undefined) return known;
    const { device } = this;
    const entry = (binding: number, type: GPUBufferBindingType): GPUBindGroupLayoutEntry => ({
      binding,
      visibility: GPUShaderStage.COMPUTE,
      buffer: { type },
    });
    const kind = (each: Access) => (each === 'read' ? 'read-only-storage' : 'storage');
    const layout = device.createBindGroupLayout({
      entries: [entry(0, 'uniform'), ...access.map((each, i) => entry(i + 1, kind(each)))],
    });
    const pipeline = device.createComputePipeline({
      layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
      compute: { module: device.createShaderModule({ code }), entryPoint: 'main' },
    });
    const compiled = { pipeline, layout };
    this.#made.set(code, compiled);
    return compiled;
  }
}

/** Products timed together: enough that a slow clock sees them. */
const TIMED = 8;

/** By device, so that every model of a session runs the same variant. */
const chosen = new WeakMap<GPUDevice, Promise<Lanes>>();

/**
 * How much faster more lanes must be to be taken: two loads on one machine should choose alike, since the
 * order of sums, and with it the last bits of logits, hangs on it.
 */
const MARGIN = 1.5;

/**
 * The fastest number of lanes for a product of this shape, by the best of three timings each; fewer
 * where more are not clearly faster.
 */
export function chooseLanes(compiler: Compiler, sample: Matrix): Promise<Lanes> {
  const known = chosen.get(compiler.device);
  if (known !== undefined) return known;
  const timing = timeLanes(compiler, sample);
  chosen.set(compiler.device, timing);
  return timing;
}

async function timeLanes(compiler: Compiler, sample: Matrix): Promise<Lanes> {
  const { device } = compiler;
  const { type, rows, cols } = sample;
  const make = (size: number, usage: GPUBufferUsageFlags) =>
    device.createBuffer({ label: 'decode:timing', size, usage });
  const { STORAGE, UNIFORM } = GPUBufferUsage;
  const token = make(8, UNIFORM);
  // As large as the type may need; zeros, since only the time matters.
  const buffers = new Map<Access, GPUBuffer>([
    ['read', make(Math.max(4 * cols, 4 * rows * cols), STORAGE)],
    ['read_write', make(4 * rows, STORAGE)],
  ]);
  let best: Lanes = LANES[0];
  let least = Number.POSITIVE_INFINITY;
  for (const lanes of LANES) {
    let fastest = Number.POSITIVE_INFINITY;
    const shader = productsShader([{ type, rows, cols }], { eps: 1e-5 }, lanes);
    const { pipeline, layout } = compiler.compile(shader);
    const resources = [token, ...shader.access.map((each) => buffers.get(each))];
    const entries = resources.flatMap((buffer, binding) =>
      buffer === undefined ? [] : [{ binding, resource: { buffer } }],
    );
    const group = device.createBindGroup({ layout, entries });
    for (let attempt = 0; attempt < 4; attempt++) {
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      for (let i = 0; i < TIMED; i++) pass.dispatchWorkgroups(shader.workgroups);
      pass.end();
      const begun = performance.now();
      device.queue.submit([encoder.finish()]);
      await device.queue.onSubmittedWorkDone();
      const taken = performance.now() - begun;
      if (attempt > 0) fastest = Math.min(fastest, taken); // the first may still compile
    }
    if (fastest < least / MARGIN) [least, best] = [fastest, lanes];
  }
  for (const buffer of [token, ...buffers.values()]) buffer.destroy();
  return best;
}
