/** Pipelines of one device, each made once. */

import type { Access, Shader } from './wgsl.ts';

export interface Compiled {
  readonly pipeline: GPUComputePipeline;
  readonly layout: GPUBindGroupLayout;
}

const compilers = new WeakMap<GPUDevice, Compiler>();

/** The device's one compiler: models of one shape, and one model under another adapter, share pipelines. */
export function compilerOf(device: GPUDevice): Compiler {
  const known = compilers.get(device);
  if (known !== undefined) return known;
  const made = new Compiler(device);
  compilers.set(device, made);
  return made;
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
