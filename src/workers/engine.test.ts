import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { bytesSource } from '../formats/source.ts';
import { KvCache } from '../model/cache.ts';
import { forward } from '../model/forward.ts';
import { nodeWasmPaths } from '../model/wasm-paths-node.ts';
import type { LoadProgress } from '../records.ts';
import { EngineHost } from './engine.ts';

const bytes = new Uint8Array(
  readFileSync(new URL('../../e2e/fixtures/engine/tiny.gguf', import.meta.url)),
);
const file = (content: Uint8Array, name: string) => ({
  source: bytesSource(content, name),
  sha256: name,
});
const never = new AbortController().signal;

async function lastLogits(engine: EngineHost): Promise<number[]> {
  const { model } = engine.loaded;
  const { layers, kvHeads, headDim, contextLength } = model.config;
  using cache = new KvCache(layers, kvHeads * headDim, contextLength);
  const logits = await forward(model, null, cache, [3, 7, 11], { logits: 'last' });
  const row = [...((await logits?.data()) ?? [])];
  logits?.dispose();
  return row;
}

it('a model that does not load, or is stopped, leaves the present one in use', async () => {
  const engine = new EngineHost({ wasmPaths: nodeWasmPaths(import.meta.url) }, 'wasm');
  expect(() => engine.loaded).toThrow(/Load the bundled policy/);
  const phases = new Set<LoadProgress['phase']>();
  const info = await engine.load(file(bytes, 'tiny.gguf'), 4096, never, ({ phase }) => {
    phases.add(phase);
  });
  expect([...phases]).toEqual(['upload', 'warm_up']);
  expect(info).toMatchObject({ architecture: 'llama', layers: 2, contextLength: 64 });
  // As in the file, in whole panels of rows; the file has a header and a vocabulary besides.
  const weights = info.memory.find(({ part }) => part === 'weights')?.bytes ?? 0;
  expect(weights / bytes.length).toBeGreaterThan(0.8);
  expect(weights / bytes.length).toBeLessThan(1);
  const before = await lastLogits(engine);

  const cut = file(bytes.subarray(0, bytes.length - 5000), 'cut.gguf');
  await expect(engine.load(cut, 4096, never, () => {})).rejects.toMatchObject({
    code: 'bad_input',
    message: expect.stringContaining('cut.gguf'),
  });
  const text = file(new TextEncoder().encode('<!doctype html>'), 'page.html');
  await expect(engine.load(text, 4096, never, () => {})).rejects.toThrow(/not a GGUF file/);
  const stop = new AbortController();
  const stopped = engine.load(file(bytes, 'again.gguf'), 4096, stop.signal, () => stop.abort());
  await expect(stopped).rejects.toMatchObject({ code: 'aborted' });

  expect(engine.info).toEqual(info);
  expect(await lastLogits(engine)).toEqual(before);
});

it('a backend that did not open does not stand in the way of the next one', async () => {
  const engine = new EngineHost({ wasmPaths: nodeWasmPaths(import.meta.url) }, 'webgpu');
  await expect(engine.capabilities()).rejects.toMatchObject({ code: 'no_adapter' });
  engine.prefer('wasm');
  expect(await engine.capabilities()).toMatchObject({ backend: 'wasm' });
});
