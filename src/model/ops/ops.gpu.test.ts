/** Every op as WGSL against its host path on 20 odd shapes, in-place writes, limits, and who frees what. */

import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { deriveRng, type Rng } from '../../math/rng.ts';
import type { OpenBackend } from '../device.ts';
import { FIXED, useChoice, VARIANTS } from '../variants.ts';
import { type AttentionSpan, attention, attentionBackward } from './attention.ts';
import { crossEntropy, crossEntropyBackward } from './cross-entropy.ts';
import { geglu, gegluBackward } from './geglu.ts';
import { klRows } from './kl-rows.ts';
import { kvAppend } from './kv-append.ts';
import { loraAdd, loraBackward } from './lora-add.ts';
import { gpuBackend } from './program.ts';
import { rmsNorm, rmsNormBackward } from './rms-norm.ts';
import { makeRopeTable, rope } from './rope.ts';
import { swiglu, swigluBackward } from './swiglu.ts';
import { distance, onBoth, random1D, random2D, randomArray } from './testing.ts';
import { openGpu } from './testing-gpu.ts';

/** The host sums in double, the GPU in float32, whose exp and inverseSqrt are good to a few ulp. */
const TOLERANCE = 2e-5;
const CASES = 20;

let opened: OpenBackend;
beforeAll(async () => {
  opened = await openGpu();
});
afterAll(() => opened.dispose());

const ops: Readonly<Record<string, (rng: Rng) => tf.Tensor[]>> = {
  'rmsNorm and its gradient': (rng) => {
    const { rows, cols } = oddShape(rng);
    const x = random2D(rng, rows, cols, 3);
    const gain = random1D(rng, cols);
    const dy = random2D(rng, rows, cols);
    return [rmsNorm(x, gain, 1e-5), rmsNormBackward(x, gain, 1e-5, dy)];
  },
  'swiglu and its gradients': (rng) => {
    const { rows, cols } = oddShape(rng);
    const gate = random2D(rng, rows, cols, 6);
    const up = random2D(rng, rows, cols, 2);
    const { dGate, dUp } = swigluBackward(gate, up, random2D(rng, rows, cols));
    return [swiglu(gate, up), dGate, dUp];
  },
  'geglu and its gradients': (rng) => {
    const { rows, cols } = oddShape(rng);
    const gate = random2D(rng, rows, cols, 6);
    const up = random2D(rng, rows, cols, 2);
    const { dGate, dUp } = gegluBackward(gate, up, random2D(rng, rows, cols));
    return [geglu(gate, up), dGate, dUp];
  },
  'rope in both styles, forth and back': (rng) => {
    const headDim = 2 * (1 + rng.int(9));
    const style = rng.pick(['interleaved', 'halves'] as const);
    const table = makeRopeTable({ headDim, style, context: 16, base: 10_000 });
    const x = random2D(rng, 1 + rng.int(6), headDim * (1 + rng.int(4)));
    const start = rng.int(9);
    return [rope(x, table, start), rope(x, table, start, { inverse: true })];
  },
  attention: (rng) => {
    const { span, rows } = oddSpan(rng);
    const q = random2D(rng, rows, span.heads * span.headDim, 2);
    const k = random2D(rng, span.length + 2, span.kvHeads * span.headDim, 2);
    const v = random2D(rng, span.length + 2, span.kvHeads * span.headDim);
    return [attention(q, k, v, span)];
  },
  'attention of few queries over many rows': (rng) => {
    const { span: odd, rows } = oddSpan(rng);
    const start = 60 + rng.int(500);
    const window = rng.int(2) === 0 ? {} : { window: 50 + rng.int(200) };
    const { heads, kvHeads, headDim, scale } = odd;
    const span = { heads, kvHeads, headDim, scale, start, length: start + rows, ...window };
    const q = random2D(rng, rows, heads * headDim, 2);
    const k = random2D(rng, span.length, kvHeads * headDim, 2);
    const v = random2D(rng, span.length, kvHeads * headDim);
    return [attention(q, k, v, span)];
  },
  'the gradients of attention': (rng) => {
    const { span, rows } = oddSpan(rng);
    const width = span.heads * span.headDim;
    const q = random2D(rng, rows, width, 2);
    const k = random2D(rng, rows, span.kvHeads * span.headDim, 2);
    const v = random2D(rng, rows, span.kvHeads * span.headDim);
    const { dq, dk, dv } = attentionBackward(q, k, v, random2D(rng, rows, width), span);
    return [dq, dk, dv];
  },
  'crossEntropy and its gradient': (rng) => {
    const { rows, cols } = oddShape(rng);
    const logits = random2D(rng, rows, cols, 9);
    const labels = Int32Array.from({ length: rows }, () => rng.int(cols));
    const coeff = randomArray(rng, rows);
    return [crossEntropy(logits, labels), crossEntropyBackward(logits, labels, coeff)];
  },
  klRows: (rng) => {
    const { rows, cols } = oddShape(rng);
    return [klRows(random2D(rng, rows, cols, 5), random2D(rng, rows, cols, 5))];
  },
  'kvAppend, in place': (rng) => {
    const cacheK = random2D(rng, 9, 5);
    const cacheV = random2D(rng, 9, 5);
    const k = random2D(rng, 1 + rng.int(3), 5);
    const v = random2D(rng, k.shape[0], 5);
    kvAppend(cacheK, cacheV, k, v, rng.int(9 - k.shape[0] + 1));
    return [cacheK, cacheV];
  },
  'the low-rank term and its gradients': (rng) => {
    const { rows, cols } = oddShape(rng);
    const rank = 1 + rng.int(9);
    const outputs = 1 + rng.int(40);
    const x = random2D(rng, rows, cols);
    const module = {
      aT: random2D(rng, cols, rank),
      bT: random2D(rng, rank, outputs),
      scale: 2 * rng.next(),
    };
    const { daT, dbT, dx } = loraBackward(x, random2D(rng, rows, outputs), module);
    return [loraAdd(random2D(rng, rows, outputs), x, module), daT, dbT, dx];
  },
};

it.each(Object.entries(ops))(
  '%s: WGSL agrees with the host on 20 odd shapes',
  async (name, run) => {
    const before = tf.memory().numTensors;
    for (let number = 0; number < CASES; number++) {
      const results = await onBoth(name, number, run);
      results.forEach(({ host, gpu }, i) => {
        expect(distance(gpu, host), `case ${number}, result ${i}`).toBeLessThan(TOLERANCE);
      });
    }
    expect(tf.memory().numTensors).toBe(before);
  },
);

it.each(VARIANTS.prefill)(
  'attention of many queries by %s: WGSL agrees with the host',
  async (prefill) => {
    useChoice(gpuBackend().device, { ...FIXED, prefill });
    for (let number = 0; number < CASES; number++) {
      const [both] = await onBoth('many', number, (rng) => {
        const { span: odd } = oddSpan(rng);
        // Around the tiles of 4 and of 32 queries, and of 16 rows.
        const rows = rng.pick([1, 3, 31, 32, 33, 50, 64]) + rng.int(3);
        const start = rng.pick([0, 1, 15, 40]);
        const span = { ...odd, start, length: start + rows };
        const q = random2D(rng, rows, span.heads * span.headDim, 2);
        const k = random2D(rng, span.length, span.kvHeads * span.headDim, 2);
        const v = random2D(rng, span.length, span.kvHeads * span.headDim);
        return [attention(q, k, v, span)];
      });
      expect(distance(both?.gpu ?? [], both?.host ?? [1]), `case ${number}`).toBeLessThan(
        TOLERANCE,
      );
    }
    useChoice(gpuBackend().device, FIXED);
  },
);

it('the divergence of nearly equal rows keeps its first digits, and of equal rows is 0', async () => {
  const p = randomArray(deriveRng(7, 'near'), 5000, 8);
  const q = p.map((value, i) => value + (i % 2 === 0 ? 1e-3 : -1e-3));
  const [near, equal] = tf.tidy(() => {
    const a = tf.tensor2d(p, [1, 5000]);
    return [klRows(a, tf.tensor2d(q, [1, 5000])), klRows(a, tf.clone(a))];
  });
  await tf.setBackend('cpu');
  const host = tf.tidy(() => klRows(tf.tensor2d(p, [1, 5000]), tf.tensor2d(q, [1, 5000])));
  const expected = (await host.data())[0] ?? 0;
  await tf.setBackend('webgpu');
  expect(expected).toBeLessThan(1e-6); // near enough that float32 sums of P log(P/Q) would be noise
  expect(Math.abs(((await near?.data())?.[0] ?? 0) / expected - 1)).toBeLessThan(0.01);
  expect((await equal?.data())?.[0]).toBe(0);
  tf.dispose([near, equal, host].flatMap((each) => each ?? []));
});

it('a cache that was read before shows later writes', async () => {
  const cache = tf.zeros<tf.Rank.R2>([3, 2]);
  const rows = tf.tensor2d([[1, 2]]);
  kvAppend(cache, cache, rows, rows, 0);
  expect([...(await cache.data())]).toEqual([1, 2, 0, 0, 0, 0]);
  kvAppend(cache, cache, rows, rows, 2);
  expect([...(await cache.data())]).toEqual([1, 2, 0, 0, 1, 2]);
  tf.dispose([cache, rows]);
});

/** Widths that divide by four and widths that do not, since kernels differ there. */
function oddShape(rng: Rng): { readonly rows: number; readonly cols: number } {
  const cols = 1 + rng.int(70);
  return { rows: 1 + rng.int(7), cols: rng.int(2) === 0 ? cols : 4 * cols };
}

/** Few head widths: each is a pipeline of its own, and compiling is what takes the time. */
function oddSpan(rng: Rng): { readonly span: AttentionSpan; readonly rows: number } {
  const kvHeads = 1 + rng.int(3);
  const heads = kvHeads * (1 + rng.int(3));
  const headDim = rng.pick([3, 8, 16]);
  const rows = 1 + rng.int(9);
  const start = rng.int(6);
  const base = { heads, kvHeads, headDim, start, length: start + rows, scale: headDim ** -0.5 };
  return { rows, span: rng.int(2) === 0 ? base : { ...base, window: 1 + rng.int(5) } };
}
