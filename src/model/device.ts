/** Opens the one tfjs backend of this worker or process, and says which it is and why. No model, no ops. */

import * as tf from '@tensorflow/tfjs-core';
import { LabError } from '../errors.ts';
import type { BackendName, Capabilities, ProbeStep } from '../records.ts';
import type { KernelWishes } from './choose-variants.ts';
import { type GpuLedger, watchBuffers } from './ledger.ts';
import { type ProbedGpu, probeError, probeGpu } from './probe.ts';
import type { ThreadHost } from './simd/helper.ts';
import { kernelTeam, startTeam } from './simd/kernels.ts';
import { canShareMemory, sharedBuild, withBuild } from './simd/shared-backend.ts';
import { directivesFirst } from './wgsl-directives.ts';

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
  /** Threads for the kernels on WASM; one unless said. */
  readonly threads?: ThreadHost | undefined;
  /** Which kernels WebGPU shall use; the fixed ones unless said. */
  readonly kernels?: KernelWishes | undefined;
}

export interface OpenBackend {
  readonly name: BackendName;
  /** The adapter in words, or the flavour of WASM: what results may depend on, so not the threads. */
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

async function openWebGpu(
  probed: ProbedGpu,
  { adapter, device }: NonNullable<ProbedGpu['opened']>,
): Promise<OpenBackend> {
  const ledger = watchBuffers(device);
  directivesFirst(device);
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
  const { threads, wasmPaths } = env;
  const fresh = !('wasm' in tf.engine().registry); // findBackend would start it, with other paths
  const build =
    fresh && threads && threads.count > 1 && canShareMemory()
      ? await sharedBuild(threads.read, wasmPaths['tfjs-backend-wasm-simd.wasm'])
      : null;
  if (fresh) setWasmPaths({ ...wasmPaths }, build !== null);
  // In an isolated page tfjs would take its threaded build, whose threads our kernels cannot use.
  tf.env().set('WASM_HAS_MULTITHREAD_SUPPORT', false);
  const open = () => tf.setBackend('wasm');
  if (!(await (build ? withBuild(build, open) : open()))) {
    throw new LabError(
      'internal',
      'The WASM backend did not start; the console says why. On the page, reload it: offline, its .wasm files must be cached. In a terminal, allow more memory, or take --backend cpu.',
    );
  }
  if (threads) await startTeam(threads);
  const reason = probed === null ? 'WASM was asked for.' : reasonFor(probed);
  const steps = [...(probed?.steps ?? []), isolationStep(threads?.count ?? 1)];
  return hostBackend('wasm', await wasmFlavour(), threadsInWords(), reason, steps);
}

async function openCpu(): Promise<OpenBackend> {
  await import('@tensorflow/tfjs-backend-cpu');
  await tf.setBackend('cpu');
  return hostBackend('cpu', 'plain JavaScript', '', 'The plain CPU backend was asked for.', []);
}

function hostBackend(
  name: 'wasm' | 'cpu',
  device: string,
  more: string,
  reason: string,
  steps: readonly ProbeStep[],
): OpenBackend {
  return {
    name,
    device,
    capabilities: { backend: name, reason, device: device + more, steps },
    ledger: null,
    lost: new Promise(() => {}),
    dispose: () => kernelTeam()?.stop(),
  };
}

function reasonFor(probed: ProbedGpu): string {
  if (probed.opened !== null) return `WebGPU: ${probed.device}.`;
  return `${probeError(probed).message}`;
}

async function wasmFlavour(): Promise<string> {
  await import('@tensorflow/tfjs-backend-wasm'); // which says how the flag is found
  const simd = await tf.env().getAsync('WASM_HAS_SIMD_SUPPORT');
  return `wasm ${simd ? 'simd' : 'scalar'}`;
}

function threadsInWords(): string {
  const threads = kernelTeam()?.threads ?? 1;
  return `, ${threads} thread${threads === 1 ? '' : 's'}`;
}

/** What threads need, and how many compute where `asked` were asked for. */
function isolationStep(asked: number): ProbeStep {
  const threads = kernelTeam()?.threads ?? 1;
  const step = 'isolation';
  if (threads > 1) return { step, ok: true, found: `${threads} threads compute`, next: '' };
  if (asked < 2) return { step, ok: true, found: 'one thread computes, as asked', next: '' };
  if (!canShareMemory()) {
    return {
      step,
      ok: false,
      found: 'one thread computes: this page may not share memory',
      next: 'Serve the page with the headers Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp, as npm start does.',
    };
  }
  return {
    step,
    ok: false,
    found: 'one thread computes: the others did not start',
    next: 'Reload the page.',
  };
}
