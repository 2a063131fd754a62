/** Commands and observations of a household as text. It decides nothing: the rules do. */

import { besides, type Command, type House, here, isShut } from './household-rules.ts';
import type { HouseholdState, SceneObject, SceneReceptacle } from './household-scene.ts';
import { firstRule, nameList, say, VERBS, type Verb, type Wording } from './household-wording.ts';

/** Reads a command exactly as written; null when it fits no template or names nothing in the scene. */
export function readCommand(house: House, wording: Wording, text: string): Command | null {
  for (const { verb, pattern, slots } of patternsOf(wording)) {
    const match = pattern.exec(text);
    if (match === null) continue;
    const named: Partial<Record<string, string>> = {};
    for (const [i, slot] of slots.entries()) named[slot] = match[i + 1];
    const command = makeCommand(house, verb, named);
    if (command !== null) return command;
  }
  return null;
}

/** The inverse of {@link readCommand}. */
export function writeCommand(wording: Wording, command: Command): string {
  return say(wording.commands[command.verb], slotsOf(command));
}

/** What the world says after an allowed command; `state` is the world after it. */
export function feedback(
  house: House,
  wording: Wording,
  state: HouseholdState,
  command: Command,
): string {
  const slots = slotsOf(command);
  switch (command.verb) {
    case 'look':
      return lookText(house, wording, state, []);
    case 'inventory':
      return state.holding === null
        ? wording.emptyHanded
        : say(wording.carrying, { list: nameList([state.holding]) });
    case 'help':
      return wording.help;
    case 'examineReceptacle':
      return receptacleText(wording, state, command.receptacle);
    case 'examineObject':
      return objectText(wording, state, command.object);
    case 'go':
    case 'open':
      return say(wording[command.verb], {
        ...slots,
        l: locationName(command.receptacle.loc),
        examine: receptacleText(wording, state, command.receptacle),
      });
    case 'close':
    case 'take':
    case 'move':
    case 'heat':
    case 'clean':
    case 'cool':
    case 'use':
    case 'slice':
      return say(wording[command.verb], slots);
    default:
      return command satisfies never;
  }
}

/** The first observation of an episode, in three parts. */
export function introText(house: House, wording: Wording, state: HouseholdState): string {
  const all = house.scene.receptacles.map((r) => r.name);
  return say(wording.intro, {
    look: lookText(house, wording, state, all),
    task: say(wording.task, { task: house.scene.task }),
  });
}

/** In the middle of a room the intro lists every receptacle, a later `look` none. */
function lookText(
  house: House,
  wording: Wording,
  state: HouseholdState,
  seenFromMiddle: readonly string[],
): string {
  const places = here(house, state).map((r) => r.name);
  if (places.length === 0) return say(wording.middle, { list: nameList(seenFromMiddle) });
  return say(wording.facing, {
    places: nameList(places, ''),
    list: nameList(besides(house, state)),
  });
}

function receptacleText(wording: Wording, state: HouseholdState, r: SceneReceptacle): string {
  const rule = firstRule(
    wording.receptacle,
    (flag) => r.openable && (flag === 'openable' || (flag === 'opened' && !isShut(state, r))),
  );
  return say(rule, { r: r.name, list: nameList(state.contents[r.name] ?? []) });
}

function objectText(wording: Wording, state: HouseholdState, o: SceneObject): string {
  const flags = new Set(o.flags.map((flag) => flag.toLowerCase()));
  for (const [mark, names] of Object.entries(state.marks)) {
    if (names.includes(o.name)) flags.add(mark.toLowerCase());
    else flags.delete(mark.toLowerCase());
  }
  const rule = firstRule(wording.object, (flag) => flags.has(flag));
  return say(rule, { o: o.name, list: nameList(o.holds) });
}

/** `loc12` as 0.3 prints it: `loc 12`. */
function locationName(loc: string): string {
  return loc.replace(/^loc(\d+)$/, 'loc $1');
}

function slotsOf(command: Command): Record<string, string> {
  const slots: Record<string, string> = {};
  if ('receptacle' in command) slots.r = command.receptacle.name;
  if ('object' in command) slots.o = command.object.name;
  if ('knife' in command) slots.k = command.knife.name;
  return slots;
}

function makeCommand(
  house: House,
  verb: Verb,
  named: Partial<Record<string, string>>,
): Command | null {
  const receptacle = house.receptacles.get(named.r ?? '');
  const object = house.objects.get(named.o ?? '');
  const knife = house.objects.get(named.k ?? '');
  switch (verb) {
    case 'look':
    case 'inventory':
    case 'help':
      return { verb };
    case 'go':
    case 'open':
    case 'close':
    case 'examineReceptacle':
      return receptacle === undefined ? null : { verb, receptacle };
    case 'examineObject':
    case 'use':
      return object === undefined ? null : { verb, object };
    case 'take':
    case 'move':
    case 'heat':
    case 'clean':
    case 'cool':
      return receptacle === undefined || object === undefined ? null : { verb, object, receptacle };
    case 'slice':
      return object === undefined || knife === undefined ? null : { verb, object, knife };
    default:
      return verb satisfies never;
  }
}

interface Pattern {
  readonly verb: Verb;
  readonly pattern: RegExp;
  readonly slots: readonly string[];
}

const patterns = new WeakMap<Wording, readonly Pattern[]>();

function patternsOf(wording: Wording): readonly Pattern[] {
  const known = patterns.get(wording);
  if (known !== undefined) return known;
  const made = VERBS.map((verb): Pattern => {
    const template = wording.commands[verb];
    const source = template.replace(/[.*+?^$()|[\]\\/]/g, '\\$&').replace(/\{\w+\}/g, '(.+)');
    return {
      verb,
      pattern: new RegExp(`^${source}$`),
      slots: [...template.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? ''),
    };
  });
  patterns.set(wording, made);
  return made;
}
