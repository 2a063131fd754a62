import { describe, expect, it } from 'vitest';
import { madeRun } from '../../e2e/fixtures/recorded/household-run.ts';
import type { Boundary } from '../records.ts';
import { barsOf, marksOf } from './line-of-steps.ts';
import { foldRun } from './run-view.ts';

const run = foldRun(madeRun({ steps: 10, seed: 3 }), { id: null, name: 'made' });
const steps = (run?.steps ?? []).map((step, i) => ({ ...step, repetition: i / 10 }));

describe('the bars of the line of steps', () => {
  it('are one a step where there is room', () => {
    expect(barsOf(steps, 10).map(({ t, steps: n, repetition }) => [t, n, repetition])).toEqual(
      steps.map(({ t, repetition }) => [t, 1, repetition]),
    );
  });

  it('have the mean and the most frequent tone of equally many steps where there is none', () => {
    const tones = ['effective', 'effective', 'malformed'] as const;
    const some = steps.map((step, i) => ({ ...step, actionClass: tones[i % 3] ?? 'effective' }));
    const bars = barsOf(some, 4);
    expect(bars.map(({ t, steps: n, tone }) => [t, n, tone])).toEqual([
      [1, 3, 'good'],
      [4, 3, 'good'],
      [7, 3, 'good'],
      [10, 1, 'good'],
    ]);
    // (0 + 0.1 + 0.2) / 3 and so on
    for (const [i, mean] of [0.1, 0.4, 0.7, 0.9].entries()) {
      expect(bars[i]?.repetition).toBeCloseTo(mean, 12);
    }
  });

  it('are none before the first step', () => {
    expect(barsOf([], 100)).toEqual([]);
  });
});

describe('the marks of the line of steps', () => {
  const [boundary] = run?.boundaries ?? [];
  if (!boundary) throw new Error('a made run of ten steps has a boundary');
  const at = (t: number, outcome: Boundary['outcome'], restored = false): Boundary => ({
    ...boundary,
    t,
    outcome,
    restored,
  });
  const many = [
    at(5, 'too_early'),
    at(10, 'updated'),
    at(15, 'skipped_novelty'),
    at(20, 'rolled_back_kl', true),
    at(60, 'skipped_novelty'),
    at(65, 'max_updates'),
  ];

  it('are all there where there is room, but for boundaries that had nothing to decide', () => {
    expect(marksOf(many, 100, 5)).toEqual([
      { t: 10, tone: 'good' },
      { t: 15, tone: 'warn' },
      { t: 20, tone: 'bad' },
      { t: 60, tone: 'warn' },
      { t: 65, tone: 'quiet' },
    ]);
  });

  it('are the most urgent one of each place where there is none', () => {
    expect(marksOf(many, 100, 4)).toEqual([
      { t: 20, tone: 'bad' },
      { t: 60, tone: 'warn' },
    ]);
  });
});
