/** For tests only: WebGPU opened in a browser, with the cpu backend beside it for comparison. */

import { type OpenBackend, openBackend } from '../device.ts';

/** No test in the browser opens WASM. */
const NO_WASM = {
  'tfjs-backend-wasm.wasm': '',
  'tfjs-backend-wasm-simd.wasm': '',
  'tfjs-backend-wasm-threaded-simd.wasm': '',
};

/** Opens cpu, then WebGPU as the current backend. */
export async function openGpu(): Promise<OpenBackend> {
  await openBackend('cpu', { wasmPaths: NO_WASM });
  return openBackend('webgpu', { wasmPaths: NO_WASM, gpu: navigator.gpu });
}
