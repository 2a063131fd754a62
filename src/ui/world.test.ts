import { expect, test } from 'vitest';
import { madeRun } from '../../e2e/fixtures/recorded/household-run.ts';
import { foldRun } from './run-view.ts';
import { firstDifference, lastSeen } from './world.ts';

const run = foldRun(madeRun({ steps: 3, seed: 1 }), { id: null, name: 'made' });
if (!run) throw new Error('the made run starts');
const told = (...observations: string[]) => ({
  ...run,
  started: { ...run.started, observation: 'You see a shelf 12.', stateHash: 'h0' },
  steps: run.steps.map((step, i) => ({
    ...step,
    observation: observations[i] ?? '',
    stateHash: `h${i + 1}`,
  })),
});

test('a name was last seen where an observation last told it, not where a longer number did', () => {
  const seen = lastSeen(
    told('a cup 1 and a cup 11', 'a cup 11', 'a cup 1'),
    ['cup 1', 'cup 11'],
    2,
  );
  expect([...seen]).toEqual([
    ['cup 1', 1],
    ['cup 11', 2],
  ]);
  expect(lastSeen(told(), ['shelf 1', 'shelf 12'], 3).get('shelf 12')).toBe(0);
  expect(lastSeen(told(), ['shelf 1'], 3).has('shelf 1')).toBe(false);
});

test('a replay that leaves the record says after which step', () => {
  const sketch = (stateHash: string) => ({
    kind: 'places' as const,
    stateHash,
    holding: null,
    places: [],
  });
  expect(firstDifference(told(), ['h0', 'h1', 'h2', 'h3'].map(sketch))).toBeNull();
  expect(firstDifference(told(), ['h0', 'h1', 'x', 'h3'].map(sketch))).toBe(2);
});
