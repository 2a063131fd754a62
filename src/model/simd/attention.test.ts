/** Attention's vector kernels where a conversation is longer than a tile of 64 keys; the reference is tfjs's ops. */

import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { deriveRng } from '../../math/rng.ts';
import {
  type AttentionHeads,
  attention,
  attentionBackward,
  attentionReference,
} from '../ops/attention.ts';
import { allocate2D } from '../ops/host.ts';
import { distance, random2D, randomArray } from '../ops/testing.ts';
import { openHost } from '../ops/testing-node.ts';
import { Block, pointerOf, simdKernels } from './kernels.ts';
import { tilesBytes } from './kv-tiles.ts';
import { attentionBytes } from './team.ts';

const LENGTH = 205;

/** Wide scores: the largest one moves from tile to tile, and weights underflow. */
const SCALE = 3;

const SHAPES = [
  { heads: 4, kvHeads: 4, headDim: 12 },
  { heads: 6, kvHeads: 2, headDim: 20 },
  { heads: 3, kvHeads: 1, headDim: 16, window: 70 },
  { heads: 2, kvHeads: 2, headDim: 4, window: 9 },
].map((shape) => ({ ...shape, scale: SCALE / Math.sqrt(shape.headDim) }));

function inputs({ heads, kvHeads, headDim }: (typeof SHAPES)[number]) {
  const rng = deriveRng(5, 'tiles', headDim);
  const q = random2D(rng, LENGTH, heads * headDim, 2);
  const k = random2D(rng, LENGTH, kvHeads * headDim, 2);
  const v = random2D(rng, LENGTH, kvHeads * headDim, 2);
  return { q, k, v };
}

describe.each(SHAPES)('attention over four tiles, $heads ($kvHeads) x $headDim', (shape) => {
  beforeAll(() => openHost('wasm'));

  it('is that of tfjs, of all queries together', () => {
    tf.tidy(() => {
      const { q, k, v } = inputs(shape);
      const span = { ...shape, start: 0, length: LENGTH };
      const reference = attentionReference(q, k, v, span).dataSync();
      expect(distance(attention(q, k, v, span).dataSync(), reference)).toBeLessThan(2e-5);
    });
  });

  it.each([1, 7, 150])('has the same bits %i queries at a time', (size) => {
    tf.tidy(() => {
      const { q, k, v } = inputs(shape);
      const together = attention(q, k, v, { ...shape, start: 0, length: LENGTH }).dataSync();
      const width = shape.heads * shape.headDim;
      const apart = Float32Array.from({ length: together.length }, () => Number.NaN);
      for (let start = 0; start < LENGTH; start += size) {
        const rows = Math.min(size, LENGTH - start);
        const some = tf.slice(q, [start, 0], [rows, width]);
        // Of rows after its own a query knows nothing.
        const span = { ...shape, start, length: start + rows };
        apart.set(attention(some, k, v, span).dataSync(), start * width);
      }
      expect(apart).toEqual(together);
    });
  });

  it('has the gradients of tfjs', () => {
    tf.tidy(() => {
      const { q, k, v } = inputs(shape);
      const span = { ...shape, start: 0, length: LENGTH };
      const dOut = tf.tensor2d(randomArray(deriveRng(6, 'slope'), q.size), q.shape);
      const [dq, dk, dv] = tf.grads((a, b, c) =>
        attentionReference(a as tf.Tensor2D, b as tf.Tensor2D, c as tf.Tensor2D, span),
      )([q, k, v], dOut);
      const own = attentionBackward(q, k, v, dOut, shape);
      expect(distance(own.dq.dataSync(), dq?.dataSync() ?? [])).toBeLessThan(2e-5);
      expect(distance(own.dk.dataSync(), dk?.dataSync() ?? [])).toBeLessThan(2e-5);
      expect(distance(own.dv.dataSync(), dv?.dataSync() ?? [])).toBeLessThan(2e-5);
    });
  });
});

/** Each head's row as integers of 16 bits times its own scale. */
function rounded(x: tf.Tensor2D, headDim: number): tf.Tensor2D {
  const rows = tf.reshape(x, [x.size / headDim, headDim]);
  const most = tf.max(tf.abs(rows), 1, true);
  const integers = tf.round(tf.mul(rows, tf.div(32767, most)));
  return tf.reshape(tf.mul(integers, tf.div(most, 32767)), x.shape);
}

/** As a conversation grows: `size` positions are kept, then their queries meet all that is there. */
function throughNarrowTiles(
  { q, k, v }: Readonly<Record<'q' | 'k' | 'v', tf.Tensor2D>>,
  { heads, kvHeads, headDim, scale, window = 0 }: AttentionHeads,
  size: number,
): Float32Array {
  const kernels = simdKernels();
  if (kernels === null) throw new Error('no vector kernels');
  const [length] = q.shape;
  using tiles = new Block(tilesBytes(length, kvHeads, headDim, 16));
  using work = new Block(attentionBytes(headDim));
  const out = allocate2D(length, heads * headDim);
  for (let start = 0; start < length; start += size) {
    const rows = Math.min(size, length - start);
    const part = (x: tf.Tensor2D) => pointerOf(tf.slice(x, [start, 0], [rows, -1]));
    kernels.keepRows(part(k), part(v), tiles.pointer, rows, kvHeads, headDim, start, 0);
    kernels.attention(
      pointerOf(q) + 4 * start * heads * headDim,
      tiles.pointer,
      pointerOf(out) + 4 * start * heads * headDim,
      work.pointer,
      rows,
      heads,
      kvHeads,
      headDim,
      start,
      window,
      scale,
      0,
      0,
      rows * heads,
    );
  }
  return out.dataSync<'float32'>().slice();
}

describe.each(SHAPES)('over tiles of 16 bits, $heads ($kvHeads) x $headDim', (shape) => {
  beforeAll(() => openHost('wasm'));

  it('is that of tfjs on queries, keys and values rounded to 16 bits', () => {
    tf.tidy(() => {
      const { q, k, v } = inputs(shape);
      const { headDim } = shape;
      const span = { ...shape, start: 0, length: LENGTH };
      const [q16, k16, v16] = [rounded(q, headDim), rounded(k, headDim), rounded(v, headDim)];
      const reference = attentionReference(q16, k16, v16, span).dataSync();
      // Besides, weights are rounded: 64 of a tile's, each by up to 2^-16 of the largest, with any sign.
      expect(distance(throughNarrowTiles({ q, k, v }, shape, LENGTH), reference)).toBeLessThan(
        2e-4,
      );
    });
  });

  it.each([1, 7, 150])('has the same bits %i positions at a time', (size) => {
    tf.tidy(() => {
      const all = inputs(shape);
      expect(throughNarrowTiles(all, shape, size)).toEqual(throughNarrowTiles(all, shape, LENGTH));
    });
  });
});

it('over tiles of 16 bits is that of tfjs in 20 random shapes, in parts of any size', async () => {
  await openHost('wasm');
  const rng = deriveRng(8, 'narrow');
  for (let n = 0; n < 20; n++) {
    const kvHeads = 1 + rng.int(3);
    const heads = kvHeads * (1 + rng.int(4));
    const headDim = 4 * (1 + rng.int(24));
    const length = 1 + rng.int(200);
    const window = rng.int(2) === 0 ? {} : { window: 1 + rng.int(150) };
    const shape = { heads, kvHeads, headDim, scale: SCALE / Math.sqrt(headDim), ...window };
    tf.tidy(() => {
      const q = random2D(rng, length, heads * headDim, 2);
      const k = random2D(rng, length, kvHeads * headDim, 2);
      const v = random2D(rng, length, kvHeads * headDim, 2);
      const [q16, k16, v16] = [rounded(q, headDim), rounded(k, headDim), rounded(v, headDim)];
      const span = { ...shape, start: 0, length };
      const reference = attentionReference(q16, k16, v16, span).dataSync();
      const own = throughNarrowTiles({ q, k, v }, shape, 1 + rng.int(length));
      expect(distance(own, reference), JSON.stringify({ ...shape, length })).toBeLessThan(2e-4);
    });
  }
});

it('a value that is not finite comes through', async () => {
  await openHost('wasm');
  tf.tidy(() => {
    const q = tf.tensor2d([Number.NaN, 0, 0, 0, 1, 0, 0, 0], [2, 4]);
    const k = tf.ones([2, 4]) as tf.Tensor2D;
    const shape = { heads: 1, kvHeads: 1, headDim: 4, scale: 1, start: 0, length: 2 };
    const out = [...attention(q, k, k, shape).dataSync()];
    expect(out.slice(0, 4)).toEqual([Number.NaN, Number.NaN, Number.NaN, Number.NaN]);
    expect(out.slice(4)).toEqual([1, 1, 1, 1]);
    const narrow = [...throughNarrowTiles({ q, k: tf.clone(k), v: tf.clone(k) }, shape, 2)];
    expect(narrow.slice(0, 4)).toEqual([Number.NaN, Number.NaN, Number.NaN, Number.NaN]);
    expect(narrow.slice(4).every((value) => Math.abs(value - 1) < 1e-6)).toBe(true);
  });
});
