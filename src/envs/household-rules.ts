/** The rules of a household: which commands are admissible and what they change. It writes no feedback and knows no tasks. */

import { type GoalWorld, prepareGoal, readGoal } from './household-goal.ts';
import {
  type HouseholdScene,
  type HouseholdState,
  MARKS,
  type Mark,
  type SceneObject,
  type SceneReceptacle,
} from './household-scene.ts';

/** A command that names things of the scene. */
export type Command =
  | { readonly verb: 'look' | 'inventory' | 'help' }
  | {
      readonly verb: 'go' | 'open' | 'close' | 'examineReceptacle';
      readonly receptacle: SceneReceptacle;
    }
  | { readonly verb: 'examineObject' | 'use'; readonly object: SceneObject }
  | {
      readonly verb: 'take' | 'move' | 'heat' | 'clean' | 'cool';
      readonly object: SceneObject;
      readonly receptacle: SceneReceptacle;
    }
  | { readonly verb: 'slice'; readonly object: SceneObject; readonly knife: SceneObject };

/** A scene with its look-up tables. */
export interface House {
  readonly scene: HouseholdScene;
  readonly receptacles: ReadonlyMap<string, SceneReceptacle>;
  readonly objects: ReadonlyMap<string, SceneObject>;
  readonly at: ReadonlyMap<string, readonly SceneReceptacle[]>;
  /** Place of a name in scene order. */
  readonly rank: ReadonlyMap<string, number>;
  readonly fits: ReadonlySet<string>;
  readonly won: (now: GoalWorld) => boolean;
}

/** Which receptacle types do what; slicing asks for a knife instead. */
const APPLIANCES = { heat: 'Microwave', clean: 'SinkBasin', cool: 'Fridge' } as const;
const ABLE = { heat: 'heatable', clean: 'cleanable', cool: 'coolable' } as const;
const KNIVES: readonly string[] = ['Knife', 'ButterKnife'];

const houses = new WeakMap<HouseholdScene, House>();

/** The tables of a scene, made once per scene object. */
export function houseOf(scene: HouseholdScene): House {
  const known = houses.get(scene);
  if (known !== undefined) return known;
  const at = new Map<string, SceneReceptacle[]>();
  for (const r of scene.receptacles) {
    const here = at.get(r.loc);
    if (here === undefined) at.set(r.loc, [r]);
    else here.push(r);
  }
  const names = [...scene.receptacles, ...scene.objects].map((thing) => thing.name);
  const tables = {
    scene,
    receptacles: new Map(scene.receptacles.map((r) => [r.name, r])),
    objects: new Map(scene.objects.map((o) => [o.name, o])),
    at,
    rank: new Map(names.map((name, i) => [name, i])),
    fits: new Set(
      Object.entries(scene.canContain).flatMap(([r, objects]) => objects.map((o) => `${r} ${o}`)),
    ),
  };
  const fixed = (predicate: string) => !CHANGING.has(predicate);
  const won = prepareGoal(readGoal(scene.goal), goalWorld(tables, startState(scene)), fixed);
  const house = { ...tables, won };
  houses.set(scene, house);
  return house;
}

/** The world at the start of an episode. */
export function startState(scene: HouseholdScene): HouseholdState {
  const contents: Record<string, string[]> = {};
  const around: Record<string, string[]> = {};
  const taken: Record<string, string[]> = {};
  const marks: Record<Mark, string[]> = {
    isHot: [],
    isCool: [],
    isClean: [],
    isSliced: [],
    isToggled: [],
  };
  for (const r of scene.receptacles) {
    contents[r.name] = [];
    taken[r.name] = [];
    around[r.loc] = [];
  }
  for (const o of scene.objects) {
    for (const name of o.in) contents[name]?.push(o.name);
    for (const loc of o.at) around[loc]?.push(o.name);
    for (const mark of MARKS) if (o.flags.includes(mark)) marks[mark].push(o.name);
  }
  const open = scene.receptacles.map((r) => r.name).filter((name) => scene.open.includes(name));
  return { scene, location: scene.start, holding: null, open, contents, around, taken, marks };
}

/** Whether the world accepts a command now. */
export function allowed(house: House, state: HouseholdState, command: Command): boolean {
  switch (command.verb) {
    case 'look':
    case 'inventory':
    case 'help':
      return true;
    case 'go':
      return command.receptacle.loc !== state.location;
    case 'examineReceptacle':
      return isHere(state, command.receptacle);
    case 'open':
      return (
        command.receptacle.openable &&
        isHere(state, command.receptacle) &&
        !state.open.includes(command.receptacle.name)
      );
    case 'close':
      return (
        command.receptacle.openable &&
        isHere(state, command.receptacle) &&
        state.open.includes(command.receptacle.name)
      );
    case 'examineObject':
      return state.holding === command.object.name;
    case 'take':
      return (
        state.holding === null &&
        isHere(state, command.receptacle) &&
        !isShut(state, command.receptacle) &&
        command.object.flags.includes('pickupable') &&
        inside(state, command.object, command.receptacle)
      );
    case 'move':
      return (
        state.holding === command.object.name &&
        isHere(state, command.receptacle) &&
        !isShut(state, command.receptacle) &&
        house.fits.has(`${command.receptacle.type} ${command.object.type}`)
      );
    case 'heat':
    case 'clean':
    case 'cool':
      return (
        state.holding === command.object.name &&
        isHere(state, command.receptacle) &&
        command.receptacle.type === APPLIANCES[command.verb] &&
        command.object.flags.includes(ABLE[command.verb])
      );
    case 'use':
      return (
        command.object.flags.includes('toggleable') &&
        here(house, state).some((r) => inside(state, command.object, r))
      );
    case 'slice':
      return (
        state.holding === command.knife.name &&
        KNIVES.includes(command.knife.type) &&
        command.object.flags.includes('sliceable') &&
        (state.around[state.location]?.includes(command.object.name) ?? false)
      );
    default:
      return command satisfies never;
  }
}

/** Every command that {@link allowed} accepts now, in no order. */
export function allowedCommands(house: House, state: HouseholdState): Command[] {
  const places = here(house, state);
  const held = state.holding === null ? undefined : house.objects.get(state.holding);
  const commands: Command[] = [{ verb: 'look' }, { verb: 'inventory' }, { verb: 'help' }];
  for (const receptacle of house.scene.receptacles) commands.push({ verb: 'go', receptacle });
  for (const receptacle of places) {
    for (const verb of ['open', 'close', 'examineReceptacle'] as const) {
      commands.push({ verb, receptacle });
    }
    for (const name of state.contents[receptacle.name] ?? []) {
      const object = house.objects.get(name);
      if (object === undefined) continue;
      commands.push({ verb: 'take', object, receptacle }, { verb: 'use', object });
    }
    if (held === undefined) continue;
    for (const verb of ['move', 'heat', 'clean', 'cool'] as const) {
      commands.push({ verb, object: held, receptacle });
    }
  }
  if (held !== undefined) {
    commands.push({ verb: 'examineObject', object: held });
    for (const name of state.around[state.location] ?? []) {
      const object = house.objects.get(name);
      if (object !== undefined) commands.push({ verb: 'slice', object, knife: held });
    }
  }
  return commands.filter((command) => allowed(house, state, command));
}

/** The world after an allowed command; the same object when nothing changes. */
export function apply(house: House, state: HouseholdState, command: Command): HouseholdState {
  const add = (names: readonly string[] = [], name: string) => insert(house, names, name);
  switch (command.verb) {
    case 'look':
    case 'inventory':
    case 'help':
    case 'examineReceptacle':
    case 'examineObject':
      return state;
    case 'go':
      return { ...state, location: command.receptacle.loc };
    case 'open':
      return { ...state, open: add(state.open, command.receptacle.name) };
    case 'close':
      return { ...state, open: without(state.open, command.receptacle.name) };
    case 'take': {
      const { object, receptacle } = command;
      return {
        ...state,
        holding: object.name,
        contents: change(state.contents, receptacle.name, (l) => without(l, object.name)),
        around: change(state.around, receptacle.loc, (l) => without(l, object.name)),
        taken: change(state.taken, receptacle.name, (l) => add(l, object.name)),
      };
    }
    case 'move': {
      const { object, receptacle } = command;
      return {
        ...state,
        holding: null,
        contents: change(state.contents, receptacle.name, (l) => add(l, object.name)),
        around: change(state.around, receptacle.loc, (l) => add(l, object.name)),
        taken: change(state.taken, receptacle.name, (l) => without(l, object.name)),
      };
    }
    case 'heat':
      return marked(house, state, command.object, 'isHot', 'isCool');
    case 'cool':
      return marked(house, state, command.object, 'isCool', 'isHot');
    case 'clean':
      return marked(house, state, command.object, 'isClean');
    case 'use':
      return marked(house, state, command.object, 'isToggled');
    case 'slice':
      return marked(house, state, command.object, 'isSliced');
    default:
      return command satisfies never;
  }
}

/** Whether the task is done. */
export function isWon(house: House, state: HouseholdState): boolean {
  return house.won(goalWorld(house, state));
}

/** The receptacles where the agent stands, in scene order; none at the start. */
export function here(house: House, state: HouseholdState): readonly SceneReceptacle[] {
  return house.at.get(state.location) ?? [];
}

export function isShut(state: HouseholdState, receptacle: SceneReceptacle): boolean {
  return receptacle.openable && !state.open.includes(receptacle.name);
}

/** Objects at this place that were taken from one of its receptacles and are now in another one. */
export function besides(house: House, state: HouseholdState): readonly string[] {
  const places = here(house, state);
  return (state.around[state.location] ?? []).filter((name) =>
    places.some(
      (r) => state.taken[r.name]?.includes(name) && !state.contents[r.name]?.includes(name),
    ),
  );
}

/** Predicates that commands change; all others are fixed by the scene. */
const CHANGING: ReadonlySet<string> = new Set([
  ...MARKS,
  'inReceptacle',
  'objectAtLocation',
  'atLocation',
  'holds',
  'holdsAny',
  'opened',
]);

function goalWorld(house: Omit<House, 'won'>, state: HouseholdState): GoalWorld {
  return {
    all: (type) => {
      if (type === 'agent') return ['agent1'];
      if (type === 'location') return [...house.at.keys()];
      if (type === 'receptacle') return house.scene.receptacles.map((r) => r.name);
      return house.scene.objects.map((o) => o.name);
    },
    holds: (predicate, [a = '', b = '']) => {
      if (isMark(predicate)) return state.marks[predicate].includes(a);
      switch (predicate) {
        case 'inReceptacle':
          return state.contents[b]?.includes(a) ?? false;
        case 'objectAtLocation':
          return state.around[b]?.includes(a) ?? false;
        case 'atLocation':
          return state.location === b;
        case 'holds':
          return state.holding === b;
        case 'holdsAny':
          return state.holding !== null;
        case 'opened':
          return state.open.includes(a);
        case 'openable':
          return house.receptacles.get(a)?.openable ?? false;
        case 'receptacleAtLocation':
          return house.receptacles.get(a)?.loc === b;
        case 'receptacleType':
          return `${house.receptacles.get(a)?.type}Type` === b;
        case 'objectType':
          return `${house.objects.get(a)?.type}Type` === b;
        case 'inReceptacleObject':
          return house.objects.get(b)?.holds.includes(a) ?? false;
        default:
          return house.objects.get(a)?.flags.includes(predicate) ?? false;
      }
    },
  };
}

function isMark(predicate: string): predicate is Mark {
  return (MARKS as readonly string[]).includes(predicate); // widens only to search
}

function isHere(state: HouseholdState, receptacle: SceneReceptacle): boolean {
  return receptacle.loc === state.location;
}

function inside(state: HouseholdState, object: SceneObject, receptacle: SceneReceptacle): boolean {
  return state.contents[receptacle.name]?.includes(object.name) ?? false;
}

function marked(
  house: House,
  state: HouseholdState,
  object: SceneObject,
  on: Mark,
  off?: Mark,
): HouseholdState {
  const marks = { ...state.marks, [on]: insert(house, state.marks[on], object.name) };
  if (off !== undefined) marks[off] = without(state.marks[off], object.name);
  return { ...state, marks };
}

function change(
  lists: Readonly<Record<string, readonly string[]>>,
  key: string,
  edit: (names: readonly string[]) => readonly string[],
): Readonly<Record<string, readonly string[]>> {
  return { ...lists, [key]: edit(lists[key] ?? []) };
}

function without(names: readonly string[], name: string): readonly string[] {
  return names.filter((other) => other !== name);
}

/** Keeps scene order, so that equal worlds are equal JSON. */
function insert(house: House, names: readonly string[], name: string): readonly string[] {
  if (names.includes(name)) return names;
  const rank = house.rank.get(name) ?? 0;
  const at = names.findIndex((other) => (house.rank.get(other) ?? 0) > rank);
  return at < 0 ? [...names, name] : names.toSpliced(at, 0, name);
}
