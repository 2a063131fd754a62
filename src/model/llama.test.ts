import { readFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs-core';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { readGguf } from '../formats/gguf.ts';
import { bytesSource } from '../formats/source.ts';
import { deriveRng } from '../math/rng.ts';
import { cacheFor, type KvCache } from './cache.ts';
import { openBackend } from './device.ts';
import { type ForwardOptions, forward } from './forward.ts';
import { type LlamaModel, loadLlama } from './llama.ts';
import { projectionShape } from './llama-config.ts';
import { Adapter, freshAdapter } from './lora.ts';
import { nodeWasmPaths } from './wasm-paths-node.ts';

const fixture = (path: string) =>
  readFileSync(new URL(`../../e2e/fixtures/${path}`, import.meta.url));
const json = <T>(path: string): T => JSON.parse(fixture(path).toString('utf8'));

async function load(path: string, contextLength?: number): Promise<LlamaModel> {
  const source = bytesSource(new Uint8Array(fixture(path)), path);
  const options = contextLength === undefined ? {} : { contextLength };
  return loadLlama(await readGguf(source), source, options);
}

async function allLogits(
  model: LlamaModel,
  ids: readonly number[],
  adapter: Adapter | null = null,
): Promise<number[][]> {
  using cache = cacheFor(model);
  const logits = await forward(model, adapter, cache, ids, { logits: 'all' });
  if (logits === null) throw new Error('no logits');
  const rows = await logits.array();
  logits.dispose();
  return rows;
}

function maxDifference(
  a: readonly (readonly number[])[],
  b: readonly (readonly number[])[],
): number {
  let worst = 0;
  a.forEach((row, t) => {
    row.forEach((value, i) => {
      worst = Math.max(worst, Math.abs(value - (b[t]?.[i] ?? Number.NaN)));
    });
  });
  return worst;
}

describe.each(['cpu', 'wasm'] as const)('a llama on %s', (backend) => {
  beforeAll(async () => {
    await openBackend(backend, { wasmPaths: nodeWasmPaths(import.meta.url) });
  });

  it('gives the logits of transformers on the tiny model, tied head included (B01)', async () => {
    const expected = json<{ ids: number[]; logits_base: number[][] }>('engine/tiny_logits.json');
    const model = await load('engine/tiny.gguf');
    expect(model.config.tied).toBe(true);
    const logits = await allLogits(model, expected.ids);
    expect(maxDifference(expected.logits_base, logits)).toBeLessThan(1e-4);
    const last = logits.at(-1) ?? [];
    const top = [...last.keys()].sort((a, b) => (last[b] ?? 0) - (last[a] ?? 0)).slice(0, 3);
    expect(top).toEqual([44, 36, 15]);
    model.dispose();
  });

  it.each(['llama3rope', 'gemma3'])(
    'gives the same bits in any chunking, with an adapter that does something: %s',
    async (family) => {
      const path = `families/tiny_${family}.gguf`;
      const model = await load(path);
      using adapter = busyAdapter(model);
      const id = fc.nat(model.config.vocabulary - 1);
      await fc.assert(
        fc.asyncProperty(
          fc.array(id, { minLength: 2, maxLength: 40 }),
          fc.array(fc.integer({ min: 1, max: 17 }), { minLength: 1, maxLength: 8 }),
          async (ids, sizes) => {
            using whole = cacheFor(model);
            using parts = cacheFor(model);
            const expected = await bits(model, adapter, whole, ids, { logits: 'all', chunk: 64 });
            const rows: number[] = [];
            for (let at = 0, i = 0; at < ids.length; i++) {
              const piece = ids.slice(at, at + (sizes[i % sizes.length] ?? 1));
              rows.push(...(await bits(model, adapter, parts, piece, { logits: 'all', chunk: 3 })));
              at += piece.length;
            }
            expect(rows).toEqual(expected);
          },
        ),
        { numRuns: backend === 'wasm' ? 25 : 5 },
      );
      model.dispose();
    },
  );

  it('a fresh adapter changes no bit', async () => {
    const model = await load('engine/tiny.gguf');
    using adapter = new Adapter(
      freshAdapter(
        { rank: 2, alpha: 4, targets: ['q_proj', 'down_proj'] },
        model.config.layers,
        (target) => projectionShape(model.config, target),
        deriveRng(1),
      ),
    );
    expect(await allLogits(model, [3, 7, 11], adapter)).toEqual(await allLogits(model, [3, 7, 11]));
    model.dispose();
  });

  it('leaves nothing behind: model, cache and adapter given back', async () => {
    const before = tf.memory().numTensors;
    const model = await load('engine/tiny.gguf');
    const loaded = tf.memory().numTensors;
    await allLogits(model, [3, 7, 11]); // float32 copies are made at the first use
    const warm = tf.memory().numTensors;
    for (let i = 0; i < 5; i++) await allLogits(model, [3, 7, 11, i]);
    expect(tf.memory().numTensors).toBe(warm);
    expect(loaded).toBeLessThanOrEqual(warm);
    model.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });
});

describe('loading', () => {
  beforeAll(async () => {
    await openBackend('wasm', { wasmPaths: nodeWasmPaths(import.meta.url) });
  });

  const bytes = new Uint8Array(fixture('engine/tiny.gguf'));

  it('reports progress up to the last byte', async () => {
    const source = bytesSource(bytes, 'tiny.gguf');
    const seen: number[] = [];
    let total = 0;
    const model = await loadLlama(await readGguf(source), source, {
      onProgress: (done, all) => {
        seen.push(done);
        total = all;
      },
    });
    expect(seen.at(-1)).toBe(total);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    model.dispose();
  });

  it('frees everything when it is stopped half-way', async () => {
    const source = bytesSource(bytes, 'tiny.gguf');
    const gguf = await readGguf(source);
    const before = tf.memory();
    const stop = new AbortController();
    const loading = loadLlama(gguf, source, {
      signal: stop.signal,
      onProgress: (done) => {
        if (done > 5000) stop.abort();
      },
    });
    await expect(loading).rejects.toMatchObject({ code: 'aborted' });
    expect(tf.memory().numTensors).toBe(before.numTensors);
    expect(tf.memory().numBytes).toBe(before.numBytes);
  });

  it("refuses what wasm's memory cannot hold, with both sizes, before it reads a weight", async () => {
    const source = bytesSource(bytes, 'tiny.gguf');
    const gguf = await readGguf(source);
    // 60 million rows of 16 float32 are 3.58 GiB. The shapes in the file's index are the claim.
    const tensors = gguf.tensors.map((tensor) =>
      tensor.name === 'token_embd.weight'
        ? { ...tensor, rows: 60_000_000, shape: [16, 60_000_000] }
        : tensor,
    );
    const nothing = { ...source, read: () => Promise.reject(new Error('a weight was read')) };
    await expect(loadLlama({ ...gguf, tensors }, nothing)).rejects.toMatchObject({
      code: 'limit',
      // 3.25 GiB of float32 are 872 million numbers.
      message: expect.stringMatching(/3\.58 GiB.*3\.25 GiB.* 872 million.* 960 million.*WebGPU/),
    });
  });

  it('names the architecture it cannot run and those it can', async () => {
    const source = bytesSource(bytes, 'tiny.gguf');
    const gguf = await readGguf(source);
    const metadata = { ...gguf.metadata, 'general.architecture': 'mamba' };
    const loading = loadLlama({ ...gguf, metadata }, source);
    await expect(loading).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/"mamba".*supported: llama/),
    });
  });

  it('names missing and left-over tensors', async () => {
    const source = bytesSource(bytes, 'tiny.gguf');
    const gguf = await readGguf(source);
    const without = gguf.tensors.filter(({ name }) => name !== 'blk.1.ffn_up.weight');
    await expect(loadLlama({ ...gguf, tensors: without }, source)).rejects.toThrow(
      /1 tensors are missing: blk\.1\.ffn_up\.weight/,
    );
    const biased = gguf.tensors.map((tensor) => ({ ...tensor, name: tensor.name }));
    const [first] = biased;
    if (first === undefined) throw new Error('no tensors');
    const more = [...biased, { ...first, name: 'blk.0.attn_q.bias' }];
    await expect(loadLlama({ ...gguf, tensors: more }, source)).rejects.toThrow(/attn_q\.bias/);
  });

  it('names the tensor whose shape does not fit the metadata', async () => {
    const source = bytesSource(bytes, 'tiny.gguf');
    const gguf = await readGguf(source);
    const metadata = { ...gguf.metadata, 'llama.attention.head_count_kv': 4 };
    await expect(loadLlama({ ...gguf, metadata }, source)).rejects.toThrow(
      /"blk\.0\.attn_k\.weight" has shape \[16, 8\]; expected \[16, 16\]/,
    );
  });

  it('refuses an id outside the vocabulary and a conversation longer than the context', async () => {
    const model = await load('engine/tiny.gguf', 8);
    using cache = cacheFor(model);
    await expect(forward(model, null, cache, [1, 48], { logits: 'last' })).rejects.toThrow(
      /48 at position 1.*0 to 47/,
    );
    const nine = Array.from({ length: 9 }, () => 3);
    await expect(forward(model, null, cache, nine, { logits: 'last' })).rejects.toMatchObject({
      code: 'limit',
    });
    expect(cache.length).toBe(0);
    model.dispose();
  });
});

function busyAdapter(model: LlamaModel): Adapter {
  const data = freshAdapter(
    { rank: 3, alpha: 6, targets: ['q_proj', 'v_proj', 'down_proj'] },
    model.config.layers,
    (target) => projectionShape(model.config, target),
    deriveRng(7),
  );
  const modules = data.modules.map((module, m) => ({
    ...module,
    bT: module.bT.map((_, i) => 0.05 * Math.sin(m + 12.9898 * i)),
  }));
  return new Adapter({ modules });
}

async function bits(
  model: LlamaModel,
  adapter: Adapter,
  cache: KvCache,
  ids: readonly number[],
  options: ForwardOptions,
): Promise<number[]> {
  const logits = await forward(model, adapter, cache, ids, options);
  if (logits === null) throw new Error('no logits');
  const values = await logits.data();
  logits.dispose();
  return [...values];
}
