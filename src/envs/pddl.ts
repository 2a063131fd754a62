/** Reads PDDL's s-expressions. It knows the brackets, not what the words mean. */

import { LabError } from '../errors.ts';

/** A word, or a list of expressions. */
export type Sexpr = string | readonly Sexpr[];

/** Deeper nesting than any planner writes; a file beyond it would exhaust the stack. */
const MAX_DEPTH = 200;

/** The first expression of a text; `;` starts a comment. Throws `bad_input` when brackets do not match. */
export function readSexpr(text: string): Sexpr {
  const stack: Sexpr[][] = [];
  for (const [token] of text.replace(/;[^\n]*/g, '').matchAll(/[()]|[^\s()]+/g)) {
    const open = stack.at(-1);
    if (token === '(') {
      if (stack.length >= MAX_DEPTH) throw bad(`more than ${MAX_DEPTH} nested brackets`);
      stack.push([]);
    } else if (token === ')') {
      const done = stack.pop();
      const parent = stack.at(-1);
      if (done === undefined) throw bad('a closing bracket without an opening one');
      if (parent === undefined) return done;
      parent.push(done);
    } else if (open === undefined) {
      return token;
    } else {
      open.push(token);
    }
  }
  throw bad(stack.length > 0 ? 'a bracket that is never closed' : 'no expression');
}

/** Typed names, `?r ?s - receptacle ?o - object`, as pairs; a name without a type is an `object`. */
export function readTyped(
  items: readonly Sexpr[],
): { readonly name: string; readonly type: string }[] {
  const typed: { name: string; type: string }[] = [];
  let waiting: string[] = [];
  for (let i = 0; i < items.length; i++) {
    const item = items[i];
    if (typeof item !== 'string') throw bad('a list among typed names');
    if (item !== '-') {
      waiting.push(item);
      continue;
    }
    const type = items[++i];
    if (typeof type !== 'string') throw bad('a dash without a type behind it');
    for (const name of waiting) typed.push({ name, type });
    waiting = [];
  }
  for (const name of waiting) typed.push({ name, type: 'object' });
  return typed;
}

function bad(found: string): LabError {
  return new LabError(
    'bad_input',
    `The PDDL text has ${found}. Expected balanced brackets; check that the file is complete.`,
  );
}
