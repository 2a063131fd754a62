import { expect, test } from 'vitest';
import { madeRun } from '../../e2e/fixtures/recorded/household-run.ts';
import { matches, passes, shownItems, splitAt, type stepFilters } from './find.ts';
import { foldRun } from './run-view.ts';

const run = foldRun(madeRun({ steps: 50, talk: 2, seed: 6 }), { id: null, name: 'made' });
if (!run) throw new Error('the made run starts');
const count = (filter: (typeof stepFilters)[number]['filter']) =>
  run.items.filter((item) => passes(item, filter, {})).length;

test('a text is cut where the searched words are, in any case of letters', () => {
  expect(splitAt('Go to Shelf 3, shelf 4', 'SHELF')).toEqual([
    { text: 'Go to ', found: false },
    { text: 'Shelf', found: true },
    { text: ' 3, ', found: false },
    { text: 'shelf', found: true },
    { text: ' 4', found: false },
  ]);
  expect(splitAt('nothing here', 'fridge')).toEqual([{ text: 'nothing here', found: false }]);
});

test('a letter that grows in lower case does not shift what is marked', () => {
  expect(splitAt('İ shelf', 'shelf')).toEqual([{ text: 'İ shelf', found: false }]);
});

test('an empty search finds nothing, and blanks around it do not count', () => {
  const [first] = run.steps;
  expect(first && matches(first, '  ')).toBe(false);
  expect(first && matches(first, `  ${first.action.toUpperCase()} `)).toBe(true);
});

test('steps split into those that changed the world, those that did not, and failures', () => {
  expect(count('all')).toBe(60); // 50 steps and a boundary after every fifth
  expect(count('effective') + count('without_effect') + count('failures')).toBe(50);
  expect(count('boundaries')).toBe(10);
  expect(count('updates') + count('skips') + count('rollbacks')).toBe(10);
});

test('a step with a reward is found among all others', () => {
  const solved = foldRun(madeRun({ steps: 12, end: 'solved' }), { id: null, name: 'made' });
  const kept = solved?.items.filter((item) => passes(item, 'rewarded', {}));
  expect(kept?.map(({ type, t }) => [type, t])).toEqual([['step', 12]]);
  expect(count('rewarded')).toBe(0);
});

test('both filters hold together', () => {
  const failed = shownItems(run, 'failures', null, {});
  const long = shownItems(run, 'failures', { number: 'repetition', side: 'least', value: 0.5 }, {});
  expect(long.length).toBeGreaterThan(0);
  expect(long.length).toBeLessThan(failed.length);
  expect(failed.filter((item) => item.type === 'step' && item.repetition >= 0.5)).toEqual(long);
});

test('the filter for notes keeps the steps that have one', () => {
  const kept = shownItems(run, 'noted', null, { 3: 'the loop begins here', 99: 'not of this run' });
  expect(kept.map(({ type, t }) => [type, t])).toEqual([['step', 3]]);
});
