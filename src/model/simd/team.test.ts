/** Threads that share the kernels' calls: the bits of one thread, and what becomes of the threads. */

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loraTargets } from '../../config.ts';
import { readGguf } from '../../formats/gguf.ts';
import { bytesSource } from '../../formats/source.ts';
import { deriveRng } from '../../math/rng.ts';
import { finish } from '../../sequences.ts';
import { Adam } from '../../train/adam.ts';
import { updateAdapter } from '../../train/update.ts';
import { cacheFor } from '../cache.ts';
import { type OpenBackend, openBackend } from '../device.ts';
import { forward } from '../forward.ts';
import { type LlamaModel, loadLlama } from '../llama.ts';
import { projectionShape } from '../llama-config.ts';
import { Adapter, freshAdapter } from '../lora.ts';
import { nodeThreads } from '../threads-node.ts';
import { nodeWasmPaths } from '../wasm-paths-node.ts';
import { kernelTeam } from './kernels.ts';
import type { Team } from './team.ts';

const IDS = Array.from({ length: 29 }, (_, i) => (i * 7 + 3) % 40);

/** All that threads could change: logits in chunks and token by token, losses and gradients of an update. */
async function numbersOf(model: LlamaModel): Promise<readonly Float32Array[]> {
  const { layers } = model.config;
  const numbers: Float32Array[] = [];
  for (const chunk of [29, 13, 1]) {
    using cache = cacheFor(model);
    const logits = await forward(model, null, cache, IDS, { logits: 'all', chunk });
    numbers.push((await logits?.data<'float32'>())?.slice() ?? new Float32Array(0));
    logits?.dispose();
  }
  const shape = { rank: 3, alpha: 16, targets: loraTargets } as const;
  const projection = (target: (typeof loraTargets)[number]) =>
    projectionShape(model.config, target);
  using adapter = new Adapter(freshAdapter(shape, layers, projection, deriveRng(3, 'adapter')));
  using adam = new Adam(adapter.parameters());
  const weights = IDS.map((_, i) => (i === 0 ? 0 : 1 / i));
  const { losses, firstGradients, ceAfter } = await finish(
    updateAdapter(model, adapter, adam, [{ ids: IDS, weights }], {
      steps: 2,
      learningRate: 1e-2,
      normalisation: 'weights',
      maxGradNorm: 1,
      keepGradients: true,
    }),
  );
  return [...numbers, Float32Array.from(losses), ...(firstGradients ?? []), ...ceAfter];
}

describe('two threads', () => {
  let backend: OpenBackend;
  let team: Team;

  beforeAll(async () => {
    const wasmPaths = nodeWasmPaths(import.meta.url);
    backend = await openBackend('wasm', { wasmPaths, threads: nodeThreads(2) });
    const found = kernelTeam();
    if (found === null) throw new Error('There are no threads here.');
    team = found;
  });
  afterAll(() => backend.dispose());

  it('are there, and named', () => {
    expect(team.threads).toBe(2);
    expect(backend.capabilities.device).toBe('wasm simd, 2 threads');
    // What a manifest says is the same for any number.
    expect(backend.device).toBe('wasm simd');
  });

  it.each([
    ['tiny_llama3rope', false],
    ['tiny_qwen2', false],
    ['tiny_qwen3', false],
    ['tiny_gemma3', false],
    ['q_Q4_0', true],
    ['q_Q8_0', true],
    ['q_F16', true],
  ])('give the bits of one: %s, quantised: %s', async (name, keepQuantised) => {
    const path = new URL(`../../../e2e/fixtures/families/${name}.gguf`, import.meta.url);
    const source = bytesSource(new Uint8Array(readFileSync(path)), name);
    const model = await loadLlama(await readGguf(source), source, { keepQuantised });
    team.limit(1);
    const alone = await numbersOf(model);
    expect(alone.every((values) => values.length > 0)).toBe(true);
    team.limit(2, 'all');
    expect(await numbersOf(model)).toEqual(alone);
    team.limit(2);
    model.dispose();
  });

  it('end with the backend, whose kernels then run on one thread', async () => {
    backend.dispose();
    expect(team.threads).toBe(1);
    const path = new URL('../../../e2e/fixtures/families/q_F16.gguf', import.meta.url);
    const source = bytesSource(new Uint8Array(readFileSync(path)), 'q_F16');
    const model = await loadLlama(await readGguf(source), source, {});
    expect((await numbersOf(model)).length).toBeGreaterThan(3);
    model.dispose();
  });
});
