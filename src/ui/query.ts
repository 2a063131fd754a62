/** What the query of the page's address asks for, as pure functions of its text. */

import type { BackendName } from '../records.ts';

const backends: readonly BackendName[] = ['webgpu', 'wasm', 'cpu'];

/** `?backend=wasm`: what shall compute; null where the page may choose. */
export function backendOf(search: string): BackendName | null {
  const asked = new URLSearchParams(search).get('backend');
  return backends.find((name) => name === asked) ?? null;
}

/** The search part with this backend asked for, or with none. */
export function withBackend(search: string, backend: BackendName | null): string {
  const parts = new URLSearchParams(search);
  if (backend === null) parts.delete('backend');
  else parts.set('backend', backend);
  const text = parts.toString();
  return text === '' ? '' : `?${text}`;
}

/** `?kernels=fixed`: the WebGPU kernels to use, by name or as a run's manifest has them; null: as measured. */
export function kernelsOf(search: string): string | null {
  return new URLSearchParams(search).get('kernels');
}

/** `?threads=2`: how many threads shall compute on WASM; null where the page may choose. */
export function threadsOf(search: string): number | null {
  const asked = Number(new URLSearchParams(search).get('threads'));
  return Number.isInteger(asked) && asked >= 1 && asked <= MOST_THREADS ? asked : null;
}

/** Beyond it an address is taken for a slip. */
const MOST_THREADS = 64;

/** `?run=https://…`: the address of a run to read; null where none is named. */
export function runAddressOf(search: string): string | null {
  return new URLSearchParams(search).get('run');
}
