import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { nodeWasmPaths } from '../wasm-paths-node.ts';
import { withSharedMemory } from './shared-memory.ts';

/** Modules by hand (WebAssembly core specification, chapter 5): magic, version, then sections. */
const HEADER = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const OWN = [5, 4, 1, 1, 1, 2]; // one memory of 1 to 2 pages
const WITHOUT_MAXIMUM = [5, 3, 1, 0, 1];
/** Imports a function of type 0, a global, a table and a memory, all from "e". */
const IMPORTED = [
  ...[1, 4, 1, 0x60, 0, 0],
  ...[2, 30, 4],
  ...[1, 0x65, 1, 0x66, 0, 0],
  ...[1, 0x65, 1, 0x67, 3, 0x7f, 0],
  ...[1, 0x65, 1, 0x74, 1, 0x70, 0, 0],
  ...[1, 0x65, 1, 0x6d, 2, 1, 1, 2],
];

it('the own memory of a module becomes shared', async () => {
  const module = withSharedMemory(Uint8Array.from([...HEADER, ...OWN]));
  expect([...module]).toEqual([...HEADER, 5, 4, 1, 3, 1, 2]);
  await expect(WebAssembly.compile(module as BufferSource)).resolves.toBeDefined();
});

it('an imported memory becomes shared, whatever is imported before it', async () => {
  const module = withSharedMemory(Uint8Array.from([...HEADER, ...IMPORTED]));
  expect([...module]).toEqual([...HEADER, ...IMPORTED].with(-3, 3));
  const imports = WebAssembly.Module.imports(await WebAssembly.compile(module as BufferSource));
  expect(imports.map(({ kind }) => kind)).toEqual(['function', 'global', 'table', 'memory']);
});

it('a memory without a maximum, and a module without memory, are refused', () => {
  for (const rest of [WITHOUT_MAXIMUM, []]) {
    const module = Uint8Array.from([...HEADER, ...rest]);
    expect(() => withSharedMemory(module)).toThrow(/no memory with a maximum/);
  }
});

it("tfjs's build gives a module whose memory is shared", async () => {
  const path = nodeWasmPaths(import.meta.url)['tfjs-backend-wasm-simd.wasm'];
  const bytes = new Uint8Array(readFileSync(path));
  const shared = withSharedMemory(bytes);
  expect(shared.filter((byte, at) => byte !== bytes[at])).toHaveLength(1);
  await expect(WebAssembly.compile(shared as BufferSource)).resolves.toBeDefined();
});
