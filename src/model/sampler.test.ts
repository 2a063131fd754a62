import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deriveRng, type Rng } from '../math/rng.ts';
import { GREEDY, logSoftmaxAt, type SamplingOptions, sampleToken, withPenalty } from './sampler.ts';

const noRng: Rng = {
  next: () => {
    throw new Error('greedy decoding must not draw');
  },
  int: () => 0,
  pick: () => {
    throw new Error('unused');
  },
  shuffle: (items) => [...items],
};

const logits = (...values: number[]) => Float32Array.from(values);

describe('temperature 0', () => {
  it('takes the lowest id on a tie, a hundred times, without a random number (B33)', () => {
    for (let i = 0; i < 100; i++) {
      for (const temperature of [0, 1e-9]) {
        const options: SamplingOptions = { ...GREEDY, temperature, topK: i % 4, topP: 0.3 };
        const token = sampleToken(logits(1, 3, 3), [], options, noRng);
        expect(token.id).toBe(1);
        // log-softmax of [1, 3, 3] at 1, by numpy
        expect(token.logprob).toBeCloseTo(-0.758624, 6);
        // −Σ p ln p of its softmax, by numpy
        expect(token.entropy).toBeCloseTo(0.885382, 6);
      }
    }
  });
});

describe('entropy', () => {
  it('is ln V of equal logits, and 0 where one token alone can be', () => {
    expect(sampleToken(logits(2, 2, 2, 2), [], GREEDY, noRng).entropy).toBeCloseTo(Math.log(4), 12);
    const alone = logits(0, Number.NEGATIVE_INFINITY, -1000);
    expect(sampleToken(alone, [], GREEDY, noRng).entropy).toBe(0);
  });

  it('is of the raw logits, whatever the temperature and the penalty', () => {
    const options = { ...GREEDY, temperature: 2, topK: 1, repetitionPenalty: 3 };
    const { entropy } = sampleToken(logits(1, 3, 3), [1], options, deriveRng(1));
    expect(entropy).toBeCloseTo(0.885382, 6);
  });
});

describe('repetition penalty', () => {
  it('divides positive logits, multiplies negative ones, each id once (B35)', () => {
    const out = withPenalty(logits(2, -1, 0.5), [0, 1, 1, 0, 0], 1.25);
    const expected = [1.6, -1.25, 0.5]; // transformers' RepetitionPenaltyLogitsProcessor
    expected.forEach((value, i) => {
      expect(out[i]).toBeCloseTo(value, 6);
    });
  });

  it('changes nothing at 1', () => {
    const row = logits(2, -1, 0.5);
    expect(withPenalty(row, [0, 1], 1)).toBe(row);
  });

  it('steers the choice but not the recorded log-probability', () => {
    const row = logits(2, 1.9, 0.5);
    const token = sampleToken(row, [0], { ...GREEDY, repetitionPenalty: 1.25 }, noRng);
    expect(token.id).toBe(1);
    expect(token.logprob).toBe(logSoftmaxAt(row, 1));
  });
});

describe('seeds', () => {
  const row = Float32Array.from({ length: 48 }, (_, i) => Math.sin(i * 1.7) * 2);
  const options: SamplingOptions = { ...GREEDY, temperature: 1 };
  const draw = (rng: Rng) => sampleToken(row, [], options, rng).id;

  it('belong to one run: alone, interleaved and again give the same ids (B37)', () => {
    const alone = (seed: number) => {
      const rng = deriveRng(seed, 'sample');
      return Array.from({ length: 20 }, () => draw(rng));
    };
    const first = alone(11);
    const second = alone(12);
    const a = deriveRng(11, 'sample');
    const b = deriveRng(12, 'sample');
    const mixed = Array.from({ length: 20 }, () => [draw(a), draw(b)] as const);
    expect(mixed.map(([x]) => x)).toEqual(first);
    expect(mixed.map(([, y]) => y)).toEqual(second);
    expect(alone(11)).toEqual(first);
    expect(first).not.toEqual(second);
  });

  it('are integers up to 2^53 - 1', () => {
    expect(() => deriveRng(Number.MAX_SAFE_INTEGER, 'sample')).not.toThrow();
    expect(() => deriveRng(1.5, 'sample')).toThrow(RangeError);
  });
});

describe('cuts', () => {
  // Hundredths: two logits that differ by less than exp() can show are a tie to the sampler.
  const row = fc
    .array(fc.integer({ min: -800, max: 800 }), { minLength: 2, maxLength: 60 })
    .map((hundredths) => Float32Array.from(hundredths, (h) => h / 100));

  /** Ranked ids, most likely first, by a plain full sort. */
  const ranked = (values: Float32Array) =>
    [...values.keys()].sort((a, b) => (values[b] ?? 0) - (values[a] ?? 0) || a - b);

  it('top-k draws only the k most likely, lower ids first on a tie', () => {
    fc.assert(
      fc.property(
        row,
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 0, max: 999 }),
        (v, k, s) => {
          const options: SamplingOptions = { ...GREEDY, temperature: 1.3, topK: k };
          const { id } = sampleToken(v, [], options, deriveRng(s));
          expect(ranked(v).slice(0, k)).toContain(id);
        },
      ),
    );
  });

  it('top-p draws only from the smallest set that reaches p', () => {
    fc.assert(
      fc.property(row, fc.double({ min: 0, max: 0.999, noNaN: true }), fc.nat(999), (v, p, s) => {
        const options: SamplingOptions = { ...GREEDY, temperature: 1, topP: p };
        const { id } = sampleToken(v, [], options, deriveRng(s));
        const order = ranked(v);
        let before = 0;
        for (const other of order) {
          if (other === id) break;
          before += Math.exp(logSoftmaxAt(v, other));
        }
        expect(before).toBeLessThan(Math.max(p, 1e-12) + 1e-9);
      }),
    );
  });

  it('a temperature of 1 without cuts draws in proportion', () => {
    const v = logits(Math.log(0.7), Math.log(0.2), Math.log(0.1));
    const rng = deriveRng(5);
    const counts = [0, 0, 0];
    for (let i = 0; i < 20_000; i++) {
      const { id } = sampleToken(v, [], { ...GREEDY, temperature: 1 }, rng);
      counts[id] = (counts[id] ?? 0) + 1;
    }
    // Four standard deviations of a binomial proportion at n = 20,000 are below 0.014.
    expect((counts[0] ?? 0) / 20_000).toBeCloseTo(0.7, 1.8);
    expect((counts[2] ?? 0) / 20_000).toBeCloseTo(0.1, 1.8);
  });
});
