import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactKl, klEstimates } from './kl.ts';

describe('KL divergence (B38)', () => {
  it('is exact over whole distributions', () => {
    // numpy
    expect(exactKl([0.7, 0.2, 0.1], [0.5, 0.3, 0.2])).toBeCloseTo(0.0851228, 7);
    expect(exactKl([0.5, 0.3, 0.2], [0.7, 0.2, 0.1])).toBeCloseTo(0.0920329, 7);
    expect(exactKl([1, 0], [0.5, 0.5])).toBeCloseTo(Math.LN2, 12);
  });

  it('is estimated by k1, k2 and k3 from samples', () => {
    const { k1, k2, k3 } = klEstimates([-0.2, -1, -0.5], [-0.6, -0.4, -0.9]);
    // numpy
    expect(k1).toBeCloseTo(0.066667, 6);
    expect(k2).toBeCloseTo(0.113333, 6);
    expect(k3).toBeCloseTo(0.12092, 6);
  });

  it('shows a negative k1 as it is; k3 stays positive', () => {
    const { k1, k3 } = klEstimates([-1.2, -0.9], [-0.7, -0.8]);
    expect(k1).toBeCloseTo(-0.3, 12);
    expect(k3).toBeCloseTo(0.076946, 6);
    const logs = fc.array(fc.double({ min: -20, max: 0, noNaN: true }), {
      minLength: 1,
      maxLength: 9,
    });
    fc.assert(
      fc.property(logs, fc.double({ min: -5, max: 5, noNaN: true }), (p, shift) => {
        const q = p.map((value, i) => value + shift * Math.sin(i + 1));
        expect(klEstimates(p, q).k3).toBeGreaterThanOrEqual(-1e-12);
      }),
    );
  });
});
