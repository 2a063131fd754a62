/** Opens the one tfjs backend of this worker or process, and says which it is and why. No model, no ops. */

import * as tf from '@tensorflow/tfjs-core';
import { LabError } from '../errors.ts';
import type { BackendName, Capabilities } from '../records.ts';
import type { KernelWishes } from './choose-variants.ts';
import { type GpuLedger, watchBuffers } from './ledger.ts';
import { type ProbedGpu, probeError, probeGpu } from './probe.ts';

/** tfjs's own names of its three builds. */
export type WasmFile =
  | 'tfjs-backend-wasm.wasm'
  | 'tfjs-backend-wasm-simd.wasm'
  | 'tfjs-backend-wasm-threaded-simd.wasm';

/** What the surroundings provide; the same module runs in a page's worker and in Node. */
export interface BackendEnv {
  /** Where the builds lie: addresses in a browser, file paths in Node. */
  readonly wasmPaths: Readonly<Record<WasmFile, string>>;
  /** navigator.gpu where there is one. */
  readonly gpu?: GPU | undefined;
  /** Which kernels WebGPU shall use; the fixed ones unless said. */
  readonly kernels?: KernelWishes | undefined;
}

export interface OpenBackend {
  readonly name: BackendName;
  /** The adapter in words, or the flavour of WASM. */
  readonly device: string;
  readonly capabilities: Capabilities;
  /** null outside WebGPU. */
  readonly ledger: GpuLedger | null;
  /** Settles once, with the reason, when results can no longer be trusted; else never. */
  readonly lost: Promise<LabError>;
  /** Gives a WebGPU device back; wasm and cpu stay registered, since tfjs cannot reload them. */
  dispose(): void;
}

/**
 * Opens `preferred`, or WebGPU where it works and WASM where not. Throws `no_adapter`, naming the
 * step, when WebGPU was asked for by name and is not there.
 */
export async function openBackend(
  preferred: BackendName | undefined,
  env: BackendEnv,
): Promise<OpenBackend> {
  tf.enableProdMode(); // tfjs checks every result for NaN otherwise, and prints a banner in Node
  switch (preferred) {
    case 'cpu':
      return openCpu();
    case 'wasm':
      return openWasm(env, null);
    case 'webgpu':
    case undefined: {
      const probed = await probeGpu(env.gpu);
      if (probed.opened !== null) return openWebGpu(probed, probed.opened);
      if (preferred === 'webgpu') throw probeError(probed);
      return openWasm(env, probed);
    }
    default:
      return preferred satisfies never;
  }
}

/** The three-step probe alone, for the capability panel: opens a device and gives it back. */
export async function probe(env: BackendEnv): Promise<Capabilities> {
  const probed = await probeGpu(env.gpu);
  probed.opened?.device.destroy();
  const backend = probed.opened === null ? 'wasm' : 'webgpu';
  return {
    backend,
    reason: reasonFor(probed),
    device: probed.opened === null ? await wasmFlavour() : probed.device,
    steps: probed.steps,
  };
}

async function openWebGpu(
  probed: ProbedGpu,
  { adapter, device }: NonNullable<ProbedGpu['opened']>,
): Promise<OpenBackend> {
  const ledger = watchBuffers(device);
  const { WebGPUBackend } = await import('@tensorflow/tfjs-backend-webgpu');
  // Importing the package registers a factory that makes its own device; ours replaces it.
  if (tf.findBackendFactory('webgpu')) tf.removeBackend('webgpu');
  tf.registerBackend('webgpu', () => new WebGPUBackend(device, adapter.info));
  if (!(await tf.setBackend('webgpu'))) {
    device.destroy();
    throw new LabError('no_adapter', 'tfjs refused the WebGPU device. Reload the page.');
  }
  return {
    name: 'webgpu',
    device: probed.device,
    capabilities: {
      backend: 'webgpu',
      reason: reasonFor(probed),
      device: probed.device,
      steps: probed.steps,
    },
    ledger,
    lost: lossOf(device),
    dispose: () => {
      tf.removeBackend('webgpu');
      device.destroy();
    },
  };
}

/**
 * Settles once, when results can no longer be trusted: the device went away, or reported an error
 * that no call threw (memory, an invalid kernel), after which tensors hold zeros. The device is then
 * given back. One that was destroyed on purpose is not lost: the promise never settles.
 */
export function lossOf(
  device: Pick<GPUDevice, 'lost' | 'addEventListener' | 'destroy'>,
): Promise<LabError> {
  return new Promise((resolve) => {
    void device.lost.then(({ reason, message }) => {
      if (reason === 'destroyed') return;
      resolve(
        new LabError(
          'device_lost',
          `The GPU device was lost (${message || reason}). The run up to the last step is stored: load the model again to go on.`,
          { reason, message },
        ),
      );
    });
    device.addEventListener('uncapturederror', ({ error }) => {
      const memory = error.constructor.name === 'GPUOutOfMemoryError';
      resolve(
        memory
          ? new LabError(
              'limit',
              `The GPU ran out of memory (${error.message}). Close other tabs that use it, or choose a smaller model or a shorter context, and load the model again.`,
              { message: error.message },
            )
          : new LabError(
              'internal',
              `The GPU refused a command (${error.message}). Load the model again; if it comes back, use the WASM backend and report it.`,
              { message: error.message },
            ),
      );
      device.destroy();
    });
  });
}

async function openWasm(env: BackendEnv, probed: ProbedGpu | null): Promise<OpenBackend> {
  const { setWasmPaths } = await import('@tensorflow/tfjs-backend-wasm');
  if (tf.findBackend('wasm') === null) setWasmPaths({ ...env.wasmPaths });
  // In an isolated page tfjs would take its threaded build, whose shared memory our kernels cannot
  // import: every product would fall back to float32 copies.
  tf.env().set('WASM_HAS_MULTITHREAD_SUPPORT', false);
  if (!(await tf.setBackend('wasm'))) {
    throw new LabError(
      'internal',
      'The WASM backend did not start. Reload the page; offline, its .wasm files must be cached.',
    );
  }
  const device = await wasmFlavour();
  const reason = probed === null ? 'WASM was asked for.' : reasonFor(probed);
  return hostBackend('wasm', device, reason, probed);
}

async function openCpu(): Promise<OpenBackend> {
  await import('@tensorflow/tfjs-backend-cpu');
  await tf.setBackend('cpu');
  return hostBackend('cpu', 'plain JavaScript', 'The plain CPU backend was asked for.', null);
}

function hostBackend(
  name: 'wasm' | 'cpu',
  device: string,
  reason: string,
  probed: ProbedGpu | null,
): OpenBackend {
  return {
    name,
    device,
    capabilities: { backend: name, reason, device, steps: probed?.steps ?? [] },
    ledger: null,
    lost: new Promise(() => {}),
    dispose: () => {},
  };
}

function reasonFor(probed: ProbedGpu): string {
  if (probed.opened !== null) return `WebGPU: ${probed.device}.`;
  return `${probeError(probed).message}`;
}

async function wasmFlavour(): Promise<string> {
  const { getThreadsCount } = await import('@tensorflow/tfjs-backend-wasm');
  const simd = await tf.env().getAsync('WASM_HAS_SIMD_SUPPORT');
  const threads = tf.findBackend('wasm') ? getThreadsCount() : 1;
  return `wasm ${simd ? 'simd' : 'scalar'}, ${threads} thread${threads === 1 ? '' : 's'}`;
}
