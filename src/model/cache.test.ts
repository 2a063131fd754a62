import { readFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { readGguf } from '../formats/gguf.ts';
import { bytesSource } from '../formats/source.ts';
import { cacheFor, KvCache } from './cache.ts';
import { loadLlama } from './llama.ts';
import { defaultNeeds, estimateMemory } from './memory.ts';
import { openHost } from './ops/testing-node.ts';

const ROWS = { kind: 'rows', width: 4 } as const;
const TILES = { kind: 'tiles', kvHeads: 2, headDim: 4, bits: 16 } as const;

describe('a cache', () => {
  beforeAll(() => openHost('cpu'));

  it('grows by doubling up to the context and keeps what it holds', async () => {
    using cache = new KvCache(2, 1000, ROWS);
    expect(cache.capacity).toBe(256);
    const { k } = cache.layer(1);
    k.dataSync().fill(7); // the cpu backend hands out its own memory
    cache.reserve(257);
    expect(cache.capacity).toBe(512);
    const values = await cache.layer(1).k.data();
    expect(values.subarray(0, 256 * 4).every((value) => value === 7)).toBe(true);
    expect(values.subarray(256 * 4).every((value) => value === 0)).toBe(true);
    cache.reserve(1000);
    expect(cache.capacity).toBe(1000);
    expect(cache.bytes).toBe(2 * 2 * 1000 * 4 * 4);
  });

  it('holds whole tiles of 64 positions, and grows by them', async () => {
    using cache = new KvCache(2, 1000, TILES);
    expect(cache.capacity).toBe(256);
    // Of each of two heads: keys and values of 64 x 4 integers of 2 bytes, and 2 x 64 scales.
    expect(cache.bytes).toBe(2 * 4 * 2 * (2 * 64 * 4 * 2 + 2 * 64 * 4));
    cache.tiles(1).dataSync().fill(7);
    cache.reserve(1000);
    expect(cache.capacity).toBe(1024);
    const values = await cache.tiles(1).data();
    expect(values.length).toBe(16 * 2 * (64 * 4 + 2 * 64));
    expect(values.findIndex((value) => value !== 7)).toBe(values.length / 4);
    expect(() => cache.layer(1)).toThrow(/no rows of layer 1/);
  });

  it('says how many tokens were asked for and how many fit', () => {
    using cache = new KvCache(1, 100, ROWS);
    expect(() => cache.reserve(101)).toThrow(/101 tokens.*holds 100/);
  });

  it('keeps the common prefix of ids', () => {
    using cache = new KvCache(1, 100, ROWS);
    cache.commit([5, 6, 7, 8]);
    expect(cache.keepPrefixOf([5, 6, 9, 8])).toBe(2);
    expect(cache.ids).toEqual([5, 6]);
    expect(cache.keepPrefixOf([5, 6, 7])).toBe(2);
    expect(cache.keepPrefixOf([])).toBe(0);
  });

  it('gives its memory back', () => {
    const before = tf.memory().numTensors;
    const cache = new KvCache(3, 1000, ROWS);
    cache.reserve(700);
    cache.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });
});

describe('on wasm', () => {
  beforeAll(() => openHost('wasm'));

  it.each([
    ['models/household-2m/household-2m-q8_0.gguf', 16],
    ['e2e/fixtures/families/tiny_qwen3.gguf', 32],
  ])('the cache of %s has tiles of %i bits, and takes what was estimated', async (path, bits) => {
    const file = new URL(`../../${path}`, import.meta.url);
    const source = bytesSource(new Uint8Array(readFileSync(file)), path);
    const gguf = await readGguf(source);
    const model = await loadLlama(gguf, source, { contextLength: 1000 });
    const needs = { ...defaultNeeds, tensors: gguf.tensors, caches: 1, backend: 'wasm' } as const;
    const estimated = estimateMemory(model.config, needs).find(({ part }) => part === 'kv');
    const before = tf.memory().numBytes;
    using cache = cacheFor(model);
    cache.reserve(cache.limit);
    expect(cache.form).toMatchObject({ kind: 'tiles', bits });
    expect(tf.memory().numBytes - before).toBe(estimated?.bytes);
    model.dispose();
  });
});
