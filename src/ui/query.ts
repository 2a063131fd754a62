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

/** `?run=https://…`: the address of a run to read; null where none is named. */
export function runAddressOf(search: string): string | null {
  return new URLSearchParams(search).get('run');
}
