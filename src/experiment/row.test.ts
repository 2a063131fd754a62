import { describe, expect, test } from 'vitest';
import { defaultSettings, type Settings } from '../config.ts';
import type { Boundary } from '../records.ts';
import { fresh, run, type Script, stuck, turn } from '../train/testing-episode.ts';
import { closeRow, foldRow, isErrorRow, openRow, sortedRows } from './row.ts';
import { rowOf } from './testing-rows.ts';

async function rowFor(texts: readonly string[], settings: Partial<Settings>, options: Script = {}) {
  const { events } = await run(texts, settings, options);
  const task = { env: 'household/ALFWorld-v0.4', split: 'train', index: 0 };
  const whole = { ...defaultSettings, ...settings };
  const planned = { key: 'k', arm: 'attt', pair: 0, task, settings: whole };
  return closeRow(events.reduce(foldRow, openRow(planned)), null, 1.234);
}

test('rows stand by split, seed, task and arm, arms of no plan last and by name', () => {
  const rows = [
    rowOf('naive', 0, 1),
    rowOf('static', 0, 1),
    rowOf('attt', 0, 1),
    rowOf('frozen', 0, 1),
    rowOf('frozen', 1, 1),
    rowOf('frozen', 0, 2),
    rowOf('frozen', 10, 1),
    rowOf('frozen', 9, 9, { split: 'train' }),
  ];
  const sorted = sortedRows(rows, [{ name: 'frozen' }, { name: 'attt' }]);
  expect(sorted.map(({ split, seed, task, arm }) => [split, seed, task, arm].join(' '))).toEqual([
    'train 9 9 frozen',
    'valid_seen 1 0 frozen',
    'valid_seen 1 0 attt',
    'valid_seen 1 0 naive',
    'valid_seen 1 0 static',
    'valid_seen 1 1 frozen',
    'valid_seen 1 10 frozen',
    'valid_seen 2 0 frozen',
  ]);
});

describe('a row', () => {
  test('counts steps, updates, outcomes, tokens and KL of its episode', async () => {
    const row = await rowFor(stuck, { step_limit: 15 });
    const length = [...(stuck[0] ?? '')].length;
    expect(row).toMatchObject({
      reason: 'step_limit',
      solved: false,
      tries: 1,
      steps: 15,
      updates: 1,
      rollbacks: 1,
      generated: 15 * length,
      trained: length - 1,
      outcomes: { updated: 1, rolled_back_ratio: 2 },
      kl: [0.1],
      weights: [1],
      seconds: 1.23,
      start: 'same',
    });
    expect(row.repetition).toEqual([0, ...Array(14).fill(1)]);
  });

  test('counts the tokens of refused turns and of a reflection', async () => {
    const texts = [turn('a'), turn('b'), turn('c', 'go to shelf 1'), 'What now?'];
    const lengths = texts.map((text) => [...text].length);
    const broken = await rowFor(
      texts,
      { method: 'loop_breaker', step_limit: 2 },
      { idleWorld: true },
    );
    expect(broken.refused).toBe(1);
    expect(broken.generated).toBe((lengths[0] ?? 0) + (lengths[1] ?? 0) + (lengths[2] ?? 0));
    const reflected = await rowFor(texts, { method: 'reflexion', step_limit: 3 });
    expect(reflected.generated).toBe(lengths.reduce((a, b) => a + b, 0));
  });

  test('counts a summary of the policy’s own once, however many boundaries tell of it', () => {
    const settings = defaultSettings;
    const task = { env: 'household/ALFWorld-v0.4', split: 'train', index: 0 };
    const open = openRow({ key: 'k', arm: 'attt', pair: 0, task, settings });
    const boundary = (t: number, model: string | null): Boundary => ({
      ...{ type: 'boundary', seq: 1, t, trigger: 'manual', outcome: 'skipped_novelty', why: '' },
      ...{ source: 'summary', text: 'so far', summary: { model, ids: [7, 8, 9], stop: 'eos' } },
      ...{
        ratio: null,
        novelty: null,
        nearestStep: null,
        tokens: null,
        meanWeight: null,
        kl: null,
      },
      ...{ losses: [], gradNorms: [], klInContext: null, deltaNorm: null, restored: false },
      updates: 0,
    });
    const generated = (events: readonly Boundary[]) =>
      closeRow(events.reduce(foldRow, open), null, 1).generated;
    // Three ids at step 5 and three at step 6.
    expect(generated([5, 5, 6, 6].map((t) => boundary(t, null)))).toBe(6);
    expect(generated([5, 6].map((t) => boundary(t, 'teller')))).toBe(0);
    expect(closeRow(open, null, 1)).not.toHaveProperty('summarised');
  });

  test('of a failing world is an error, not a failure of the policy', async () => {
    const row = await rowFor(fresh, {}, { worldFailsAt: 3 });
    expect(isErrorRow(row)).toBe(true);
    expect(row.error).toBe('no answer');
  });

  test('has no retention where a loss overflowed', () => {
    const settings = defaultSettings;
    const task = { env: 'household/ALFWorld-v0.4', split: 'train', index: 0 };
    const open = openRow({ key: 'k', arm: 'attt', pair: 0, task, settings });
    const closed = (adapter: number) =>
      closeRow(open, { texts: { base: 9, adapter: 9.5 }, turns: { base: 1, adapter } }, 1);
    expect(closed(1.25).retention?.turns).toEqual({ base: 1, adapter: 1.25 });
    expect(closed(Number.NaN).retention).toBeNull();
    expect(closed(Number.POSITIVE_INFINITY).retention).toBeNull();
  });
});
