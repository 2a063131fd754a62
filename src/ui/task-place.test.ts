import { expect, test } from 'vitest';
import type { EnvDescription } from '../records.ts';
import { firstPlace, linkedTask, placeOf } from './task-place.ts';

const env = (id: string, ...names: readonly string[]) =>
  ({ id, splits: names.map((name) => ({ name })) }) as unknown as EnvDescription; // what is read of it
const household = env('household/ALFWorld-v0.4', 'train', 'valid_unseen');
const repair = env('repair/Programs-v1', 'train');
const worlds = [household, repair];
const first = { env: household.id, split: 'valid_unseen', index: 0 };

test('the first task is that of the unseen split, or of the only one', () => {
  expect(firstPlace(worlds)).toEqual(first);
  expect(firstPlace([repair])).toEqual({ env: repair.id, split: 'train', index: 0 });
  expect(firstPlace([])).toBeNull();
});

test('a link names every task but the first and a file of the person', () => {
  const place = { env: repair.id, split: 'train', index: 3 };
  expect(linkedTask(place, worlds)).toEqual(['repair', 'train', 3]);
  expect(placeOf(['repair', 'train', 3], worlds)).toEqual(place);
  expect(linkedTask(first, worlds)).toBeNull();
  expect(linkedTask({ ...first, index: 1 }, worlds)).toEqual(['household', 'valid_unseen', 1]);
  expect(linkedTask({ ...first, split: 'file' }, worlds)).toBeNull();
});

test('a task that is not here is the first one', () => {
  expect(placeOf(['moon', 'train', 3], worlds)).toEqual(first);
  expect(placeOf(['repair', 'valid_unseen', 3], worlds)).toEqual(first);
  expect(placeOf(null, worlds)).toEqual(first);
});
