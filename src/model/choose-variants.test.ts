import { describe, expect, it } from 'vitest';
import { fastest, type Trial } from './choose-variants.ts';

/** Trials on a clock of their own: each run of a name takes its milliseconds, and gives its values. */
function race(
  runs: Readonly<Record<string, { readonly ms: number; readonly values?: readonly number[] }>>,
  until = Number.POSITIVE_INFINITY,
): Promise<string | null> {
  let clock = 0;
  const trialOf = (name: string): Trial => ({
    run: () => {
      clock += runs[name]?.ms ?? 0;
    },
    result: async () => Float32Array.from(runs[name]?.values ?? [1, -2, 0.5]),
  });
  const [first = '', ...rest] = Object.keys(runs);
  return fastest(
    [first, ...rest],
    trialOf,
    () => Promise.resolve(),
    until,
    () => clock,
  );
}

describe('the fastest variant', () => {
  it('is taken where it is faster by far', async () => {
    expect(await race({ registers: { ms: 10 }, wide: { ms: 4 }, workgroup: { ms: 6 } })).toBe(
      'wide',
    );
  });

  it('is the earlier one where the difference could be chance', async () => {
    expect(await race({ registers: { ms: 10 }, wide: { ms: 9 } })).toBe('registers');
  });

  it('is never one whose results differ from the first', async () => {
    expect(await race({ registers: { ms: 10 }, wide: { ms: 1, values: [1, -2.1, 0.5] } })).toBe(
      'registers',
    );
    expect(
      await race({ registers: { ms: 10 }, wide: { ms: 1, values: [1, Number.NaN, 0.5] } }),
    ).toBe('registers');
  });

  it('is not told when there is no time for every attempt', async () => {
    const runs = { registers: { ms: 10 }, wide: { ms: 4 }, workgroup: { ms: 900 } };
    expect(await race(runs)).toBe('wide');
    expect(await race(runs, 500)).toBeNull();
    expect(await race(runs, 0)).toBeNull();
  });
});
