import { describe, expect, it, test } from 'vitest';
import { headChunk } from '../model/memory.ts';
import { lossDivisor, targetsOf, weightedSum } from './loss.ts';

const targets = (weights: number[]) =>
  targetsOf({ ids: [0, ...weights.map((_, i) => i + 1)], weights: [0, ...weights] });

describe('the loss of a window', () => {
  it('divides one sum by one sum, never a mean of means (B27)', () => {
    const window = (sequences: { ce: number[]; w: number[] }[]) => {
      const all = sequences.map(({ w }) => targets(w));
      const sum = all.reduce(
        (total, t, i) => total + weightedSum(Float32Array.from(sequences[i]?.ce ?? []), t),
        0,
      );
      return sum / lossDivisor(all, 'weights');
    };
    const ones = new Array<number>(8).fill(1);
    // numpy, on the two windows of the case
    expect(
      window([
        { ce: [2, 4], w: [1, 1] },
        { ce: ones, w: ones },
      ]),
    ).toBeCloseTo(1.4, 12);
    expect(
      window([
        { ce: [2, 4], w: [1, 0.5] },
        { ce: [1, 1, 1], w: [1, 1, 0.25] },
      ]),
    ).toBeCloseTo(1.66667, 5);
  });

  it('by tokens lets small weights teach less', () => {
    expect(lossDivisor([targets([0.1, 0.1])], 'weights')).toBeCloseTo(0.2, 12);
    expect(lossDivisor([targets([0.1, 0.1])], 'tokens')).toBe(2);
  });
});

test('by tokens, what is dropped at random still counts, so that it teaches as aTTT does', () => {
  const novel = [0, 1 / 3, 1 / 3, 1 / 3, 1];
  const meanOf = (weights: number[], trainable: number) => {
    const window = [targetsOf({ ids: [5, 6, 7, 8, 9], weights, trainable })];
    const ones = new Float32Array(4).fill(1); // a cross entropy of 1 each: the loss is Σ w / N
    return (
      weightedSum(ones, window[0] ?? targetsOf({ ids: [], weights: [] })) /
      lossDivisor(window, 'tokens')
    );
  };
  // Four may be trained and weigh 2 together, or two of them 1 each.
  expect(meanOf(novel, 4)).toBeCloseTo(0.5, 12);
  expect(meanOf([0, 1, 0, 0, 1], 4)).toBeCloseTo(0.5, 12);
});

describe('labels', () => {
  it('are shifted once: the label at index j is predicted by row j - 1 (B29)', () => {
    const { rows, labels } = targetsOf({ ids: [0, 1, 2, 3], weights: [0, 1, 1, 1] });
    expect([...rows]).toEqual([0, 1, 2]);
    expect([...labels]).toEqual([1, 2, 3]);
    // Row t has logit 10 at id t + 1 and 0 at three others: numpy gives this mean CE.
    const ce = [...rows].map((row, n) => {
      const logits = [0, 1, 2, 3].map((id): number => (id === row + 1 ? 10 : 0));
      const logSum = Math.log(logits.reduce((sum, z) => sum + Math.exp(z), 0));
      return logSum - (logits[labels[n] ?? 0] ?? 0);
    });
    expect(ce.reduce((a, b) => a + b, 0) / 3).toBeCloseTo(0.000136190515, 12);
  });

  it('are the ids of weight above 0', () => {
    const { rows, labels, weights } = targetsOf({ ids: [5, 6, 7, 8], weights: [0, 0.5, 0, 1] });
    expect([...rows]).toEqual([0, 2]);
    expect([...labels]).toEqual([6, 8]);
    expect([...weights]).toEqual([0.5, 1]);
  });
});

describe('the head', () => {
  it('works on few enough positions that no tensor exceeds a binding limit (B41)', () => {
    // 683 positions of 49,152 float32 logits are 134,283,264 bytes, one position too many.
    expect(headChunk(49_152, 134_217_728)).toBe(682);
    expect(headChunk(49_152) * 49_152 * 4).toBeLessThanOrEqual(8 * 2 ** 20);
    expect(headChunk(10_000_000)).toBe(1);
  });
});
