import { describe, expect, test } from 'vitest';
import { scorecard } from './scorecard.ts';
import { headerOf, rowOf } from './testing-rows.ts';

/** 4 tasks × 5 seeds: frozen solves tasks 0 and 1 always, attt also task 2 in 4 of 5. */
const seeds = [1, 2, 3, 4, 5];
const rows = [0, 1, 2, 3].flatMap((task) =>
  seeds.flatMap((seed) => [
    rowOf('frozen', task, seed, { solved: task < 2, steps: 10 + task }),
    rowOf('attt', task, seed, {
      solved: task < 2 || (task === 2 && seed < 5),
      kl: [0.1, 0.3],
      updates: 2,
      trained: 40,
      retention: { texts: { base: 3, adapter: 3.25 }, turns: { base: 0.5, adapter: 1 } },
      weights: [1, 0.5],
      outcomes: { updated: 2, skipped_novelty: 1 },
    }),
  ]),
);
const scores = (given = rows, header = headerOf(['frozen', 'attt', 'naive'], seeds)) =>
  scorecard(header, given);
const near = (x: number | null | undefined) => expect(x ?? Number.NaN);

describe('a scorecard', () => {
  const [frozen, attt, naive] = scores();

  test('has the rate with an interval over episodes and one over tasks (B69)', () => {
    expect(frozen).toMatchObject({ episodes: 20, solved: 10, tasks: 4, rate: 0.5, errors: 0 });
    near(frozen?.clusteredError).toBeCloseTo(0.288675, 6);
    expect(frozen?.clustered).toEqual({ low: 0, high: 1 });
    near(frozen?.wilson?.low).toBeCloseTo(0.2993, 4); // statsmodels, 10 of 20
  });

  test('has pass@k and pass^k as means over tasks', () => {
    // Task 2 of attt has n 5, c 4: at 1 from k = 2; hat C(4, k) / C(5, k). Tasks 0, 1: 1 and 1; task 3: 0 and 0.
    const [one, two, four, five] = attt?.passes ?? [];
    near(one?.at).toBeCloseTo(0.7, 12);
    near(one?.hat).toBeCloseTo(0.7, 12);
    expect([two, four, five]).toMatchObject([
      { k: 2, at: 0.75 },
      { k: 4, at: 0.75 },
      { k: 5, at: 0.75, hat: 0.5 },
    ]);
    near(two?.hat).toBeCloseTo((2 + 6 / 10) / 4, 12);
    near(four?.hat).toBeCloseTo((2 + 1 / 5) / 4, 12);
  });

  test('tells of 1, 2, 4 and so on tries, and of as many as there are seeds', () => {
    const tries = (count: number) => {
      const all = Array.from({ length: count }, (_, seed) => seed);
      const [card] = scores([], headerOf(['frozen'], all));
      return card?.passes.map(({ k }) => k);
    };
    expect(tries(1)).toEqual([1]);
    expect(tries(2)).toEqual([1, 2]);
    expect(tries(3)).toEqual([1, 2, 3]);
    expect(tries(10)).toEqual([1, 2, 4, 8, 10]);
    expect(tries(16)).toEqual([1, 2, 4, 8, 16]);
  });

  test('has the paired difference to frozen, with its test over tasks', () => {
    // Task differences 0, 0, 0.8, 0: mean 0.2; one sign to flip, so p = 1.
    expect(attt?.difference).toMatchObject({
      tasks: 4,
      pairs: 20,
      better: 4,
      worse: 0,
      p: 1,
      adjusted: 1,
    });
    near(attt?.difference?.points).toBeCloseTo(0.2, 12);
    expect(frozen?.difference).toBeNull();
  });

  test('has repetition in fifths, KL quantiles, cost, retention and weights', () => {
    [0, 0.2, 0.4, 0.6, 1].forEach((want, i) => {
      near(frozen?.repetitionFailed[i]).toBeCloseTo(want, 12);
    });
    near(attt?.kl.median).toBeCloseTo(0.2, 12);
    expect(attt?.kl.max).toBe(0.3);
    expect(attt?.klByUpdate).toEqual([0.1, 0.3]);
    near(frozen?.generatedPerSolved).toBeCloseTo(200, 12); // 20 × 100 tokens over 10 solved
    near(attt?.trainedPerSolved).toBeCloseTo((20 * 40) / 14, 12);
    expect(attt).toMatchObject({
      forgetting: 0.25,
      forgettingTurns: 0.5,
      meanWeight: 0.75,
      updates: 2,
    });
    expect(attt?.outcomes).toEqual({ updated: 40, skipped_novelty: 20 });
    expect(frozen?.stepsSolved).toBe(10.5);
  });

  test('counts KL that overflowed apart, in no quantile and at no place', () => {
    // As an event has a KL that is not finite; JSON has no infinity.
    const kl = [
      [0.1, 0.3],
      [0.2, 1.7976931348623157e308],
      [0.3, 0.5, 1.7976931348623157e308],
    ];
    const [, card] = scores(kl.map((list, task) => rowOf('attt', task, 1, { kl: list })));
    // numpy over 0.1, 0.2, 0.3, 0.3, 0.5: median 0.3, 95 % 0.46
    expect(card?.kl).toMatchObject({ median: 0.3, max: 0.5, measured: 7, overflowed: 2 });
    // At 0.5 is not past it; what overflowed is past every limit.
    expect(card?.kl.past).toEqual({ half: 2 / 3, two: 2 / 3 });
    near(card?.kl.p95).toBeCloseTo(0.46, 12);
    expect(card?.klByUpdate).toEqual([0.2, 0.4, null]);
  });

  test('says "not available" of an arm without episodes, never 0', () => {
    expect(naive).toMatchObject({ episodes: 0, rate: null, wilson: null, difference: null });
    expect(naive?.passes[0]).toEqual({ k: 1, at: null, hat: null, tasks: 0 });
  });

  test('counts errors apart: they are in no rate and in no pair', () => {
    const broken = rows.map((row) =>
      row.task === 3 && row.arm === 'attt'
        ? { ...row, reason: 'engine_error' as const, error: 'lost' }
        : row,
    );
    const [, card] = scores(broken);
    expect(card).toMatchObject({ episodes: 15, errors: 5 });
    near(card?.rate).toBeCloseTo(14 / 15, 12);
    expect(card?.difference?.pairs).toBe(15);
  });

  test('compares no arm to a frozen one that acts at other settings', () => {
    const header = headerOf(['frozen', 'attt']);
    const long = (name: string, at: number) => {
      const arm = header.arms[at];
      if (!arm) throw new Error('no arm');
      return { ...arm, name, settings: { ...arm.settings, step_limit: 200 } };
    };
    const given = [0, 1, 2, 3].flatMap((task) => [
      rowOf('frozen', task, 1),
      { ...rowOf('attt', task, 1, { solved: true }), arm: 'attt long' },
      { ...rowOf('frozen', task, 1, { solved: task > 0 }), arm: 'frozen long' },
    ]);
    const alone = { ...header, arms: [...header.arms, long('attt long', 1)] };
    const [, , none] = scores(given, alone);
    expect(none).toMatchObject({ solved: 4, baseline: null, difference: null, divergence: null });
    const both = { ...header, arms: [...alone.arms, long('frozen long', 0)] };
    const [, , fair] = scores(given, both);
    // Of four tasks the frozen arm of as many steps solves all but one.
    expect(fair).toMatchObject({ baseline: { name: 'frozen long' }, difference: { points: 0.25 } });
  });

  test('corrects for the number of comparisons', () => {
    const many = Array.from({ length: 6 }, (_, task) => [
      rowOf('frozen', task, 1),
      rowOf('attt', task, 1, { solved: true }),
      rowOf('naive', task, 1, { solved: task < 5 }),
    ]).flat();
    const [, a, b] = scores(many, headerOf(['frozen', 'attt', 'naive']));
    // All six differ: 2 of 64 sign patterns are as far; five of five: 2 of 32.
    expect([a?.difference?.p, b?.difference?.p]).toEqual([1 / 32, 1 / 16]);
    expect([a?.difference?.adjusted, b?.difference?.adjusted]).toEqual([1 / 16, 1 / 16]);
  });

  test('counts an arm that differs in no task among the comparisons, with p = 1', () => {
    const arms = ['frozen', 'attt', 'naive', 'static', 'loop_breaker'] as const;
    const some = Array.from({ length: 8 }, (_, task) =>
      arms.map((arm) => rowOf(arm, task, 1, { solved: arm === 'attt' && task < 7 })),
    ).flat();
    const [, ...others] = scores(some, headerOf(arms));
    // 2 of 128 sign patterns; statsmodels: multipletests([0.015625, 1, 1, 1], method="holm")
    expect(others.map(({ difference }) => [difference?.p, difference?.adjusted])).toEqual([
      [0.015625, 0.0625],
      ...[1, 2, 3].map(() => [1, 1]),
    ]);
  });

  test('has error and interval of the rate beside them, of tasks that repeat unlike often', () => {
    const unlike = [
      ...Array.from({ length: 10 }, (_, seed) => rowOf('frozen', 0, seed, { solved: true })),
      ...Array.from({ length: 12 }, (_, i) => rowOf('frozen', i + 1, 0, { solved: i === 0 })),
    ];
    const [card] = scores(unlike);
    expect(card).toMatchObject({ rate: 0.5, tasks: 13 });
    near(card?.clusteredError).toBeCloseTo(0.250344, 6); // statsmodels: OLS, cov_type="cluster"
    // Neither solved task is drawn with (11 / 13)¹³ = 11 %: 0. The task of ten is drawn three times or more with 7 %:
    // 30 of 40 at least.
    expect(card?.clustered?.low).toBe(0);
    expect(card?.clustered?.high).toBeGreaterThan(0.75);
  });

  test('of an arm that solves every task has the rule of three over tasks', () => {
    const all = Array.from({ length: 60 }, (_, task) => rowOf('frozen', task, 1, { solved: true }));
    expect(scores(all)[0]).toMatchObject({
      clusteredError: null,
      clustered: { low: 0.95, high: 1 },
    });
  });

  test('refuses rows of one task that begin in different worlds', () => {
    const [first, ...rest] = rows;
    if (!first) throw new Error('no rows');
    expect(() => scores([{ ...first, start: 'elsewhere' }, ...rest])).toThrow('another world');
  });
});
