import { describe, expect, test } from 'vitest';
import type { MethodName } from '../config.ts';
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
    expect(claim?.numbers).toMatch(/^attt − frozen: \+20\.0 points \(\+1\d\.\d to \+2\d\.\d, p/);
    expect(claim?.numbers).toContain('20 of 100 pairs discordant');
  });

  test('does not hold when it is less, or when the interval ends at 0', () => {
    const arms = { frozen: half, attt: (t: number) => half(t) && t >= 40 };
    expect(verdict(100, arms)('raises success')).toBe('does not hold');
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
    judged(tasks, { frozen: half, attt: (t) => half(t) || t < 2 * more })('gains 5 points');

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
    expect(gained(40, 0)?.verdict).toBe('cannot be told');
  });
  test('counts as no further comparison', () => {
    const both = judged(100, { frozen: half, attt: (t) => half(t) || t < 12 });
    // One comparison of six differing tasks: 2 / 2^6.
    expect(both('raises success')?.numbers).toContain('p (Holm) 0.031');
    expect(both('gains 5 points')?.numbers).not.toContain('p (Holm)');
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
        '+100.0 points (+95.5 to +100.0, p (Holm) 0.000; 134 of 134',
      ),
    });
  });

  test('and two that never differ stay within three in n', () => {
    expect(claim('beats random drop')).toEqual({
      claim: 'aTTT beats random drop',
      verdict: 'cannot be told',
      numbers:
        'attt − random_drop: 0.0 points (-2.2 to +2.2, p (Holm) 1.000; 0 of 134 pairs discordant)',
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
  test('holds where the interval stays within five points, the rule of three included', () => {
    const arms = (n: number) => ({
      frozen: half,
      random_drop: (t: number) => half(t) || t < 2 * n,
    });
    expect(verdict(100, arms(0))('gains nothing')).toBe('holds'); // 3 of 100
    expect(verdict(99, arms(0))('gains nothing')).toBe('cannot be told'); // too few to say "none"
    expect(verdict(100, arms(2))('gains nothing')).toBe('cannot be told'); // 2 points, up to 5
    expect(verdict(100, arms(20))('gains nothing')).toBe('does not hold');
  });

  test('of as much success is told from a loss of five points', () => {
    const arms = (n: number) => ({
      attt: half,
      loop_breaker: (t: number) => half(t) && t >= 2 * n,
    });
    expect(verdict(100, arms(0))('Breaking loops')).toBe('holds');
    expect(verdict(100, arms(4))('Breaking loops')).toBe('cannot be told');
    expect(verdict(100, arms(20))('Breaking loops')).toBe('does not hold');
  });
});

test('a claim about KL holds or not by its 95th percentile', () => {
  const said = (tasks: number, kl: number) => verdict(tasks, { attt: half }, { kl: [kl] });
  expect(said(100, 0.4)('stays under 0.5')).toBe('holds');
  expect(said(100, 0.6)('stays under 0.5')).toBe('does not hold');
  expect(said(10, 0.6)('stays under 0.5')).toBe('cannot be told');
});

test('a KL that overflowed is past every limit', () => {
  const said = (...kl: number[]) => judged(100, { attt: half }, { kl });
  const most = 1.7976931348623157e308; // as an event has what is not finite
  expect(said(0.1, most)('stays under 0.5')).toMatchObject({
    verdict: 'does not hold',
    numbers: 'median 0.100, 95 % 0.100, max 0.100 over 100 episodes, 100 of 200 overflowed',
  });
  expect(said(most)('stays under 0.5')?.verdict).toBe('does not hold');
  expect(said(...Array(99).fill(0.1), most)('stays under 0.5')?.verdict).toBe('holds');
});

test('claims about repetition read the fifths of successes and of failures apart', () => {
  const arms = { frozen: half };
  const told = (over: (task: number) => readonly number[]) => {
    const rows = Array.from({ length: 60 }, (_, task) =>
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
  // Failures are the odd tasks 1 to 59: 0.9 + their mean 30 / 1000.
  expect(drifting('In failures')?.numbers).toMatch(/^0\.93 .* over 30 tasks$/);
  const steady = told((t) => (half(t) ? steps(0.2, 0.6 + t / 1000) : steps(0.1, 0.6 + t / 1000)));
  expect(steady('In successes')?.verdict).toBe('does not hold');
  expect(steady('In failures')?.verdict).toBe('does not hold');
  expect(verdict(60, arms)('In failures')).toBe('cannot be told'); // all alike: no interval
});

test('a claim about an arm that was not run is not tried', () => {
  expect(judged(100, { frozen: half, attt: half })('Random drop')).toEqual({
    claim: 'Random drop to the same mean weight gains nothing',
    verdict: 'not tried',
    numbers: '',
  });
});
