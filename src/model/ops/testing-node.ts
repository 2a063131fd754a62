/** For tests only: a backend opened in Node. */

import { openBackend } from '../device.ts';
import { nodeWasmPaths } from '../wasm-paths-node.ts';

/** Opens wasm or cpu in Node. */
export async function openHost(name: 'wasm' | 'cpu'): Promise<void> {
  await openBackend(name, { wasmPaths: nodeWasmPaths(import.meta.url) });
}
