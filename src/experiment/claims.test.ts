import { describe, expect, test } from 'vitest';
import type { MethodName } from '../config.ts';
import { deriveRng } from '../math/rng.ts';
import { claims } from './claims.ts';
import type { Row } from './row.ts';
import { scorecard } from './scorecard.ts';
import { headerOf, rowOf } from './testing-rows.ts';

/** Which of the tasks an arm solves. */
type Solves = (task: number) => boolean;
const half: Solves = (task) => task % 2 === 0;

function judged(tasks: number, arms: Partial<Record<MethodName, Solves>>, over: Partial<Row> = {}) {
  const names = Object.keys(arms) as MethodName[]; // of the object above
  const rows = names.flatMap((arm) =>
    Array.from({ length: tasks }, (_, task) =>
      rowOf(arm, task, 1, { solved: arms[arm]?.(task) ?? false, ...over }),
    ),
  );
  const found = claims(scorecard(headerOf(names), rows), rows);
  return (words: string) => found.find(({ claim }) => claim.includes(words));
}
const verdict = (...args: Parameters<typeof judged>) => {
  const find = judged(...args);
  return (words: string) => find(words)?.verdict;
};

describe('a claim of more success', () => {
  test('holds when the corrected test and the interval say so', () => {
    // 20 of 100 tasks more, none fewer: 2^-19 by the sign-flip test.
    const claim = judged(100, { frozen: half, attt: (t) => half(t) || t < 40 })('raises success');
    expect(claim?.verdict).toBe('holds');
    expect(claim?.numbers).toMatch(
      /^attt − frozen: \+20\.0 points \(\+1\d\.\d to \+2\d\.\d, p \(Holm\) < 0\.001\); 20 better and 0 worse of 100 pairs$/,
    );
    expect(claim?.why).toBe('');
  });

  test('does not hold when it is less, by the corrected test too', () => {
    const arms = { frozen: half, attt: (t: number) => half(t) && t >= 40 };
    expect(verdict(100, arms)('raises success')).toBe('does not hold');
  });

  test('is not refuted by the one pair of 100 that differs, although a bootstrap ends at 0 there', () => {
    const one = judged(100, { frozen: half, attt: (t) => half(t) && t > 0 })('raises success');
    expect(one).toMatchObject({
      verdict: 'cannot be told',
      numbers: expect.stringContaining('-1.0 points (-3.0 to 0.0, p (Holm) 1.000)'),
      why: 'it is not told from 0',
    });
  });

  test('cannot be told from few tasks, from few that differ, nor when none does', () => {
    const more = (n: number) => ({ frozen: half, attt: (t: number) => half(t) || t < 2 * n });
    expect(verdict(40, more(10))('raises success')).toBe('cannot be told');
    expect(verdict(100, more(3))('raises success')).toBe('cannot be told'); // p = 1/4
    expect(verdict(100, more(0))('raises success')).toBe('cannot be told');
  });

  test('is corrected for the number of comparisons that are made', () => {
    // Six of six tasks more: p = 1/32 alone; with four further comparisons of the same tasks, 5/32.
    const six: Solves = (t) => half(t) || t < 12;
    expect(verdict(100, { frozen: half, attt: six })('raises success')).toBe('holds');
    const more = { frozen: half, attt: six, naive: half, random_drop: half, loop_breaker: half };
    expect(verdict(100, more)('raises success')).toBe('cannot be told');
  });
});

describe('a claim of a gain of five points', () => {
  const gained = (tasks: number, more: number) =>
    judged(tasks, { frozen: half, attt: (t) => half(t) || t < 2 * more })('gains 5 points or more');

  test('is decided by the interval: 20 of 100 more, none of 100, 3 of 1,000', () => {
    expect(gained(100, 20)?.verdict).toBe('holds');
    // The rule of three: no difference in 100 tasks excludes 3 points at 95 %.
    expect(gained(100, 0)?.verdict).toBe('does not hold');
    // 3 of 1,000 (0.3 points) lie far below 5.
    expect(gained(1000, 3)?.verdict).toBe('does not hold');
  });
  test('cannot be told where the interval holds five points, or tasks are few', () => {
    // 6 of 100 more: 6 points with a standard error of 2.4.
    expect(gained(100, 6)?.verdict).toBe('cannot be told');
    expect(gained(100, 6)?.why).toBe('the interval has 5 points in it');
    expect(gained(40, 0)?.verdict).toBe('cannot be told');
    expect(gained(40, 0)?.why).toBe('40 tasks, 50 are needed');
  });
  test('counts as no further comparison', () => {
    const both = judged(100, { frozen: half, attt: (t) => half(t) || t < 12 });
    // One comparison of six differing tasks: 2 / 2^6.
    expect(both('raises success')?.numbers).toContain('p (Holm) 0.031');
    expect(both('gains 5 points or more')?.numbers).not.toContain('p (Holm)');
  });
});

describe('arms that differ in every task alike', () => {
  const all: Solves = () => true;
  const claim = judged(134, { frozen: () => false, attt: all, random_drop: all });

  test('are told apart, although no bootstrap has a width there', () => {
    expect(claim('raises success')).toMatchObject({
      verdict: 'holds',
      // 3 of 134 tasks at most are otherwise, and at worst lost: 1 - 2 · 3 / 134 = 0.955
      numbers: expect.stringMatching(/^attt − frozen: \+100\.0 points \(\+95\.5 to \+100\.0, p/),
    });
    expect(claim('gains nothing')).toMatchObject({
      verdict: 'does not hold',
      numbers: expect.stringContaining(
        '+100.0 points (+95.5 to +100.0, p (Holm) < 0.001); 134 better and 0 worse of 134',
      ),
    });
  });

  test('and two that never differ stay within three in n', () => {
    expect(claim('beats random drop')).toEqual({
      claim: 'aTTT beats random drop',
      verdict: 'cannot be told',
      numbers:
        'attt − random_drop: 0.0 points (-2.2 to +2.2, p (Holm) 1.000); 0 better and 0 worse of 134 pairs',
      why: 'it is not told from 0',
    });
  });
});

test('a claim about a setting compares the arms with its values, not the plain one', () => {
  const [frozen, plain] = headerOf(['frozen', 'attt']).arms;
  if (!frozen || !plain) throw new Error('no arms');
  const at = (name: string, k: number) => ({
    ...plain,
    name,
    settings: { ...plain.settings, update_interval_k: k },
  });
  const arms = [frozen, at('attt', 10), at('attt update_interval_k=1', 1), at('attt five', 5)];
  // K = 1 solves no task, K = 5 all and K = 10 half of them.
  const solves = [half, half, () => false, () => true];
  const rows = arms.flatMap(({ name }, i) =>
    Array.from({ length: 100 }, (_, task) => ({
      ...rowOf('attt', task, 1, { solved: solves[i]?.(task) ?? false }),
      arm: name,
    })),
  );
  const found = claims(scorecard({ ...headerOf([]), arms }, rows), rows);
  const numbers = (words: string) => found.find(({ claim }) => claim.endsWith(words))?.numbers;
  expect(numbers('K = 5')).toMatch(/^attt five − attt update_interval_k=1: \+100\.0 points/);
  expect(numbers('K = 10')).toMatch(/^attt − attt update_interval_k=1: \+50\.0 points/);
});

describe('a claim of no difference', () => {
  const beside = (n: number) => ({
    frozen: half,
    random_drop: (t: number) => half(t) || t < 2 * n,
  });

  test('holds where the interval leaves out 2.5 points, three unlike tasks included', () => {
    // Of none that differs the interval is of the rule of three: 3 of 121 are 2.48 points, of 120 they are 2.5.
    expect(verdict(121, beside(0))('gains nothing')).toBe('holds');
    const few = judged(120, beside(0))('gains nothing');
    expect(few?.verdict).toBe('cannot be told');
    expect(few?.why).toBe('a gain of 2.5 points is not excluded');
    // One gained of 200: 1.5 points by the bootstrap, 2.75 by the exact interval (scipy: binomtest(1, 200), 0.0275).
    expect(verdict(200, beside(1))('gains nothing')).toBe('cannot be told');
    // One of 400: 0.75 by the bootstrap, 1.39 exactly.
    expect(verdict(400, beside(1))('gains nothing')).toBe('holds');
  });

  test('does not hold where a difference is told from 0, however small', () => {
    // 12 of 1,000 more and none fewer: 1.2 points, p 2^-11, and at most 1.9 by the bootstrap.
    expect(verdict(1000, beside(12))('gains nothing')).toBe('does not hold');
    expect(verdict(100, beside(20))('gains nothing')).toBe('does not hold');
  });

  test('of as much success is told from a loss of 2.5 points', () => {
    const less = (tasks: number, n: number) =>
      verdict(tasks, { attt: half, loop_breaker: (t: number) => half(t) && t >= 2 * n });
    expect(less(400, 0)('Breaking loops')).toBe('holds');
    expect(less(400, 4)('Breaking loops')).toBe('cannot be told'); // 1 point, up to 2 and 0.75
    expect(less(400, 12)('Breaking loops')).toBe('does not hold'); // 3 points, p 2^-11
  });
});

describe('claims about a setting', () => {
  const swept = (field: 'lora_rank' | 'update_interval_k', solves: Record<number, Solves>) => {
    const [frozen, plain] = headerOf(['frozen', 'attt']).arms;
    if (!frozen || !plain) throw new Error('no arms');
    const values = Object.keys(solves).map(Number);
    const arms = values.map((value) => ({
      ...plain,
      name: plain.settings[field] === value ? 'attt' : `attt ${field}=${value}`,
      settings: { ...plain.settings, [field]: value },
    }));
    const rows = arms.flatMap(({ name }, i) =>
      Array.from({ length: 400 }, (_, task) => ({
        ...rowOf('attt', task, 1, { solved: solves[values[i] ?? 0]?.(task) ?? false }),
        arm: name,
      })),
    );
    const found = claims(scorecard({ ...headerOf([]), arms: [frozen, ...arms] }, rows), rows);
    return (words: string) => found.find(({ claim }) => claim.includes(words));
  };
  const but =
    (n: number): Solves =>
    (t) =>
      half(t) && t >= 2 * n;

  test('of ranks: alike and slightly worse are not both true of one loss', () => {
    // Ranks 4 and 32 lose 12 of 400 (3 points, up to 4.75 by the bootstrap).
    const found = swept('lora_rank', { 8: half, 4: but(12), 16: half, 32: but(12) });
    expect(found('Ranks 4 and 8')?.verdict).toBe('does not hold');
    expect(found('Ranks 16 and 8')?.verdict).toBe('holds');
    expect(found('Ranks 16 and 4')?.verdict).toBe('does not hold');
    expect(found('Rank 32')?.verdict).toBe('holds');
    expect(swept('lora_rank', { 8: half, 32: () => false })('Rank 32')?.verdict).toBe(
      'does not hold', // 50 points are not slightly
    );
    expect(swept('lora_rank', { 8: half, 32: but(20) })('Rank 32')).toMatchObject({
      ...{ verdict: 'cannot be told', why: 'the interval has 5 points in it' },
    });
  });
});

describe('a claim that several arms could be meant by', () => {
  const swept = (values: readonly number[], tasksOf: (value: number) => readonly number[]) => {
    const [frozen, attt] = headerOf(['frozen', 'attt']).arms;
    if (!frozen || !attt) throw new Error('no arms');
    const arms = values.map((learning_rate, i) => ({
      ...attt,
      name: i === 0 && values.length > 2 ? 'attt' : `attt learning_rate=${learning_rate}`,
      settings: { ...attt.settings, learning_rate },
    }));
    const rows = [
      ...Array.from({ length: 100 }, (_, task) => rowOf('frozen', task, 1, { solved: half(task) })),
      ...values.flatMap((value, i) =>
        tasksOf(value).map((task) => ({
          ...rowOf('attt', task, 1, { solved: half(task) || task < 40 }),
          arm: arms[i]?.name ?? '',
        })),
      ),
    ];
    const found = claims(scorecard({ ...headerOf([]), arms: [frozen, ...arms] }, rows), rows);
    return found.filter(({ claim }) => claim.includes('raises success over'));
  };
  const all = Array.from({ length: 100 }, (_, i) => i);

  test('is about the plain one, also where it comes after or lacks some tasks', () => {
    const [only, ...more] = swept([0.002, 0.001, 0.0005], (v) =>
      v === 0.002 ? all.slice(9) : all,
    );
    expect(more).toEqual([]);
    expect(only?.numbers).toMatch(/^attt − frozen: /);
  });
  test('is about each of those with the most tasks where there is no plain one', () => {
    const lines = swept([0.001, 0.002], () => all);
    expect(lines.map(({ numbers }) => numbers.split(' −')[0])).toEqual([
      ...['attt learning_rate=0.001', 'attt learning_rate=0.002'],
    ]);
  });
  test('is not about one that has hardly begun, nor one that shares no task', () => {
    const lines = swept([0.001, 0.0005], (v) => (v === 0.001 ? [0, 1] : all));
    expect(lines.map(({ verdict: v, numbers }) => [v, numbers.split(' −')[0]])).toEqual([
      ['holds', 'attt learning_rate=0.0005'],
    ]);
    const apart = swept([0.001], () => [200, 201]);
    expect(apart).toMatchObject([{ verdict: 'cannot be told', why: 'no task in common' }]);
  });
});

test('a verdict that errors could turn is none', () => {
  // Of 100 tasks 20 more; but 20 of those that the frozen arm solves ended by an error.
  const rows = Array.from({ length: 100 }, (_, task) => [
    rowOf('frozen', task, 1, { solved: half(task) }),
    rowOf('attt', task, 1, {
      solved: half(task) || task < 40,
      ...(half(task) && task >= 60 ? { reason: 'engine_error' as const, solved: false } : {}),
    }),
  ]).flat();
  const found = claims(scorecard(headerOf(['frozen', 'attt']), rows), rows);
  expect(found.find(({ claim }) => claim.includes('raises success over'))).toMatchObject({
    verdict: 'cannot be told',
    numbers: expect.stringContaining('0 worse of 80 pairs, 20 more ended by errors'),
    why: 'it is otherwise if what errors ended counts as failed',
  });
});

test('tasks where the frozen policy drifts are known by its other seeds, never by the pair itself', () => {
  const drifted = [0, 0, 0, 0, 0, 0, 0, 0, 0.9, 0.9];
  // Frozen fails and drifts with seed 2 in tasks 0 to 59, and with seed 1 in 60 to 119. aTTT has seed 1 alone, and
  // solves 20 of the first and all of the last.
  const rows = Array.from({ length: 120 }, (_, task) => [
    rowOf('frozen', task, 1, { repetition: task < 60 ? [] : drifted }),
    rowOf('frozen', task, 2, { repetition: task < 60 ? drifted : [] }),
    rowOf('attt', task, 1, { solved: task < 20 || task >= 60 }),
  ]).flat();
  const found = (some: typeof rows) =>
    claims(scorecard(headerOf(['frozen', 'attt'], [1, 2]), some), some).find(({ claim }) =>
      claim.includes('drifts with another seed'),
    );
  expect(found(rows)).toMatchObject({
    verdict: 'holds',
    numbers: expect.stringMatching(/^attt − frozen: \+33\.3 points .* 20 better and 0 worse of 60/),
  });
  expect(found(rows.filter(({ seed }) => seed === 1))?.verdict).toBe('not tried');
});

test('where the frozen policy drifts no difference is made of nothing', () => {
  // Every episode drifts and fails by a coin of its own, of either arm: by tasks, a pair whose own frozen episode drifted
  // would count half as often as one whose did not, and aTTT would lose 8 points.
  const rng = deriveRng(4, 'coin');
  const drifted = [0, 0, 0, 0, 0, 0, 0, 0, 0.9, 0.9];
  const rows = Array.from({ length: 2000 }, (_, task) =>
    [1, 2].flatMap((seed) =>
      (['frozen', 'attt'] as const).map((arm) => {
        const solved = rng.next() < 0.5;
        return rowOf(arm, task, seed, { solved, repetition: solved ? [] : drifted });
      }),
    ),
  ).flat();
  const found = claims(scorecard(headerOf(['frozen', 'attt'], [1, 2]), rows), rows).find(
    ({ claim }) => claim.includes('drifts with another seed'),
  );
  const points = Number(/([+-]?[\d.]+) points/.exec(found?.numbers ?? '')?.[1]);
  expect(Math.abs(points)).toBeLessThan(4); // two standard errors of 2,000 pairs: 3.2
});

describe('a claim about KL', () => {
  /** The largest KL of each episode. */
  const said = (tasks: number, kl: (task: number) => readonly number[]) => {
    const rows = Array.from({ length: tasks }, (_, task) =>
      rowOf('attt', task, 1, { kl: kl(task) }),
    );
    const found = claims(scorecard(headerOf(['attt']), rows), rows);
    return found.find(({ claim }) => claim.includes('aTTT keeps KL under 0.5'));
  };

  test('is told by the share of episodes that pass the limit at any boundary', () => {
    expect(said(100, () => [0.4, 0.5])?.verdict).toBe('holds');
    const past = said(100, (t) => (t < 30 ? [0.6, 0.1] : [0.4]));
    expect(past?.verdict).toBe('does not hold');
    expect(past?.numbers).toMatch(
      /^attt: 30\.0 % of 100 episodes pass it \(2\d\.\d % to 3\d\.\d %\); an episode's largest is 0\.400 in the median$/,
    );
    // 5 of 100 are neither fewer nor more than 5 %.
    expect(said(100, (t) => (t < 5 ? [0.6] : [0.4]))).toMatchObject({
      ...{ verdict: 'cannot be told', why: 'a share of 5 % is not excluded' },
    });
  });
  test('counts the episodes that measured it, and few tasks decide nothing', () => {
    const few = said(100, (t) => (t < 40 ? [0.6] : []));
    expect(few).toMatchObject({ verdict: 'cannot be told', why: '40 tasks, 50 are needed' });
    expect(said(100, () => [])?.verdict).toBe('not tried');
  });
  test('takes one that overflowed as past every limit', () => {
    const most = 1.7976931348623157e308; // as an event has what is not finite
    expect(said(100, (t) => (t < 20 ? [most] : [0.1]))).toMatchObject({
      verdict: 'does not hold',
      numbers: expect.stringMatching(/largest is 0\.100 in the median, and overflowed in 20$/),
    });
    expect(said(100, () => [0.1, most])?.numbers).toContain('no number in the median');
  });
});

test('claims about repetition read the fifths of successes and of failures apart', () => {
  const arms = { frozen: half };
  const told = (over: (task: number) => readonly number[]) => {
    const rows = Array.from({ length: 120 }, (_, task) =>
      rowOf('frozen', task, 1, { solved: half(task), repetition: over(task) }),
    );
    const found = claims(scorecard(headerOf(['frozen']), rows), rows);
    return (words: string) => found.find(({ claim }) => claim.includes(words));
  };
  // Ten steps: the second fifth is steps 3 and 4, the last 9 and 10.
  const steps = (second: number, last: number) => [0, 0, second, second, 0, 0, 0, 0, last, last];
  const drifting = told((t) => (half(t) ? steps(0.6, 0.2 + t / 1000) : steps(0.1, 0.9 + t / 1000)));
  expect(drifting('In successes')?.verdict).toBe('holds');
  expect(drifting('In failures')?.verdict).toBe('holds');
  // Failures are the odd tasks 1 to 119: 0.9 + their mean 60 / 1000.
  expect(drifting('In failures')?.numbers).toMatch(/^frozen: 0\.96 \(.*\), mean over 60 tasks$/);
  const steady = told((t) => (half(t) ? steps(0.2, 0.6 + t / 1000) : steps(0.1, 0.6 + t / 1000)));
  expect(steady('In successes')?.verdict).toBe('does not hold');
  expect(steady('In failures')?.verdict).toBe('does not hold');
  const alike = judged(120, arms)('In failures');
  expect([alike?.verdict, alike?.why]).toEqual(['cannot be told', 'all tasks are alike']);
});

test('a claim about an arm that was not run is not tried', () => {
  expect(judged(100, { frozen: half, attt: half })('Random drop')).toEqual({
    claim: 'Random drop to the same mean weight gains nothing',
    verdict: 'not tried',
    numbers: '',
    why: '',
  });
});
