/** For tests only: WebGPU opened in a browser, with the cpu backend beside it for comparison. */

import { type OpenBackend, openBackend } from '../device.ts';
import { gpuBackend } from './program.ts';

/** No test in the browser opens WASM. */
const NO_WASM = {
  'tfjs-backend-wasm.wasm': '',
  'tfjs-backend-wasm-simd.wasm': '',
  'tfjs-backend-wasm-threaded-simd.wasm': '',
};

/** Opens cpu, then WebGPU as the current backend. */
export async function openGpu(): Promise<OpenBackend> {
  await openBackend('cpu', { wasmPaths: NO_WASM });
  const opened = await openBackend('webgpu', { wasmPaths: NO_WASM, gpu: navigator.gpu });
  // A kernel that does not compile gives zeros and an event: without this, only the zeros are seen.
  gpuBackend().device.addEventListener('uncapturederror', ({ error }) => {
    console.error(error.message);
  });
  return opened;
}
