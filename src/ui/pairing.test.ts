import fc from 'fast-check';
import { expect, test } from 'vitest';
import { madeRun } from '../../e2e/fixtures/recorded/household-run.ts';
import { firstDivergence, pairSteps, stepOf } from './pairing.ts';
import { foldRun, type RunView } from './run-view.ts';

const made = foldRun(madeRun({ steps: 12 }), { id: null, name: 'made' });

/** A run of at most twelve steps that acts so. */
function acting(actions: readonly string[]): RunView {
  if (!made) throw new Error('the made run starts');
  const steps = made.steps.slice(0, actions.length);
  return { ...made, steps: steps.map((step, n) => ({ ...step, action: actions[n] ?? '' })) };
}

const words = (text: string) => (text === '' ? [] : text.split(' '));

/** Each pair as its two actions; `-` where a run has none. */
const stood = (left: string, right: string) =>
  pairSteps(acting(words(left)), acting(words(right))).map(
    (pair) =>
      `${pair.left?.action ?? '-'}${pair.sameAction ? '=' : ' '}${pair.right?.action ?? '-'}`,
  );

test('runs meet again after a detour, and what has no counterpart stands alone', () => {
  expect(stood('a b c d', 'a x c')).toEqual(['a=a', 'b x', 'c=c', 'd -']);
  expect(stood('a b', 'a x y b')).toEqual(['a=a', '- x', '- y', 'b=b']);
  expect(stood('', 'a')).toEqual(['- a']);
});

test('the first divergence is the first step with another action, or one that only one run has', () => {
  const firstOf = (left: string, right: string) => {
    const pairs = pairSteps(acting(words(left)), acting(words(right)));
    const place = firstDivergence(pairs);
    const pair = place === null ? undefined : pairs[place];
    return pair ? stepOf(pair) : null;
  };
  expect(firstOf('a b c', 'a b c')).toBeNull();
  expect(firstOf('a b c', 'a x c')).toBe(2);
  expect(firstOf('a b c', 'a b')).toBe(3);
  expect(firstOf('a b', 'a b c')).toBe(3);
});

test('no step is lost, none changes its order, and only equal actions are said to be the same', () => {
  const actions = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 });
  fc.assert(
    fc.property(actions, actions, (left, right) => {
      const pairs = pairSteps(acting(left), acting(right));
      expect(pairs.flatMap((pair) => pair.left?.action ?? [])).toEqual(left);
      expect(pairs.flatMap((pair) => pair.right?.action ?? [])).toEqual(right);
      for (const pair of pairs) {
        if (pair.sameAction) expect(pair.left?.action).toBe(pair.right?.action);
      }
      // Up to where they part they stand beside each other step by step.
      const place = firstDivergence(pairs) ?? pairs.length;
      const common = left.findIndex((action, n) => action !== right[n]);
      if (common >= 0) expect(place).toBe(common);
    }),
    { numRuns: 200 },
  );
});
