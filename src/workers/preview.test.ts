import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { defaultSettings } from '../config.ts';
import { readGguf } from '../formats/gguf.ts';
import { bytesSource } from '../formats/source.ts';
import { previewModel } from './preview.ts';

const file = new Uint8Array(readFileSync('models/household-2m/household-2m-q8_0.gguf'));
const gguf = await readGguf(bytesSource(file, 'policy'));
const part = (preview: ReturnType<typeof previewModel>, name: string) =>
  preview.memory.find((one) => one.part === name)?.bytes ?? Number.NaN;

test('twice the rank is twice the adapter and its optimiser; a quarter of the context a quarter of the cache', () => {
  const usual = previewModel(gguf, 'policy', defaultSettings, 'webgpu', 8);
  const other = previewModel(
    gguf,
    'policy',
    { ...defaultSettings, lora_rank: 16, context_length: usual.contextLength / 4 },
    'webgpu',
    8,
  );
  expect(part(other, 'lora')).toBe(2 * part(usual, 'lora'));
  expect(part(other, 'optimiser')).toBe(2 * part(usual, 'optimiser'));
  expect(part(other, 'kv')).toBe(part(usual, 'kv') / 4);
  // The weights' part holds RoPE's two tables as well: 24 angles a position, for 3,072 positions fewer.
  expect(part(usual, 'weights') - part(other, 'weights')).toBe(2 * 24 * 3072 * 4);
});

test('the limit is the heap on WASM, a share of the memory elsewhere, and unknown where nothing is said', () => {
  const limit = (backend: 'wasm' | 'webgpu', gib: number | null) =>
    previewModel(gguf, 'policy', defaultSettings, backend, gib).limit?.bytes ?? null;
  expect(limit('wasm', 32)).toBe(4_294_967_296);
  // 3.25 GiB at 288 bytes for 256 weights of Q8_0, of which the file almost wholly is.
  expect(previewModel(gguf, 'policy', defaultSettings, 'wasm', 32).limit?.what).toMatch(
    /about 30\d\d million parameters/,
  );
  expect(limit('webgpu', 10)).toBe(7_516_192_768); // 0.7 × 10 GiB
  expect(limit('webgpu', null)).toBeNull();
});
