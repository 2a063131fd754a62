/** A household as plain data (its fixed part and its changing part), and the reader of `scene.json`. It knows no rules. */

import { LabError } from '../errors.ts';
import type { Wording } from './household-wording.ts';

export type SceneReceptacle = {
  readonly name: string;
  /** As in ALFRED, e.g. `CounterTop`. */
  readonly type: string;
  /** Where one stands to use it; two receptacles may share one. */
  readonly loc: string;
  readonly openable: boolean;
};

/** Relations are lists: a genuine game may put an object in two receptacles, or in another object. */
export type SceneObject = {
  readonly name: string;
  readonly type: string;
  /** PDDL predicates that hold at the start: what can be done with it, and `isHot` and the like. */
  readonly flags: readonly string[];
  /** Names of receptacles. */
  readonly in: readonly string[];
  readonly at: readonly string[];
  /** Names of the objects that stand in this one. */
  readonly holds: readonly string[];
};

/** The part of a world that never changes, with what it starts from. */
export type HouseholdScene = {
  /** The task's own words, e.g. `put a hot potato in sinkbasin.` */
  readonly task: string;
  readonly kind: string;
  /** ALFRED's floor plan; null when the file does not say. */
  readonly floor: number | null;
  /** In the order of lists: type ascending, number descending. */
  readonly receptacles: readonly SceneReceptacle[];
  readonly objects: readonly SceneObject[];
  /** Receptacle type to object types. */
  readonly canContain: Readonly<Record<string, readonly string[]>>;
  /** The location of the agent at the start. */
  readonly start: string;
  /** Names of receptacles that are open at the start. */
  readonly open: readonly string[];
  /** A PDDL goal: `(:goal (and (exists …)))`. */
  readonly goal: string;
  /** The game file's own wording; null means that of the environment. */
  readonly wording: Wording | null;
};

/** The marks that commands leave on objects. */
export const MARKS = ['isHot', 'isCool', 'isClean', 'isSliced', 'isToggled'] as const;
export type Mark = (typeof MARKS)[number];

/** A whole world. `scene` is shared between the states of an episode; all lists are in scene order. */
export type HouseholdState = {
  readonly scene: HouseholdScene;
  readonly location: string;
  readonly holding: string | null;
  /** Names of open receptacles. */
  readonly open: readonly string[];
  /** Receptacle to the objects in or on it. */
  readonly contents: Readonly<Record<string, readonly string[]>>;
  /** Location to the objects at it. */
  readonly around: Readonly<Record<string, readonly string[]>>;
  /** Receptacle to the objects that were taken from it and not put back. */
  readonly taken: Readonly<Record<string, readonly string[]>>;
  readonly marks: Readonly<Record<Mark, readonly string[]>>;
};

/** `sinkbasin 2` as its two parts; number 0 where there is none. */
function splitName(name: string): { readonly type: string; readonly number: number } {
  const space = name.lastIndexOf(' ');
  const number = space < 0 ? Number.NaN : Number(name.slice(space + 1));
  return Number.isInteger(number)
    ? { type: name.slice(0, space), number }
    : { type: name, number: 0 };
}

/** A finished scene from unordered parts. */
export function orderScene(scene: HouseholdScene): HouseholdScene {
  return { ...scene, receptacles: inOrder(scene.receptacles), objects: inOrder(scene.objects) };
}

/** In the order of lists in observations: type name ascending, number descending. */
function inOrder<T extends { readonly name: string }>(things: readonly T[]): readonly T[] {
  return things
    .map((thing) => ({ thing, ...splitName(thing.name) }))
    .sort((a, b) => (a.type === b.type ? b.number - a.number : a.type < b.type ? -1 : 1))
    .map(({ thing }) => thing);
}

/** Reads a scene file (the form of ALFWorld games as plain data). Throws `bad_input`. */
export function readScene(json: unknown): HouseholdScene {
  const root = record(json, 'the scene');
  const receptacles = list(root.receptacles, 'receptacles').map((item, i): SceneReceptacle => {
    const r = record(item, `receptacles[${i}]`);
    return {
      name: text(r.name, `receptacles[${i}].name`),
      type: text(r.type, `receptacles[${i}].type`),
      loc: text(r.loc, `receptacles[${i}].loc`),
      openable: r.openable === true,
    };
  });
  const places = new Map(receptacles.map((r) => [r.name, r.loc]));
  const objects = list(root.objects, 'objects').map((item, i): SceneObject => {
    const o = record(item, `objects[${i}]`);
    const inside = texts(o.in, `objects[${i}].in`);
    for (const name of inside) {
      if (places.has(name)) continue;
      throw bad(`objects[${i}].in names "${name}", which is not a receptacle of the scene`);
    }
    return {
      name: text(o.name, `objects[${i}].name`),
      type: text(o.type, `objects[${i}].type`),
      flags: texts(o.flags, `objects[${i}].flags`),
      in: inside,
      at:
        o.at === undefined && o.loc === undefined
          ? [...new Set(inside.map((name) => places.get(name) ?? ''))]
          : texts(o.at ?? o.loc, `objects[${i}].loc`),
      holds: texts(o.holds, `objects[${i}].holds`),
    };
  });
  const canContain: Record<string, string[]> = {};
  for (const [i, item] of list(root.canContain, 'canContain').entries()) {
    const [receptacle, object] = texts(item, `canContain[${i}]`);
    if (receptacle === undefined || object === undefined) throw bad(`canContain[${i}] is no pair`);
    canContain[receptacle] = [...(canContain[receptacle] ?? []), object];
  }
  const task = text(root.task, 'task');
  const goal = root.goal === undefined ? {} : record(root.goal, 'goal');
  return orderScene({
    task: /[.!?]$/.test(task) ? task : `${task}.`,
    kind: typeof goal.task_type === 'string' ? goal.task_type : 'unknown',
    floor: typeof root.floor === 'number' ? root.floor : null,
    receptacles,
    objects,
    canContain,
    start: typeof root.start === 'string' ? root.start : 'start',
    open: texts(root.open, 'open'),
    goal: text(root.goalPddl, 'goalPddl'),
    wording: null,
  });
}

/** True for JSON that {@link readScene} is meant for. */
export function looksLikeScene(json: unknown): boolean {
  return typeof json === 'object' && json !== null && 'receptacles' in json && 'goalPddl' in json;
}

function bad(found: string): LabError {
  return new LabError(
    'bad_input',
    `This is no household scene: ${found}. Expected an object with task, receptacles, objects, canContain and goalPddl; drop a scene.json or a game.tw-pddl file.`,
  );
}

function record(value: unknown, where: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw bad(`${where} is not an object`);
  }
  return value as Record<string, unknown>; // parse edge: checked on the line above
}

function list(value: unknown, where: string): readonly unknown[] {
  if (!Array.isArray(value)) throw bad(`${where} is not a list`);
  return value;
}

function text(value: unknown, where: string): string {
  if (typeof value !== 'string') throw bad(`${where} is not a text`);
  return value;
}

/** A text, a list of texts, or nothing, as a list. */
function texts(value: unknown, where: string): readonly string[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return [value];
  return list(value, where).map((item, i) => text(item, `${where}[${i}]`));
}
