/** Makes households: a seed gives a room, its objects and a task. It knows no splits and does not check solvability. */

import { deriveRng, type Rng } from '../math/rng.ts';
import {
  type FloorPlan,
  LAMP_PLACES,
  mayContain,
  OBJECTS,
  PLANS,
  RECEPTACLES,
  UNSEEN_PLANS,
} from './household-facts.ts';
import {
  type HouseholdScene,
  orderScene,
  type SceneObject,
  type SceneReceptacle,
} from './household-scene.ts';

/** ALFRED's kinds of task with ALFWorld's share of each in training. */
export const KINDS = [
  'pick_and_place_simple',
  'look_at_obj_in_light',
  'pick_clean_then_place_in_recep',
  'pick_heat_then_place_in_recep',
  'pick_cool_then_place_in_recep',
  'pick_two_obj_and_place',
] as const;
export type Kind = (typeof KINDS)[number];
const SHARES: readonly number[] = [790, 308, 650, 459, 533, 813];

export interface SceneOptions {
  /** Which floor plans: those of training, or the four that training never sees. */
  readonly plans: 'train' | 'unseen';
  /** `small` keeps 4-10 receptacles of the plan, for a curriculum. */
  readonly size?: 'full' | 'small';
  readonly kind?: Kind;
}

/** Rooms outside these bounds are no fair task within 50 steps. */
const MIN_RECEPTACLES = 11;
const MAX_RECEPTACLES = 34;

/** The household of a seed. Equal arguments give equal scenes. */
export function makeScene(seed: number, options: SceneOptions): HouseholdScene {
  const { plans, size = 'full' } = options;
  // the kind is drawn once: drawn again with each room, kinds that few rooms allow would be rare
  const kind = options.kind ?? weighted(deriveRng(seed, 'household kind', plans), KINDS, SHARES);
  for (let attempt = 0; ; attempt++) {
    const rng = deriveRng(seed, 'household', plans, size, kind, attempt);
    const scene = tryScene(rng, kind, rng.pick(layoutsOf(plans)), size);
    if (scene !== null) return scene;
  }
}

// ---------------------------------------------------------------- floor plans

interface Layout {
  readonly plan: FloorPlan;
  readonly places: readonly {
    readonly type: string;
    readonly loc: string;
    readonly openable: boolean;
  }[];
}

const layouts = new Map<string, readonly Layout[]>();

function layoutsOf(plans: SceneOptions['plans']): readonly Layout[] {
  const known = layouts.get(plans);
  if (known !== undefined) return known;
  const made = PLANS.filter((plan) => UNSEEN_PLANS.includes(plan.id) === (plans === 'unseen'))
    .map(layoutOf)
    .filter(({ places }) => places.length >= MIN_RECEPTACLES && places.length <= MAX_RECEPTACLES);
  layouts.set(plans, made);
  return made;
}

/** A plan's furniture; what the facts leave open is drawn once per plan. */
function layoutOf(plan: FloorPlan): Layout {
  const rng = deriveRng(plan.id, 'floor plan');
  const counts = new Map(Object.entries(plan.receptacles));
  for (const type of plan.also) {
    const several = type === 'HandTowelHolder' || type === 'TowelHolder' ? 1 + rng.int(2) : 1;
    counts.set(type, (counts.get(type) ?? 0) + (type === 'StoveBurner' ? 4 : several));
  }
  // in the one genuine game at hand half of the cabinets do not open
  const someFixed = rng.next() < 0.35;
  const places = [...counts].flatMap(([type, count = 0]) =>
    Array.from({ length: count }, () => {
      const canOpen = RECEPTACLES[type]?.openable ?? false;
      const fixed = someFixed && (type === 'Cabinet' || type === 'Drawer') && rng.next() < 0.4;
      return { type, loc: '', openable: canOpen && !fixed };
    }),
  );
  for (const [i, place] of rng.shuffle(places).entries()) place.loc = `loc${i + 1}`;
  for (const group of plan.shared.slice(0, 3)) {
    const members = group.map((type, i) => {
      const same = places.filter((place) => place.type === type);
      return same[(i + group.indexOf(type)) % Math.max(1, same.length)];
    });
    for (const member of members) if (member) member.loc = members[0]?.loc ?? member.loc;
  }
  return { plan, places };
}

// ---------------------------------------------------------------- one scene

function tryScene(
  rng: Rng,
  kind: Kind,
  { plan, places }: Layout,
  size: 'full' | 'small',
): HouseholdScene | null {
  const kept = size === 'full' ? places : rng.shuffle(places).slice(0, 4 + rng.int(7));
  const receptacles = named(kept, rng);
  const types = new Set(receptacles.map((r) => r.type));
  const appliance = APPLIANCE[kind];
  if (appliance !== null && !types.has(appliance)) return null;
  const goal = pickGoal(rng, kind, plan, types);
  if (goal === null) return null;

  const objects: Omit<SceneObject, 'name'>[] = [];
  const put = (type: string, spots: readonly SceneReceptacle[], count: number) => {
    if (spots.length === 0) return;
    for (let i = 0; i < count; i++) {
      const spot = rng.pick(spots);
      objects.push({ type, flags: flagsOf(type), in: [spot.name], at: [spot.loc], holds: [] });
    }
  };
  const present = size === 'full' ? 0.92 : 0.5;
  for (const type of plan.objects) {
    if (type === goal.object || rng.next() > present) continue;
    const spots = receptacles.filter((r) => mayContain(r.type, type));
    put(type, spots, 1 + rng.int(size === 'full' ? 3 : 2));
  }
  const sources = receptacles.filter(
    (r) => r.type !== goal.receptacle && mayContain(r.type, goal.object),
  );
  if (sources.length === 0) return null;
  put(goal.object, sources, kind === 'pick_two_obj_and_place' ? 2 + rng.int(3) : 1 + rng.int(3));
  for (const type of new Set([...plan.lamps, ...(goal.lamp === '' ? [] : [goal.lamp])])) {
    put(
      type,
      receptacles.filter((r) => LAMP_PLACES.includes(r.type.toLowerCase())),
      1,
    );
  }
  if (goal.lamp !== '' && !objects.some((o) => o.type === goal.lamp)) return null;

  const chilled = objects.map((o) => {
    // as in ALFWorld: what is to be cooled and starts in a fridge is cool already
    const cold = kind === 'pick_cool_then_place_in_recep' && o.type === goal.object;
    const inFridge = o.in.some((name) => name.startsWith('fridge'));
    return cold && inFridge ? { ...o, flags: [...o.flags, 'isCool'] } : o;
  });
  return orderScene({
    task: sentence(rng, kind, goal),
    kind,
    floor: plan.id,
    receptacles,
    objects: named(chilled, rng),
    canContain: canContainOf(types, new Set(objects.map((o) => o.type))),
    start: 'loc0',
    open: [],
    goal: goalText(kind, goal),
    wording: null,
  });
}

interface GoalParts {
  readonly object: string;
  readonly receptacle: string;
  readonly lamp: string;
}

const APPLIANCE: Readonly<Record<Kind, string | null>> = {
  pick_and_place_simple: null,
  look_at_obj_in_light: null,
  pick_clean_then_place_in_recep: 'SinkBasin',
  pick_heat_then_place_in_recep: 'Microwave',
  pick_cool_then_place_in_recep: 'Fridge',
  pick_two_obj_and_place: null,
};

const NEEDS: Readonly<Record<Kind, 'pickupable' | 'cleanable' | 'heatable' | 'coolable'>> = {
  pick_and_place_simple: 'pickupable',
  look_at_obj_in_light: 'pickupable',
  pick_clean_then_place_in_recep: 'cleanable',
  pick_heat_then_place_in_recep: 'heatable',
  pick_cool_then_place_in_recep: 'coolable',
  pick_two_obj_and_place: 'pickupable',
};

function pickGoal(
  rng: Rng,
  kind: Kind,
  plan: FloorPlan,
  types: ReadonlySet<string>,
): GoalParts | null {
  const objects = plan.objects.filter((type) => OBJECTS[type]?.[NEEDS[kind]] === true);
  if (objects.length === 0) return null;
  const object = rng.pick(objects);
  if (kind === 'look_at_obj_in_light') {
    return plan.lamps.length === 0 ? null : { object, receptacle: '', lamp: rng.pick(plan.lamps) };
  }
  const goals = [...types].filter((type) => mayContain(type, object));
  return goals.length === 0 ? null : { object, receptacle: rng.pick(goals), lamp: '' };
}

function sentence(rng: Rng, kind: Kind, goal: GoalParts): string {
  const obj = goal.object.toLowerCase();
  const recep = goal.receptacle.toLowerCase();
  const toggle = goal.lamp.toLowerCase();
  const either = (a: string, b: string) => `${rng.next() < 0.5 ? a : b}.`;
  switch (kind) {
    case 'pick_and_place_simple':
      return either(`put a ${obj} in ${recep}`, `put some ${obj} on ${recep}`);
    case 'look_at_obj_in_light':
      return either(`look at ${obj} under the ${toggle}`, `examine the ${obj} with the ${toggle}`);
    case 'pick_clean_then_place_in_recep':
      return either(`put a clean ${obj} in ${recep}`, `clean some ${obj} and put it in ${recep}`);
    case 'pick_heat_then_place_in_recep':
      return either(`put a hot ${obj} in ${recep}`, `heat some ${obj} and put it in ${recep}`);
    case 'pick_cool_then_place_in_recep':
      return either(`put a cool ${obj} in ${recep}`, `cool some ${obj} and put it in ${recep}`);
    case 'pick_two_obj_and_place':
      return either(`put two ${obj} in ${recep}`, `find two ${obj} and put them in ${recep}`);
    default:
      return kind satisfies never;
  }
}

function goalText(kind: Kind, { object, receptacle, lamp }: GoalParts): string {
  const placed = (o: string) =>
    `(objectType ${o} ${object}Type) (receptacleType ?r ${receptacle}Type) (inReceptacle ${o} ?r)`;
  const one = (extra: string) =>
    `(:goal (and (exists (?r - receptacle) (exists (?o - object) (and ${extra} ${placed('?o')})))))`;
  switch (kind) {
    case 'pick_and_place_simple':
      return one('');
    case 'pick_clean_then_place_in_recep':
      return one('(cleanable ?o) (isClean ?o)');
    case 'pick_heat_then_place_in_recep':
      return one('(heatable ?o) (isHot ?o)');
    case 'pick_cool_then_place_in_recep':
      return one('(coolable ?o) (isCool ?o)');
    case 'pick_two_obj_and_place':
      return `(:goal (and (exists (?r - receptacle) (exists (?o1 - object) (and ${placed('?o1')} (exists (?o2 - object) (and (not (= ?o1 ?o2)) ${placed('?o2')})))))))`;
    case 'look_at_obj_in_light':
      return `(:goal (and (exists (?ot - object ?r - receptacle ?a - agent ?l - location) (and (objectType ?ot ${lamp}Type) (toggleable ?ot) (isToggled ?ot) (receptacleAtLocation ?r ?l) (atLocation ?a ?l) (inReceptacle ?ot ?r))) (exists (?o - object ?a - agent) (and (objectType ?o ${object}Type) (holds ?a ?o)))))`;
    default:
      return kind satisfies never;
  }
}

/** Names by type and number, numbers drawn, so that a number tells nothing about a place. */
function named<T extends { readonly type: string }>(
  things: readonly T[],
  rng: Rng,
): (T & { readonly name: string })[] {
  const counts = new Map<string, number>();
  return rng.shuffle(things).map((thing) => {
    const number = (counts.get(thing.type) ?? 0) + 1;
    counts.set(thing.type, number);
    return { ...thing, name: `${thing.type.toLowerCase()} ${number}` };
  });
}

function canContainOf(
  receptacles: ReadonlySet<string>,
  objects: ReadonlySet<string>,
): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    [...receptacles].map((type) => [
      type,
      (RECEPTACLES[type]?.canContain ?? []).filter((object) => objects.has(object)),
    ]),
  );
}

const ABILITIES = [
  'pickupable',
  'heatable',
  'coolable',
  'cleanable',
  'sliceable',
  'toggleable',
] as const;

function flagsOf(type: string): readonly string[] {
  const facts = OBJECTS[type];
  if (facts === undefined) return [];
  const flags: string[] = ABILITIES.filter((ability) => facts[ability] === true);
  return facts.canHoldObjects === undefined ? flags : [...flags, 'isReceptacleObject'];
}

function weighted<T>(rng: Rng, items: readonly T[], weights: readonly number[]): T {
  let left = rng.next() * weights.reduce((sum, weight) => sum + weight, 0);
  for (const [i, item] of items.entries()) {
    left -= weights[i] ?? 0;
    if (left < 0) return item;
  }
  return rng.pick(items);
}
