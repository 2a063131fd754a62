/** S-expressions and goals, against cases written by hand. */

import { expect, test } from 'vitest';
import { LabError } from '../errors.ts';
import { type GoalWorld, prepareGoal, readGoal } from './household-goal.ts';
import { readSexpr, readTyped } from './pddl.ts';

test('brackets become lists, and a comment is nothing', () => {
  expect(readSexpr('(a (b ?c) ; and so on)\n ())')).toEqual(['a', ['b', '?c'], []]);
});

test.each(['(a (b)', 'a) b', '', ') (', `${'('.repeat(300)}`])('%j is refused', (text) => {
  // a lone word before a stray bracket is an expression of its own
  if (text.startsWith('a')) expect(readSexpr(text)).toBe('a');
  else expect(() => readSexpr(text)).toThrow(LabError);
});

test('a type stands behind the names it is for', () => {
  expect(readTyped(['?o1', '?o2', '-', 'object', '?r', '-', 'receptacle', 'x'])).toEqual([
    { name: '?o1', type: 'object' },
    { name: '?o2', type: 'object' },
    { name: '?r', type: 'receptacle' },
    { name: 'x', type: 'object' },
  ]);
  expect(() => readTyped(['?o', '-'])).toThrow(/dash/);
});

/** Two cups; `near` holds of pairs. */
function world(near: readonly string[]): GoalWorld {
  return {
    all: () => ['cup 1', 'cup 2'],
    holds: (predicate, args) => predicate === 'near' && near.includes(args.join('+')),
  };
}
const holds = (goal: string, near: readonly string[]) =>
  prepareGoal(readGoal(goal), world(near), () => false)(world(near));

test('a variable of an inner scope hides the one of the outer scope', () => {
  const goal =
    '(:goal (and (exists (?a - object) (near ?a ?a)) (exists (?a ?b - object) (and (near ?a ?b) (not (= ?a ?b))))))';
  expect(holds(goal, ['cup 1+cup 1', 'cup 2+cup 1'])).toBe(true);
  expect(holds(goal, ['cup 1+cup 1'])).toBe(false);
  expect(holds(goal, ['cup 2+cup 1'])).toBe(false);
});

test('a goal without variables is its facts', () => {
  expect(holds('(:goal (near x y))', ['x+y'])).toBe(true);
  expect(holds('(:goal (not (near x y)))', ['x+y'])).toBe(false);
});

test.each([
  '(:goal (or (near x y) (near y x)))',
  '(:goal (forall (?o - object) (near ?o x)))',
  '(:goal (not (exists (?o - object) (near ?o x))))',
  '(:goal (near ?o x))',
])('%s is refused with what it uses', (goal) => {
  expect(() => readGoal(goal)).toThrow(/The goal uses/);
});
