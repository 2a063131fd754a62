import { expect, test } from 'vitest';
import { madeRun } from '../../e2e/fixtures/recorded/household-run.ts';
import { type ItemNumber, itemNumbers, numbersOf, numberTest } from './item-numbers.ts';
import { foldRun } from './run-view.ts';

const events = madeRun({ steps: 50, talk: 2, seed: 6 });
const run = foldRun(events, { id: null, name: 'made' });
if (!run) throw new Error('the made run starts');
const kept = (number: ItemNumber, side: 'least' | 'most', value: number | null) =>
  run.items.filter(numberTest(run, { number, side, value }));

test('a step is kept by its KL where the boundary after it was measured, and that boundary with it', () => {
  const measured = run.boundaries.filter(({ kl }) => kl !== null && kl >= 0.2);
  expect(measured.length).toBeGreaterThan(1);
  expect(kept('kl', 'least', 0.2).map(({ type, t }) => [type, t])).toEqual(
    measured.flatMap(({ t }) => [
      ['step', t],
      ['boundary', t],
    ]),
  );
});

test('at least and at most part the items that have the number; those without it pass neither', () => {
  for (const number of itemNumbers) {
    const all = [...numbersOf(run, number).values()].sort((a, b) => a - b);
    const middle = all[Math.floor(all.length / 2)] ?? Number.NaN;
    const [above, below] = [kept(number, 'least', middle), kept(number, 'most', middle)];
    const equal = all.filter((value) => value === middle).length;
    expect(above.length + below.length - equal, number).toBe(all.length);
  }
  expect(kept('tokens', 'least', 0).some(({ type }) => type === 'rolled_back')).toBe(false);
});

test('seconds are those of the record: none where nobody read a clock', () => {
  const [first] = run.steps;
  expect(numbersOf(run, 'seconds').get(first?.seq ?? -1)).toBe(first?.clock?.seconds);
  const bare = events.map(({ clock: _, ...event }) => event) as typeof events; // the same events, undated
  const undated = foldRun(bare, { id: null, name: 'undated' });
  expect(undated && numbersOf(undated, 'seconds').size).toBe(0);
});

test('without a value, or without a filter, everything is kept', () => {
  expect(kept('kl', 'least', null)).toHaveLength(run.items.length);
  expect(run.items.filter(numberTest(run, null))).toHaveLength(run.items.length);
});
