import { describe, expect, test } from 'vitest';
import { claims } from './claims.ts';
import { scorecard } from './scorecard.ts';
import { headerOf, rowOf } from './testing-rows.ts';

/** `gain` more tasks of `tasks` are solved by attt than by frozen, which solves every second one. */
function verdictOf(tasks: number, gain: number, kl: number) {
  const rows = Array.from({ length: tasks }, (_, task) => [
    rowOf('frozen', task, 1, { solved: task % 2 === 0 }),
    rowOf('attt', task, 1, { solved: task % 2 === 0 || task < 2 * gain, kl: [kl] }),
  ]).flat();
  const found = claims(scorecard(headerOf(['frozen', 'attt']), rows));
  return (words: string) => found.find(({ claim }) => claim.includes(words))?.verdict;
}

describe('a claim', () => {
  test('of a gain holds when the interval lies above 0', () => {
    expect(verdictOf(100, 20, 0.1)('raises success')).toBe('holds');
  });

  test('cannot be told from few tasks, nor when no pair differs', () => {
    expect(verdictOf(10, 5, 0.1)('raises success')).toBe('cannot be told');
    expect(verdictOf(100, 0, 0.1)('raises success')).toBe('cannot be told');
  });

  test('about KL holds or not by its 95th percentile', () => {
    expect(verdictOf(100, 0, 0.4)('stays under 0.5')).toBe('holds');
    expect(verdictOf(100, 0, 0.6)('stays under 0.5')).toBe('does not hold');
    expect(verdictOf(10, 0, 0.6)('stays under 0.5')).toBe('cannot be told');
  });

  test('of an arm that was not run is not tried', () => {
    expect(verdictOf(100, 20, 0.1)('Random drop')).toBe('not tried');
  });
});
