/** Where Node finds the three WASM builds of tfjs: in node_modules beside the caller. */

import { createRequire } from 'node:module';
import type { BackendEnv } from './device.ts';

/** File paths for {@link BackendEnv.wasmPaths}, resolved as `from` (an import.meta.url) would import them. */
export function nodeWasmPaths(from: string): BackendEnv['wasmPaths'] {
  const { resolve } = createRequire(from);
  return {
    'tfjs-backend-wasm.wasm': resolve('@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm.wasm'),
    'tfjs-backend-wasm-simd.wasm': resolve(
      '@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm',
    ),
    'tfjs-backend-wasm-threaded-simd.wasm': resolve(
      '@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-threaded-simd.wasm',
    ),
  };
}
