/** Whether a household's PDDL goal holds. It knows existential conjunctions, which is all that ALFWorld's goals are. */

import { LabError } from '../errors.ts';
import { readSexpr, readTyped, type Sexpr } from './pddl.ts';

export type GoalAtom = {
  readonly negated: boolean;
  readonly predicate: string;
  /** Names; those that start with `?` are variables. */
  readonly args: readonly string[];
};

/** One variable, with what can be checked as soon as it and all earlier ones are bound. */
type GoalLevel = {
  readonly name: string;
  readonly type: string;
  readonly checks: readonly GoalAtom[];
};

/** A goal as nested loops over its variables. */
export type Goal = { readonly ground: readonly GoalAtom[]; readonly levels: readonly GoalLevel[] };

/** What a goal asks of a world; `args` are names of things in it. */
export interface GoalWorld {
  /** Names of all things of a PDDL type: agent, location, receptacle, object. */
  all(type: string): readonly string[];
  holds(predicate: string, args: readonly string[]): boolean;
}

/** Reads `(:goal …)`. Throws `bad_input` for a connective that these goals never use. */
export function readGoal(text: string): Goal {
  const variables: { name: string; type: string }[] = [];
  const atoms: GoalAtom[] = [];
  collect(readSexpr(text), false, new Map(), variables, atoms);
  const depth = (atom: GoalAtom) =>
    Math.max(-1, ...atom.args.map((arg) => variables.findIndex((v) => v.name === arg)));
  return {
    ground: atoms.filter((atom) => depth(atom) < 0),
    levels: variables.map((v, i) => ({ ...v, checks: atoms.filter((atom) => depth(atom) === i) })),
  };
}

/**
 * Narrows a goal to a world: checks of predicates that never change become lists of candidates, so
 * that a test per step costs next to nothing.
 */
export function prepareGoal(
  goal: Goal,
  world: GoalWorld,
  isFixed: (predicate: string) => boolean,
): (now: GoalWorld) => boolean {
  const levels = goal.levels.map((level) => {
    const unary = level.checks.filter(
      (atom) => isFixed(atom.predicate) && atom.args.every((a) => a === level.name || a[0] !== '?'),
    );
    return {
      name: level.name,
      candidates: world
        .all(level.type)
        .filter((name) => unary.every((atom) => check(atom, new Map([[level.name, name]]), world))),
      checks: level.checks.filter((atom) => !unary.includes(atom)),
    };
  });
  const bound = new Map<string, string>();
  const search = (i: number, now: GoalWorld): boolean => {
    const level = levels[i];
    if (level === undefined) return true;
    for (const name of level.candidates) {
      bound.set(level.name, name);
      if (level.checks.every((atom) => check(atom, bound, now)) && search(i + 1, now)) return true;
    }
    return false;
  };
  return (now) => goal.ground.every((atom) => check(atom, bound, now)) && search(0, now);
}

function check(atom: GoalAtom, bound: ReadonlyMap<string, string>, world: GoalWorld): boolean {
  const args = atom.args.map((arg) => bound.get(arg) ?? arg);
  const holds = atom.predicate === '=' ? args[0] === args[1] : world.holds(atom.predicate, args);
  return holds !== atom.negated;
}

function collect(
  expr: Sexpr | undefined,
  negated: boolean,
  scope: ReadonlyMap<string, string>,
  variables: { name: string; type: string }[],
  atoms: GoalAtom[],
): void {
  if (expr === undefined || typeof expr === 'string') throw bad(String(expr));
  const [head, ...rest] = expr;
  if (head === ':goal' && rest.length === 1) {
    collect(rest[0], negated, scope, variables, atoms);
  } else if (head === 'and' && !negated) {
    for (const part of rest) collect(part, negated, scope, variables, atoms);
  } else if (head === 'not' && rest.length === 1) {
    collect(rest[0], !negated, scope, variables, atoms);
  } else if (head === 'exists' && !negated && Array.isArray(rest[0])) {
    const inner = new Map(scope);
    for (const { name, type } of readTyped(rest[0])) {
      // the same name in two scopes is two variables
      const unique = `${name}#${variables.length}`;
      inner.set(name, unique);
      variables.push({ name: unique, type });
    }
    for (const part of rest.slice(1)) collect(part, negated, inner, variables, atoms);
  } else if (
    typeof head === 'string' &&
    !['or', 'forall', 'imply', 'exists', 'and'].includes(head)
  ) {
    const args = rest.map((arg) => {
      if (typeof arg !== 'string') throw bad(`a list inside (${head} …)`);
      if (!arg.startsWith('?')) return arg;
      const variable = scope.get(arg);
      if (variable === undefined) throw bad(`${arg}, which no exists names`);
      return variable;
    });
    atoms.push({ negated, predicate: head, args });
  } else {
    throw bad(`${negated ? 'not ' : ''}${String(head)}`);
  }
}

function bad(found: string): LabError {
  return new LabError(
    'bad_input',
    `The goal uses ${found}. Expected exists, and, not and predicates only, as ALFWorld's goals are written.`,
  );
}
