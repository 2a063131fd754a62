import { expect, test } from 'vitest';
import { household } from './household.ts';

const [task] = household.tasks('valid_seen');
if (!task) throw new Error('the split has tasks');
const start = household.initial(task);
const sketch = (state: typeof start.state) => {
  const made = household.sketch?.(state, null);
  if (made?.kind !== 'places') throw new Error('the household can be sketched');
  return made;
};

test('a sketch has every receptacle of the first observation, and no one is anywhere yet', () => {
  const first = sketch(start.state);
  const named = [...start.observation.matchAll(/\ba ([a-z]+ \d+)/g)].map(([, name]) => name);
  expect(first.places.map(({ name }) => name).sort()).toEqual(named.sort());
  expect(first.places.filter(({ here }) => here)).toEqual([]);
  expect(first.holding).toBeNull();
  expect(first.stateHash).toBe(start.info.stateHash);
});

test('what the world says of a place is what the sketch has there', () => {
  const open = sketch(start.state).places.find(
    ({ open: is, things }) => is === null && things.length > 0,
  );
  if (!open) throw new Error('some surface holds something');
  const after = household.step(start.state, `go to ${open.name}`);
  const place = sketch(after.state).places.find(({ name }) => name === open.name);
  expect(place?.here).toBe(true);
  for (const { name } of place?.things ?? []) expect(after.observation).toContain(name);
  const [thing] = place?.things ?? [];
  const taken = household.step(after.state, `take ${thing?.name} from ${open.name}`);
  expect(sketch(taken.state).holding?.name).toBe(thing?.name);
  expect(
    sketch(taken.state).places.flatMap(({ things }) => things.map(({ name }) => name)),
  ).not.toContain(thing?.name);
});
