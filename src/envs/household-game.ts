/** Reads a genuine ALFWorld game file (`game.tw-pddl`) into a scene. It knows PDDL facts and TextWorld's names. */

import { LabError, messageOf } from '../errors.ts';
import { readGrammar } from './household-grammar.ts';
import {
  type HouseholdScene,
  orderScene,
  type SceneObject,
  type SceneReceptacle,
} from './household-scene.ts';
import { readSexpr, readTyped, type Sexpr } from './pddl.ts';

/** ALFWorld's largest files have about 150 kB. */
const MAX_BYTES = 8_000_000;

/** Object predicates that are not flags but relations or types. */
const RELATIONS: readonly string[] = ['objectType', 'inReceptacle', 'objectAtLocation'];

/** True for JSON that {@link readGame} is meant for. */
export function looksLikeGame(json: unknown): boolean {
  return typeof json === 'object' && json !== null && 'pddl_problem' in json && 'grammar' in json;
}

/** A scene from the text or the parsed JSON of a game file. Throws `bad_input`. */
export function readGame(file: unknown): HouseholdScene {
  const json = typeof file === 'string' ? parse(file) : file;
  if (!looksLikeGame(json)) throw bad('no pddl_problem and grammar in it');
  const { pddl_problem: problem, grammar } = json as Record<string, unknown>; // checked above
  if (typeof problem !== 'string' || typeof grammar !== 'string')
    throw bad('parts that are no text');
  const { wording, task } = readGrammar(grammar);
  const sections = sectionsOf(readSexpr(problem));
  const facts = factsOf(sections.get(':init') ?? []);
  const ids = readTyped(sections.get(':objects') ?? []).map((typed) => typed.name);
  const names = nameAll(ids);
  const name = (id: string) => names.get(id) ?? id;

  const locOf = new Map(facts.of('receptacleAtLocation').map(([r = '', l = '']) => [r, name(l)]));
  const openable = new Set(facts.of('openable').map(([r]) => r));
  const receptacles = facts.of('receptacleType').flatMap(([id = '', type = '']) => {
    const loc = locOf.get(id);
    const receptacle = { name: name(id), type: bare(type), openable: openable.has(id) };
    return loc === undefined ? [] : [{ ...receptacle, loc } satisfies SceneReceptacle];
  });
  const related = (predicate: string, id: string, from: 0 | 1) =>
    facts
      .of(predicate)
      .filter((args) => args[from] === id)
      .map((args) => name(args[1 - from] ?? ''));
  const objects = facts.of('objectType').map(
    ([id = '', type = '']): SceneObject => ({
      name: name(id),
      type: bare(type),
      flags: facts.unaryOf(id),
      in: related('inReceptacle', id, 0),
      at: related('objectAtLocation', id, 0),
      holds: related('inReceptacleObject', id, 1),
    }),
  );
  const canContain: Record<string, string[]> = {};
  for (const [r = '', o = ''] of facts.of('canContain')) {
    canContain[bare(r)] = [...(canContain[bare(r)] ?? []), bare(o)];
  }
  return orderScene({
    task,
    kind: kindOf(facts.goalPredicates(sections.get(':goal') ?? [])),
    floor: null,
    receptacles,
    objects,
    canContain,
    start: name(facts.of('atLocation')[0]?.[1] ?? 'start'),
    open: facts.of('opened').map(([r = '']) => name(r)),
    goal: write([':goal', ...(sections.get(':goal') ?? [])]),
    wording,
  });
}

/**
 * TextWorld's names of ALFRED's ids: sorted by LOWER-CASED id, the part before `_bar_` (with `basin`
 * where the id has it) and a number that counts down, so that the first id gets the highest.
 */
export function nameAll(ids: readonly string[]): ReadonlyMap<string, string> {
  const key = new Map(ids.map((id) => [id, id.toLowerCase()]));
  const sorted = ids.toSorted((a, b) => ((key.get(a) ?? a) < (key.get(b) ?? b) ? -1 : 1));
  const names = new Map<string, string>();
  const counts = new Map<string, number>();
  for (const id of sorted.toReversed()) {
    const lower = id.toLowerCase();
    const bar = lower.indexOf('_bar_');
    if (bar < 0) {
      names.set(id, lower);
      continue;
    }
    const base = lower.slice(0, bar) + (lower.includes('basin') ? 'basin' : '');
    const count = (counts.get(base) ?? 0) + 1;
    counts.set(base, count);
    names.set(id, `${base} ${count}`);
  }
  return names;
}

function sectionsOf(problem: Sexpr): ReadonlyMap<string, readonly Sexpr[]> {
  const sections = new Map<string, readonly Sexpr[]>();
  if (typeof problem === 'string') throw bad('a problem that is no list');
  for (const part of problem) {
    if (typeof part !== 'string' && typeof part[0] === 'string')
      sections.set(part[0], part.slice(1));
  }
  for (const needed of [':objects', ':init', ':goal']) {
    if (!sections.has(needed)) throw bad(`no ${needed} in its PDDL problem`);
  }
  return sections;
}

interface Facts {
  of(predicate: string): readonly (readonly string[])[];
  /** Predicates of one argument that hold of an id. */
  unaryOf(id: string): readonly string[];
  goalPredicates(goal: readonly Sexpr[]): ReadonlySet<string>;
}

function factsOf(init: readonly Sexpr[]): Facts {
  const byPredicate = new Map<string, string[][]>();
  const unary = new Map<string, string[]>();
  for (const fact of init) {
    if (typeof fact === 'string') throw bad(`the word ${fact} among its facts`);
    const [predicate, ...args] = fact;
    if (typeof predicate !== 'string' || predicate === '=') continue; // distances, which no rule uses
    const words = args.filter((arg) => typeof arg === 'string');
    const known = byPredicate.get(predicate);
    if (known === undefined) byPredicate.set(predicate, [words]);
    else known.push(words);
    const [id] = words;
    if (words.length !== 1 || id === undefined || RELATIONS.includes(predicate)) continue;
    unary.set(id, [...(unary.get(id) ?? []), predicate]);
  }
  const words = (expr: Sexpr): readonly string[] =>
    typeof expr === 'string' ? [expr] : expr.flatMap(words);
  return {
    of: (predicate) => byPredicate.get(predicate) ?? [],
    unaryOf: (id) => unary.get(id) ?? [],
    goalPredicates: (goal) => new Set(goal.flatMap(words)),
  };
}

/** ALFRED's name of the task, from what its goal speaks of. */
function kindOf(goal: ReadonlySet<string>): string {
  if (goal.has('isToggled')) return 'look_at_obj_in_light';
  if (goal.has('inReceptacleObject')) return 'pick_and_place_with_movable_recep';
  if (goal.has('isClean')) return 'pick_clean_then_place_in_recep';
  if (goal.has('isHot')) return 'pick_heat_then_place_in_recep';
  if (goal.has('isCool')) return 'pick_cool_then_place_in_recep';
  return goal.has('not') ? 'pick_two_obj_and_place' : 'pick_and_place_simple';
}

function write(expr: Sexpr): string {
  return typeof expr === 'string' ? expr : `(${expr.map(write).join(' ')})`;
}

function bare(type: string): string {
  return type.replace(/Type$/, '');
}

function parse(text: string): unknown {
  if (text.length > MAX_BYTES) throw bad(`${text.length} characters, more than ${MAX_BYTES}`);
  try {
    return JSON.parse(text);
  } catch (thrown) {
    throw bad(`no JSON (${messageOf(thrown)})`);
  }
}

function bad(found: string): LabError {
  return new LabError(
    'bad_input',
    `This is no ALFWorld game: it has ${found}. Expected a game.tw-pddl file, which is JSON with pddl_problem and grammar.`,
  );
}
