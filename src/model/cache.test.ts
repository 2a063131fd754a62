import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { KvCache } from './cache.ts';
import { openHost } from './ops/testing-node.ts';

beforeAll(() => openHost('cpu'));

describe('a cache', () => {
  it('grows by doubling up to the context and keeps what it holds', async () => {
    using cache = new KvCache(2, 4, 1000);
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

  it('says how many tokens were asked for and how many fit', () => {
    using cache = new KvCache(1, 4, 100);
    expect(() => cache.reserve(101)).toThrow(/101 tokens.*holds 100/);
  });

  it('keeps the common prefix of ids', () => {
    using cache = new KvCache(1, 4, 100);
    cache.commit([5, 6, 7, 8]);
    expect(cache.keepPrefixOf([5, 6, 9, 8])).toBe(2);
    expect(cache.ids).toEqual([5, 6]);
    expect(cache.keepPrefixOf([5, 6, 7])).toBe(2);
    expect(cache.keepPrefixOf([])).toBe(0);
  });

  it('gives its memory back', () => {
    const before = tf.memory().numTensors;
    const cache = new KvCache(3, 4, 1000);
    cache.reserve(700);
    cache.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });
});
