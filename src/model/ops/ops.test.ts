/** The ops on wasm and cpu: against tfjs references, their autograd, finite differences and worked examples. */

import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { deriveRng, type Rng } from '../../math/rng.ts';
import {
  type AttentionSpan,
  attention,
  attentionBackward,
  attentionReference,
} from './attention.ts';
import { crossEntropy, crossEntropyBackward, crossEntropyReference } from './cross-entropy.ts';
import { geglu, gegluBackward, gegluReference } from './geglu.ts';
import { klRows, klRowsReference } from './kl-rows.ts';
import { kvAppend } from './kv-append.ts';
import { loraAdd, loraAddReference, loraBackward } from './lora-add.ts';
import { rmsNorm, rmsNormBackward, rmsNormReference } from './rms-norm.ts';
import { makeRopeTable, rope, ropeReference } from './rope.ts';
import { ropeFrequencies, yarnMagnitude } from './rope-frequencies.ts';
import { swiglu, swigluBackward, swigluReference } from './swiglu.ts';
import { distance, forCases, random1D, random2D, randomArray } from './testing.ts';
import { openHost } from './testing-node.ts';

/** tfjs computes in float32, the ops in double: what remains is float32 rounding of the reference. */
const TOLERANCE = 2e-5;
const CASES = 20;

describe.each(['wasm', 'cpu'] as const)('on %s', (backend) => {
  beforeAll(() => openHost(backend));

  /** Every tensor that a case makes is freed; none may outlive it. */
  function cases(purpose: string, check: (rng: Rng) => void): void {
    const before = tf.memory().numTensors;
    forCases(purpose, CASES, (rng) => {
      tf.tidy(() => check(rng));
    });
    expect(tf.memory().numTensors).toBe(before);
  }

  it('normalises by the root mean square, as the worked example says', () => {
    const y = tf.tidy(() => rmsNorm(tf.tensor2d([[3, 4]]), tf.tensor1d([1, 1]), 0).dataSync());
    expect(distance(y, [3 / Math.sqrt(12.5), 4 / Math.sqrt(12.5)])).toBeLessThan(1e-7);
  });

  it('rmsNorm and its gradient agree with tfjs on odd shapes', () => {
    cases('rms', (rng) => {
      const rows = 1 + rng.int(7);
      const cols = 1 + rng.int(70);
      const x = random2D(rng, rows, cols, 3);
      const gain = random1D(rng, cols);
      const dy = random2D(rng, rows, cols);
      const f = (each: tf.Tensor2D) => rmsNormReference(each, gain, 1e-5);
      expect(distance(rmsNorm(x, gain, 1e-5).dataSync(), f(x).dataSync())).toBeLessThan(TOLERANCE);
      const [dx] = gradients([x], dy, ([each]) => f(each as tf.Tensor2D));
      const own = rmsNormBackward(x, gain, 1e-5, dy);
      expect(distance(own.dataSync(), dx ?? [])).toBeLessThan(TOLERANCE);
    });
  });

  it('swiglu and its gradients agree with tfjs on odd shapes', () => {
    cases('swiglu', (rng) => {
      const rows = 1 + rng.int(7);
      const cols = 1 + rng.int(70);
      const gate = random2D(rng, rows, cols, 4);
      const up = random2D(rng, rows, cols, 2);
      const dy = random2D(rng, rows, cols);
      expect(
        distance(swiglu(gate, up).dataSync(), swigluReference(gate, up).dataSync()),
      ).toBeLessThan(TOLERANCE);
      const [dGate, dUp] = gradients([gate, up], dy, ([g, u]) =>
        swigluReference(g as tf.Tensor2D, u as tf.Tensor2D),
      );
      const own = swigluBackward(gate, up, dy);
      expect(distance(own.dGate.dataSync(), dGate ?? [])).toBeLessThan(TOLERANCE);
      expect(distance(own.dUp.dataSync(), dUp ?? [])).toBeLessThan(TOLERANCE);
    });
  });

  it('geglu and its gradients agree with tfjs on odd shapes, far from zero too', () => {
    cases('geglu', (rng) => {
      const rows = 1 + rng.int(6);
      const cols = 1 + rng.int(70);
      const gate = random2D(rng, rows, cols, 9);
      const up = random2D(rng, rows, cols, 2);
      const dy = random2D(rng, rows, cols);
      expect(
        distance(geglu(gate, up).dataSync(), gegluReference(gate, up).dataSync()),
      ).toBeLessThan(TOLERANCE);
      const [dGate, dUp] = gradients([gate, up], dy, ([g, u]) =>
        gegluReference(g as tf.Tensor2D, u as tf.Tensor2D),
      );
      const own = gegluBackward(gate, up, dy);
      expect(distance(own.dGate.dataSync(), dGate ?? [])).toBeLessThan(TOLERANCE);
      expect(distance(own.dUp.dataSync(), dUp ?? [])).toBeLessThan(TOLERANCE);
    });
  });

  it('the low-rank term is as the worked example says', () => {
    const sum = tf.tidy(() => {
      const module = { aT: tf.tensor2d([[1], [1]]), bT: tf.tensor2d([[3]]), scale: 2 };
      return loraAdd(tf.tensor2d([[1]]), tf.tensor2d([[1, 2]]), module).dataSync();
    });
    expect([...sum]).toEqual([19]); // 1 + 2 · 3 · 3
  });

  it('the low-rank term and its gradients agree with tfjs on odd shapes and ranks', () => {
    cases('lora', (rng) => {
      const rows = 1 + rng.int(7);
      const inputs = 1 + rng.int(70);
      const outputs = 1 + rng.int(70);
      const rank = 1 + rng.int(9);
      const scale = 0.5 + rng.next();
      const x = random2D(rng, rows, inputs);
      const y = random2D(rng, rows, outputs);
      const dy = random2D(rng, rows, outputs);
      const aT = random2D(rng, inputs, rank);
      const bT = random2D(rng, rank, outputs);
      const f = (each: tf.Tensor2D, a: tf.Tensor2D, b: tf.Tensor2D) =>
        loraAddReference(y, each, { aT: a, bT: b, scale });
      const expected = f(x, aT, bT).dataSync();
      const grads = gradients([x, aT, bT], dy, ([each, a, b]) =>
        f(each as tf.Tensor2D, a as tf.Tensor2D, b as tf.Tensor2D),
      );
      const own = loraBackward(x, dy, { aT, bT, scale });
      for (const [i, name] of (['dx', 'daT', 'dbT'] as const).entries()) {
        expect(distance(own[name].dataSync(), grads[i] ?? []), name).toBeLessThan(TOLERANCE);
      }
      expect(distance(loraAdd(y, x, { aT, bT, scale }).dataSync(), expected)).toBeLessThan(
        TOLERANCE,
      );
    });
  });

  it("yarn leaves fast pairs, divides slow ones, and makes queries longer (transformers' numbers)", () => {
    // transformers 5's _compute_yarn_parameters for head width 16, base 10,000, factor 4, context 64.
    const scaling = {
      kind: 'yarn',
      factor: 4,
      originalContext: 64,
      betaFast: 32,
      betaSlow: 1,
      magnitude: yarnMagnitude(4),
    } as const;
    const { perPosition, magnitude } = ropeFrequencies(16, 10_000, scaling);
    const expected = [
      1, 0.237170815, 0.05, 0.00790569466, 0.0025, 0.000790569466, 0.00025, 0.0000790569466,
    ];
    expect(distance(perPosition, expected)).toBeLessThan(1e-7);
    expect(magnitude).toBeCloseTo(1.138629436, 8);
  });

  it('rope agrees with tfjs in both styles, and its inverse is its gradient and undoes it', () => {
    cases('rope', (rng) => {
      const headDim = 2 * (1 + rng.int(9));
      const rows = 1 + rng.int(6);
      const cols = headDim * (1 + rng.int(4));
      const start = rng.int(9);
      const style = rng.pick(['interleaved', 'halves'] as const);
      const yarn = {
        kind: 'yarn',
        factor: 4,
        originalContext: 8,
        betaFast: 2,
        betaSlow: 0.1,
      } as const;
      const scaling = rng.pick([{ kind: 'none' }, { ...yarn, magnitude: 1.25 }] as const);
      const table = makeRopeTable({ headDim, style, context: 16, base: 10_000, scaling });
      const grown = scaling.kind === 'yarn' ? scaling.magnitude ** 2 : 1;
      const x = random2D(rng, rows, cols);
      const dy = random2D(rng, rows, cols);
      const y = rope(x, table, start);
      expect(distance(y.dataSync(), ropeReference(x, table, start).dataSync())).toBeLessThan(
        TOLERANCE,
      );
      const [dx] = gradients([x], dy, ([each]) => ropeReference(each as tf.Tensor2D, table, start));
      const own = rope(dy, table, start, { inverse: true });
      expect(distance(own.dataSync(), dx ?? [])).toBeLessThan(TOLERANCE);
      const back = rope(y, table, start, { inverse: true });
      expect(distance(back.dataSync(), tf.mul(x, grown).dataSync())).toBeLessThan(TOLERANCE);
    });
  });

  it('rope turns the first pair of position 1 by one radian, and refuses positions beyond the table', () => {
    tf.tidy(() => {
      const table = makeRopeTable({ headDim: 2, style: 'interleaved', context: 4, base: 10_000 });
      const y = rope(tf.tensor2d([[1, 0]]), table, 1).dataSync();
      expect(distance(y, [Math.cos(1), Math.sin(1)])).toBeLessThan(1e-7);
      expect(() => rope(tf.tensor2d([[1, 0]]), table, 4)).toThrow(/context ends at 4/);
    });
  });

  it('attention agrees with tfjs on odd shapes, groups, starts and windows', () => {
    cases('attention', (rng) => {
      const { span, rows } = oddSpan(rng);
      const width = span.heads * span.headDim;
      const kvWidth = span.kvHeads * span.headDim;
      const q = random2D(rng, rows, width, 2);
      const k = random2D(rng, span.length + 2, kvWidth, 2);
      const v = random2D(rng, span.length + 2, kvWidth);
      const reference = attentionReference(q, k, v, span).dataSync();
      expect(distance(attention(q, k, v, span).dataSync(), reference)).toBeLessThan(TOLERANCE);
    });
  });

  it('the gradients of attention agree with tfjs autograd', () => {
    cases('attention gradient', (rng) => {
      const { span: odd, rows } = oddSpan(rng);
      const span = { ...odd, start: 0, length: rows };
      const kvWidth = span.kvHeads * span.headDim;
      const q = random2D(rng, rows, span.heads * span.headDim, 2);
      const k = random2D(rng, rows, kvWidth, 2);
      const v = random2D(rng, rows, kvWidth);
      const dOut = random2D(rng, rows, span.heads * span.headDim);
      const [dq, dk, dv] = gradients([q, k, v], dOut, ([a, b, c]) =>
        attentionReference(a as tf.Tensor2D, b as tf.Tensor2D, c as tf.Tensor2D, span),
      );
      const own = attentionBackward(q, k, v, dOut, span);
      expect(distance(own.dq.dataSync(), dq ?? [])).toBeLessThan(TOLERANCE);
      expect(distance(own.dk.dataSync(), dk ?? [])).toBeLessThan(TOLERANCE);
      expect(distance(own.dv.dataSync(), dv ?? [])).toBeLessThan(TOLERANCE);
    });
  });

  it('queries one by one equal queries together, bit for bit', () => {
    tf.tidy(() => {
      const rng = deriveRng(7, 'chunks');
      const heads = { heads: 6, kvHeads: 2, headDim: 7, scale: 0.3 };
      const q = random2D(rng, 9, 42);
      const k = random2D(rng, 9, 14);
      const v = random2D(rng, 9, 14);
      const together = attention(q, k, v, { ...heads, start: 0, length: 9 }).dataSync();
      for (let t = 0; t < 9; t++) {
        const one = tf.slice(q, [t, 0], [1, 42]);
        const alone = attention(one, k, v, { ...heads, start: t, length: t + 1 }).dataSync();
        expect(alone).toEqual(together.slice(t * 42, (t + 1) * 42));
      }
    });
  });

  it('kvAppend writes its rows, keeps the others, and refuses what does not fit', () => {
    tf.tidy(() => {
      const rng = deriveRng(7, 'append');
      const cacheK = random2D(rng, 7, 3);
      const cacheV = random2D(rng, 7, 3);
      const before = cacheK.dataSync().slice();
      const k = random2D(rng, 2, 3);
      kvAppend(cacheK, cacheV, k, tf.neg(k), 4);
      const after = cacheK.dataSync();
      expect(after.slice(0, 12)).toEqual(before.slice(0, 12));
      expect(after.slice(12, 18)).toEqual(k.dataSync().slice());
      expect(after.slice(18)).toEqual(before.slice(18));
      expect(cacheV.dataSync().slice(12, 18)).toEqual(tf.neg(k).dataSync().slice());
      expect(() => kvAppend(cacheK, cacheV, k, k, 6)).toThrow(/holds 7 positions/);
    });
  });

  it('crossEntropy and its gradient agree with tfjs on odd shapes', () => {
    cases('ce', (rng) => {
      const rows = 1 + rng.int(6);
      const cols = 1 + rng.int(90);
      const logits = random2D(rng, rows, cols, 9);
      const labels = Int32Array.from({ length: rows }, () => rng.int(cols));
      const coeff = randomArray(rng, rows);
      const reference = crossEntropyReference(logits, labels).dataSync();
      expect(distance(crossEntropy(logits, labels).dataSync(), reference)).toBeLessThan(TOLERANCE);
      const [dLogits] = gradients([logits], tf.tensor1d(coeff), ([each]) =>
        crossEntropyReference(each as tf.Tensor2D, labels),
      );
      const own = crossEntropyBackward(logits, labels, coeff).dataSync();
      expect(distance(own, dLogits ?? [])).toBeLessThan(TOLERANCE);
    });
  });

  it('crossEntropy of equal logits is log V, stays finite at 1e4, and refuses a label outside', () => {
    tf.tidy(() => {
      const equal = crossEntropy(tf.zeros([1, 2]), Int32Array.of(1)).dataSync();
      expect(equal[0]).toBeCloseTo(Math.log(2), 6);
      const large = crossEntropy(tf.tensor2d([[1e4, -1e4]]), Int32Array.of(1)).dataSync();
      expect(large[0]).toBe(2e4);
      expect(() => crossEntropy(tf.zeros([1, 2]), Int32Array.of(2))).toThrow(/outside \[0, 2\)/);
    });
  });

  it('klRows agrees with tfjs, with sums of p ln(p / q) by hand, and is 0 for equal rows', () => {
    tf.tidy(() => {
      const q = tf.tensor2d([[Math.log(3), 0]]);
      expect(klRows(tf.zeros([1, 2]), q).dataSync()[0]).toBeCloseTo(0.5 * Math.log(4 / 3), 6);
      expect(klRows(q, q).dataSync()[0]).toBe(0);
      // [0.7 0.2 0.1] and [0.5 0.3 0.2], one against the other and the other way round; numpy
      const one = [0.7, 0.2, 0.1].map(Math.log);
      const other = [0.5, 0.3, 0.2].map(Math.log);
      const both = klRows(tf.tensor2d([one, other]), tf.tensor2d([other, one]));
      expect(distance(both.dataSync(), [0.0851228, 0.0920329])).toBeLessThan(1e-7);
      // All of p on the first of two alike: ln 2.
      const sure = klRows(tf.tensor2d([[80, 0]]), tf.zeros([1, 2]));
      expect(sure.dataSync()[0]).toBeCloseTo(Math.LN2, 6);
    });
    cases('kl', (rng) => {
      const rows = 1 + rng.int(6);
      const cols = 1 + rng.int(90);
      const p = random2D(rng, rows, cols, 5);
      const q = random2D(rng, rows, cols, 5);
      const reference = klRowsReference(p, q).dataSync();
      expect(distance(klRows(p, q).dataSync(), reference)).toBeLessThan(TOLERANCE);
    });
  });
});

/** tfjs autograd's gradients of `run` with respect to each input, for the given output gradient. */
function gradients(
  inputs: tf.Tensor[],
  dy: tf.Tensor,
  run: (inputs: tf.Tensor[]) => tf.Tensor,
): Float32Array[] {
  const all = tf.grads((...each: tf.Tensor[]) => run(each))(inputs, dy);
  return all.map((gradient) => Float32Array.from(gradient.dataSync()));
}

function oddSpan(rng: Rng): { readonly span: AttentionSpan; readonly rows: number } {
  const kvHeads = 1 + rng.int(3);
  const heads = kvHeads * (1 + rng.int(3));
  const headDim = 1 + rng.int(19);
  const rows = 1 + rng.int(9);
  const start = rng.int(6);
  const base = { heads, kvHeads, headDim, start, length: start + rows, scale: headDim ** -0.5 };
  return { rows, span: rng.int(2) === 0 ? base : { ...base, window: 1 + rng.int(5) } };
}
