/** Plays the household from observations alone, as a person would: it remembers what it saw. It never reads the world's state. */

import { LabError } from '../errors.ts';
import { deriveRng } from '../math/rng.ts';
import { mayHold } from './household-facts.ts';
import { NOTHING, say } from './household-wording.ts';

/** What a task sentence asks for. */
export interface Errand {
  readonly kind: 'place' | 'clean' | 'heat' | 'cool' | 'two' | 'look';
  /** Object type as a word, e.g. `saltshaker`. */
  readonly object: string;
  /** Where it has to go; for `look` the lamp's type. */
  readonly goal: string;
}

/** In which order receptacles are searched. */
export type SearchOrder =
  | 'random'
  | 'list' // as the room lists them
  | 'types' // types in random order, within a type as listed
  | 'likely' // receptacles that may hold the object first, each part as in `types`
  | 'likely_list'; // the same, each part as in `list`

/** Why an action was chosen; names are those of the world. */
export type Subgoal =
  | { readonly name: 'search' | 'look_inside'; readonly receptacle: string }
  | { readonly name: 'fetch' | 'take'; readonly object: string; readonly receptacle: string }
  | {
      readonly name: 'carry' | 'open' | 'process' | 'place' | 'put_down' | 'light';
      readonly object: string;
      readonly receptacle: string;
    }
  | { readonly name: 'recall' }; // it lost track, and looks

export interface Decision {
  readonly action: string;
  readonly subgoal: Subgoal;
}

/** What was seen so far. Mutable: {@link observe} is its only writer. */
export interface Mind {
  readonly errand: Errand;
  /** In listing order. */
  readonly receptacles: readonly string[];
  /** In the order of search. */
  readonly order: readonly string[];
  /** Contents as last seen; absent while unknown. */
  readonly seen: Map<string, readonly string[]>;
  readonly shut: Set<string>;
  /** Receptacles known to share the place of another. */
  readonly together: Map<string, Set<string>>;
  here: readonly string[];
  holding: string | null;
  /** Objects that went through the errand's appliance. */
  readonly processed: Set<string>;
  /** Commands that changed nothing since the world last changed. */
  readonly spent: Set<string>;
}

/** Starts from the task sentence and the sentence that lists the room. Throws `bad_input`. */
export function startMind(
  task: string,
  room: string,
  search: { readonly order: SearchOrder; readonly seed: number },
): Mind {
  const errand = readErrand(task);
  const receptacles = namesIn(room);
  return {
    errand,
    receptacles,
    order: orderOf(receptacles, errand, search.order, search.seed),
    seen: new Map(),
    shut: new Set(),
    together: new Map(),
    here: [],
    holding: null,
    processed: new Set(),
    spent: new Set(),
  };
}

/** Reads ALFWorld's twelve task sentences. */
export function readErrand(task: string): Errand {
  for (const [kind, pattern] of SENTENCES) {
    const match = pattern.exec(task.trim());
    if (match !== null) return { kind, object: match[1] ?? '', goal: match[2] ?? '' };
  }
  throw new LabError(
    'bad_input',
    `The expert cannot read the task "${task}". Expected one of ALFWorld's sentences, e.g. "put a hot potato in sinkbasin.".`,
  );
}

/** Takes in what the world answered to an action. */
export function observe(mind: Mind, action: string, observation: string): void {
  const text = observation.trim();
  const target = /^(?:go to|open|close|examine) (.+)$/.exec(action.trim())?.[1] ?? '';
  if (text === NOTHING) {
    // the usual reason why a known receptacle cannot be gone to: it is here already
    if (action.startsWith('go to ') && mind.receptacles.includes(target) && mind.here.length > 0) {
      if (!mind.here.includes(target)) beside(mind, [...mind.here, target]);
    }
    mind.spent.add(action.trim());
    return;
  }
  if (/^You (?:open|close|pick|move|put|heat|cool|clean|turn|arrive)/.test(text)) {
    mind.spent.clear();
  } else {
    mind.spent.add(action.trim());
  }
  if (text.startsWith('You arrive at ')) {
    mind.here = [target, ...(mind.together.get(target) ?? [])];
  }
  readContents(mind, text);
  const facing = /^You are facing the (.+?)\. Next/.exec(text)?.[1];
  if (facing !== undefined) beside(mind, facing.split(/, (?:and )?/));
  const shut = /^You close the (.+)\.$/.exec(text)?.[1] ?? /The (.+) is closed\.$/.exec(text)?.[1];
  if (shut !== undefined) mind.shut.add(shut);
  readHands(mind, text);
}

/**
 * The expert as a player of a household, from its first observation (ALFWorld's three parts).
 * `put` gives the command for putting something down, which 0.3 words otherwise than 0.4.
 */
export function playExpert(
  opening: string,
  search: { readonly order: SearchOrder; readonly seed: number },
  put = 'move {o} to {r}',
): { act(): string; see(action: string, observation: string): void } {
  const [, room = '', task = ''] = opening.split('\n\n');
  const mind = startMind(task.replace(/^Your task is to: /, ''), room, search);
  return {
    act: () => {
      const { action, subgoal } = decide(mind);
      const placing = action.startsWith('move ') && 'object' in subgoal;
      return placing ? say(put, { o: subgoal.object, r: subgoal.receptacle }) : action;
    },
    see: (action, observation) => observe(mind, action, observation),
  };
}

/** The next action of the expert and why. Reads the mind and leaves it as it is. */
export function decide(mind: Mind): Decision {
  const wanted = mind.holding === null ? emptyHanded(mind) : handsFull(mind, mind.holding);
  if (!mind.spent.has(wanted.action)) return wanted;
  // what it believes is wrong somewhere: look again, then try elsewhere
  for (const action of ['look', 'inventory', ...mind.here.map((r) => `examine ${r}`)]) {
    if (!mind.spent.has(action)) return { action, subgoal: { name: 'recall' } };
  }
  const away = mind.order.find((r) => !mind.here.includes(r)) ?? '';
  return { action: `go to ${away}`, subgoal: { name: 'recall' } };
}

/** The target objects that were seen, with where, best first; without those that are in place. */
export function knownTargets(
  mind: Mind,
): readonly { readonly object: string; readonly receptacle: string }[] {
  const { errand } = mind;
  const home = errand.kind === 'two' ? homeOf(mind) : null;
  return [...mind.seen].flatMap(([receptacle, objects]) =>
    objects
      .filter((object) => typeOf(object) === errand.object)
      .filter((object) => receptacle !== home && !isDone(mind, object, receptacle))
      .map((object) => ({ object, receptacle })),
  );
}

/** Receptacles whose inside is not known yet, in the order of search. */
function unsearched(mind: Mind): readonly string[] {
  return mind.order.filter((r) => !mind.seen.has(r));
}

/** `cabinet 12` to `cabinet`. */
export function typeOf(name: string): string {
  return name.replace(/ \d+$/, '');
}

// ---------------------------------------------------------------- deciding

function emptyHanded(mind: Mind): Decision {
  const known = knownTargets(mind);
  const best = known.find(({ receptacle }) => mind.here.includes(receptacle)) ?? known[0];
  if (best !== undefined) {
    const { object, receptacle } = best;
    if (!mind.here.includes(receptacle)) {
      return { action: `go to ${receptacle}`, subgoal: { name: 'fetch', object, receptacle } };
    }
    if (mind.shut.has(receptacle)) {
      return { action: `open ${receptacle}`, subgoal: { name: 'open', object, receptacle } };
    }
    const subgoal: Subgoal = { name: 'take', object, receptacle };
    return { action: `take ${object} from ${receptacle}`, subgoal };
  }
  return search(mind);
}

function search(mind: Mind): Decision {
  const left = unsearched(mind);
  const inside = left.find((r) => mind.here.includes(r) && mind.shut.has(r));
  const receptacle = inside ?? left[0];
  if (receptacle === undefined) {
    // everything was seen: the picture is wrong, so look again from the start
    const again = mind.order.find((r) => !mind.here.includes(r)) ?? '';
    return { action: `go to ${again}`, subgoal: { name: 'recall' } };
  }
  if (!mind.here.includes(receptacle)) {
    return { action: `go to ${receptacle}`, subgoal: { name: 'search', receptacle } };
  }
  const verb = mind.shut.has(receptacle) ? 'open' : 'examine';
  return { action: `${verb} ${receptacle}`, subgoal: { name: 'look_inside', receptacle } };
}

function handsFull(mind: Mind, object: string): Decision {
  const { errand } = mind;
  if (typeOf(object) !== errand.object) return putDown(mind, object);
  if (errand.kind === 'look') return light(mind, object);
  if (errand.kind in APPLIANCES && !mind.processed.has(object)) {
    const word = APPLIANCES[errand.kind as keyof typeof APPLIANCES]; // checked by `in`
    const receptacle = nearest(mind, (r) => typeOf(r) === word);
    if (receptacle === undefined) return search(mind);
    if (!mind.here.includes(receptacle)) return carry(object, receptacle);
    const action = `${errand.kind} ${object} with ${receptacle}`;
    return { action, subgoal: { name: 'process', object, receptacle } };
  }
  const home = homeOf(mind) ?? nearest(mind, (r) => typeOf(r) === errand.goal);
  return home === undefined ? search(mind) : bring(mind, object, home, 'place');
}

function light(mind: Mind, object: string): Decision {
  for (const [receptacle, objects] of mind.seen) {
    const lamp = objects.find((name) => typeOf(name) === mind.errand.goal);
    if (lamp === undefined) continue;
    if (!mind.here.includes(receptacle)) return carry(object, receptacle);
    return { action: `use ${lamp}`, subgoal: { name: 'light', object: lamp, receptacle } };
  }
  return search(mind);
}

function putDown(mind: Mind, object: string): Decision {
  const spot =
    mind.here.find((r) => !mind.shut.has(r) && mayHold(typeOf(r), typeOf(object))) ??
    nearest(mind, (r) => mayHold(typeOf(r), typeOf(object)));
  return spot === undefined ? search(mind) : bring(mind, object, spot, 'put_down');
}

function bring(
  mind: Mind,
  object: string,
  receptacle: string,
  name: 'place' | 'put_down',
): Decision {
  if (!mind.here.includes(receptacle)) return carry(object, receptacle);
  if (mind.shut.has(receptacle)) {
    return { action: `open ${receptacle}`, subgoal: { name: 'open', object, receptacle } };
  }
  const tried = [`move ${object} to ${receptacle}`, `put ${object} in/on ${receptacle}`];
  if (tried.some((command) => mind.spent.has(command))) {
    return { action: `open ${receptacle}`, subgoal: { name: 'open', object, receptacle } };
  }
  return { action: `move ${object} to ${receptacle}`, subgoal: { name, object, receptacle } };
}

function carry(object: string, receptacle: string): Decision {
  return { action: `go to ${receptacle}`, subgoal: { name: 'carry', object, receptacle } };
}

/** One that is here, else one known to be open, else the first listed. */
function nearest(mind: Mind, fits: (receptacle: string) => boolean): string | undefined {
  const all = mind.receptacles.filter(fits);
  return (
    all.find((r) => mind.here.includes(r)) ??
    all.find((r) => mind.seen.has(r) && !mind.shut.has(r)) ??
    all[0]
  );
}

/** For two objects: the goal receptacle that already holds most of them. */
function homeOf(mind: Mind): string | null {
  let home: string | null = null;
  let most = 0;
  if (mind.errand.kind !== 'two') return null;
  for (const [receptacle, objects] of mind.seen) {
    if (typeOf(receptacle) !== mind.errand.goal) continue;
    const count = objects.filter((object) => typeOf(object) === mind.errand.object).length;
    if (count > most) [home, most] = [receptacle, count];
  }
  return home;
}

function isDone(mind: Mind, object: string, receptacle: string): boolean {
  const { kind, goal } = mind.errand;
  if (kind === 'look' || kind === 'two' || typeOf(receptacle) !== goal) return false;
  return kind === 'place' || mind.processed.has(object);
}

// ---------------------------------------------------------------- reading

const APPLIANCES = { heat: 'microwave', cool: 'fridge', clean: 'sinkbasin' } as const;

const SENTENCES: readonly (readonly [Errand['kind'], RegExp])[] = [
  ['clean', /^put a clean (\w+) in (\w+)\.?$/],
  ['heat', /^put a hot (\w+) in (\w+)\.?$/],
  ['cool', /^put a cool (\w+) in (\w+)\.?$/],
  ['clean', /^clean some (\w+) and put it in (\w+)\.?$/],
  ['heat', /^heat some (\w+) and put it in (\w+)\.?$/],
  ['cool', /^cool some (\w+) and put it in (\w+)\.?$/],
  ['two', /^put two (\w+) in (\w+)\.?$/],
  ['two', /^find two (\w+) and put them in (\w+)\.?$/],
  ['place', /^put a (\w+) in (\w+)\.?$/],
  ['place', /^put some (\w+) on (\w+)\.?$/],
  ['look', /^look at (\w+) under the (\w+)\.?$/],
  ['look', /^examine the (\w+) with the (\w+)\.?$/],
];

/** The names in `…you see a cup 2, a cup 1, and a mug 1.` */
function namesIn(text: string): readonly string[] {
  const list = /you see (.+?)\.(?:\s|$)/s.exec(text)?.[1] ?? '';
  return list === 'nothing' ? [] : [...list.matchAll(/\ban? ([a-z]+ \d+)/g)].map((m) => m[1] ?? '');
}

function readContents(mind: Mind, text: string): void {
  const seen = /(?:On|The) (?:the )?([a-z]+ \d+)(?: is open\. In it)?, you see /.exec(text)?.[1];
  if (seen === undefined || !mind.receptacles.includes(seen)) return;
  mind.seen.set(seen, namesIn(text));
  mind.shut.delete(seen);
}

function readHands(mind: Mind, text: string): void {
  const taken = /^You pick up the (.+) from the (.+)\.$/.exec(text);
  if (taken !== null) {
    const [, object = '', receptacle = ''] = taken;
    mind.holding = object;
    edit(mind, receptacle, (objects) => objects.filter((name) => name !== object));
  }
  const put = /^You (?:move|put) the (.+) (?:to|in\/on) the (.+)\.$/.exec(text);
  if (put !== null) {
    const [, object = '', receptacle = ''] = put;
    mind.holding = null;
    edit(mind, receptacle, (objects) => [...objects, object]);
  }
  const done = /^You (heat|cool|clean) the (.+) using the /.exec(text);
  if (done !== null) {
    const [, verb = '', object = ''] = done;
    if (verb === mind.errand.kind) mind.processed.add(object);
    else if (verb !== 'clean' && mind.errand.kind !== 'clean') mind.processed.delete(object);
  }
  const carrying = /^You are carrying: an? (.+)\.$/.exec(text);
  if (carrying !== null) mind.holding = carrying[1] ?? null;
  if (text === 'You are not carrying anything.') mind.holding = null;
}

function edit(
  mind: Mind,
  receptacle: string,
  change: (objects: readonly string[]) => readonly string[],
): void {
  mind.seen.set(receptacle, change(mind.seen.get(receptacle) ?? []));
}

/** Notes that receptacles share the place where the agent stands. */
function beside(mind: Mind, names: readonly string[]): void {
  for (const name of names) {
    const others = mind.together.get(name) ?? new Set();
    for (const other of names) if (other !== name) others.add(other);
    mind.together.set(name, others);
  }
  mind.here = names;
}

function orderOf(
  receptacles: readonly string[],
  errand: Errand,
  order: SearchOrder,
  seed: number,
): readonly string[] {
  const rng = deriveRng(seed, 'search order', order);
  if (order === 'list') return receptacles;
  if (order === 'random') return rng.shuffle(receptacles);
  const types = rng.shuffle([...new Set(receptacles.map(typeOf))]);
  const sorted =
    order === 'likely_list'
      ? receptacles
      : types.flatMap((type) => receptacles.filter((r) => typeOf(r) === type));
  if (order === 'types') return sorted;
  const likely = (r: string) => mayHold(typeOf(r), errand.object);
  return [...sorted.filter(likely), ...sorted.filter((r) => !likely(r))];
}
