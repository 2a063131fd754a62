/** Writes the expert's one-line thought: what was just seen, then what follows from it. It knows only the history. */

import { type Decision, knownTargets, type Mind, typeOf } from '../../src/envs/household-expert.ts';
import { hash32 } from '../../src/math/rng.ts';

/** What the world last answered; null at the start. */
export type LastTurn = { readonly action: string; readonly observation: string } | null;

/** How thoughts are worded. */
export interface Wording {
  /** One thought after every refused command, since nothing was seen that could tell two of them apart. */
  readonly oneRefusal?: boolean;
}

/**
 * One line of about 8-20 words for a decision. All names in it stand in the history. The wording follows from the last
 * place's type and number, so that two places are worded differently and nothing in a thought is left to chance: a
 * small policy would spend most of its loss on guessing among equally good wordings.
 */
export function writeThought(
  mind: Mind,
  decision: Decision,
  last: LastTurn,
  { oneRefusal = false }: Wording = {},
): string {
  const slots = slotsOf(mind, decision, last);
  const group = seenGroup(mind, last, slots);
  if (oneRefusal && group === 'nothing') return TEMPLATES.nothing[0];
  const [type = '', number = '0'] = (slots.r ?? '').split(' ');
  const draw = (group: Group, key: number) => {
    const texts: readonly string[] = TEMPLATES[group];
    const fits = texts.filter((text) =>
      [...text.matchAll(/\{(\w)\}/g)].every((match) => slots[match[1] ?? ''] !== undefined),
    );
    const text = fits[key % fits.length] ?? '';
    return text.replace(/\{(\w)\}/g, (_, slot: string) => slots[slot] ?? '');
  };
  // a name stays lower-case at the start too: a small policy copies it from the observation
  return `${draw(group, hash32(type))} ${draw(planGroup(mind, decision), Number(number))}`;
}

type Slots = Partial<Record<string, string>>;

function slotsOf(mind: Mind, decision: Decision, last: LastTurn): Slots {
  const { errand } = mind;
  const { subgoal } = decision;
  const contents = last === null ? null : contentsIn(last.observation);
  const others = (contents?.names ?? []).filter((name) => typeOf(name) !== wanted(mind));
  const [x, y] = others;
  const known = knownTargets(mind).map((target) => target.object);
  const match = (contents?.names ?? []).find((name) =>
    wanted(mind) === errand.object ? known.includes(name) : typeOf(name) === wanted(mind),
  );
  const adjective = { clean: 'clean', heat: 'hot', cool: 'cool' } as Partial<
    Record<string, string>
  >;
  const about = last === null ? undefined : placeIn(last);
  const state = adjective[errand.kind];
  const slots: Slots = {
    t: wanted(mind),
    k: errand.object,
    g: errand.goal,
    e: taskPhrase(errand, state),
  };
  const set = (slot: string, value: string | null | undefined) => {
    if (value !== undefined && value !== null && value !== '') slots[slot] = value;
  };
  set('r', about);
  set('x', x);
  set('y', y);
  set('f', match);
  const ready = mind.holding !== null && mind.processed.has(mind.holding);
  set('h', ready && state !== undefined ? `${state} ${mind.holding}` : mind.holding);
  set('a', state);
  set('n', 'receptacle' in subgoal ? subgoal.receptacle : undefined);
  set('o', 'object' in subgoal ? subgoal.object : undefined);
  return slots;
}

/** What the task asks for, as it says it: `a clean plate in fridge`. */
function taskPhrase({ kind, object, goal }: Mind['errand'], state: string | undefined): string {
  if (kind === 'look') return `${object} under ${goal}`;
  return `${kind === 'two' ? 'two' : 'a'} ${state === undefined ? '' : `${state} `}${object} in ${goal}`;
}

/** The type that would help now: the object, or the lamp once the object is in hand. */
function wanted(mind: Mind): string {
  const { errand, holding } = mind;
  return errand.kind === 'look' && holding !== null && typeOf(holding) === errand.object
    ? errand.goal
    : errand.object;
}

type Group = keyof typeof TEMPLATES;

function seenGroup(mind: Mind, last: LastTurn, slots: Slots): Group {
  if (last === null) return 'start';
  const text = last.observation;
  if (text === 'Nothing happens.') return 'nothing';
  if (text.startsWith('You pick up')) return 'took';
  if (/^You (move|put) the/.test(text)) return 'moved';
  if (/^You (heat|cool|clean) the/.test(text)) {
    return mind.holding !== null && mind.processed.has(mind.holding) ? 'processed' : 'odd';
  }
  if (text.startsWith('You turn on')) return 'lit';
  // with the right thing in hand the contents do not matter
  const busy = mind.holding !== null && wanted(mind) === mind.errand.object;
  if (/is closed\.$/.test(text) || text.startsWith('You close')) return busy ? 'barred' : 'closed';
  const contents = contentsIn(text);
  if (contents === null) return 'odd';
  if (busy) return 'arrived';
  if (slots.f !== undefined) return 'found';
  if (contents.names.length === 0) return 'empty';
  // what is seen is in place already
  return contents.names.some((name) => typeOf(name) === wanted(mind)) ? 'odd' : 'missing';
}

function planGroup(mind: Mind, decision: Decision): Group {
  const { subgoal } = decision;
  switch (subgoal.name) {
    case 'search':
      return 'search';
    case 'look_inside':
      return 'inside';
    case 'fetch':
      return 'fetch';
    case 'take':
      return 'take';
    case 'carry':
      return carryGroup(mind, subgoal.object, subgoal.receptacle);
    case 'open':
      return 'open';
    case 'process':
      return mind.errand.kind === 'heat' ? 'heat' : mind.errand.kind === 'cool' ? 'cool' : 'clean';
    case 'place':
      return 'place';
    case 'put_down':
      return 'putDown';
    case 'light':
      return 'light';
    case 'recall':
      return 'recall';
    default:
      return subgoal satisfies never;
  }
}

function carryGroup(mind: Mind, object: string, receptacle: string): Group {
  const { errand } = mind;
  if (typeOf(object) !== errand.object) return 'carryAway';
  if (errand.kind === 'look') return 'carryToLamp';
  const ready = mind.processed.has(object) || errand.kind === 'place' || errand.kind === 'two';
  return ready || typeOf(receptacle) === errand.goal ? 'carryHome' : 'carryToTreat';
}

/** The receptacle that the last turn was about. */
function placeIn(last: NonNullable<LastTurn>): string | undefined {
  return (
    contentsIn(last.observation)?.receptacle ??
    /The ([a-z]+ \d+) is closed\.$/.exec(last.observation)?.[1] ??
    /(?:to|from|open|close|examine|with) ([a-z]+ \d+)$/.exec(last.action.trim())?.[1]
  );
}

function contentsIn(text: string): { receptacle: string; names: readonly string[] } | null {
  const match = /(?:On|The) (?:the )?([a-z]+ \d+)(?: is open\. In it)?, you see (.+)\.$/.exec(text);
  if (match === null) return null;
  const names = [...(match[2] ?? '').matchAll(/\ba ([a-z]+ \d+)/g)].map((m) => m[1] ?? '');
  return { receptacle: match[1] ?? '', names };
}

/**
 * Slots: t wanted type, k the task's object type, g the goal's type, e the task in short, r the last place, x and y the
 * first things seen there, f the wanted thing seen there, h the thing in hand with the state it got, n the place chosen,
 * o the thing chosen, a the state asked for.
 *
 * What is seen is told as `Check fork 1: Good` or `Check fork here: No`: what follows the word is what followed it when
 * it was last read, its number in this observation or `here` in the thought before. A small transformer learns to go on
 * as before (induction) long before it learns to compare an observation with a task.
 */
const TEMPLATES = {
  start: ['The task is {e}.'],
  missing: [
    'Check {t} here: No, only {x}.',
    'Check {t} here: No, just {x} and {y}.',
    'Check {t} here: No, {r} keeps {x}.',
    'Check {t} here: No, {x} does not help.',
    'Check {t} here: No, I see {x}.',
    'Check {t} here: No, it stores {x}.',
    'Check {t} here: No, {r} has {x}.',
  ],
  empty: [
    'Check {t} here: No, {r} is empty.',
    'Check {t} here: No things at {r}.',
    'Check {t} here: No, {r} gave me nothing.',
    'Check {t} here: No, an empty place again.',
    'Check {t} here: No, nothing in {r}.',
  ],
  found: [
    'Check {f}: Good, at {r}.',
    'Check {f}: Good, it is here.',
    'Check {f}: Good, it stands here.',
    'Check {f}: Good, on {r} at last.',
  ],
  closed: [
    '{r} is shut.',
    'The door of {r} is closed.',
    'Cannot see into {r} now.',
    '{r} hides what it holds.',
    'A closed {r} may keep things.',
    'Its door blocks my view.',
  ],
  barred: [
    '{r} is shut, I carry {h}.',
    'The door of {r} is closed, {h} in hand.',
    'Standing at closed {r} with {h}.',
  ],
  took: [
    'Now I hold {h} for {e}.',
    '{h} is in my hand: {e}.',
    'Got {h}, wanted is {e}.',
    'Picked up {h} for {e}.',
    'With {h} taken: {e}.',
  ],
  moved: [
    'That one is put at {r}.',
    '{r} received it, hands free.',
    'Placed it, but the task goes on.',
    'My hand is empty again.',
    'One thing rests on {r} now.',
  ],
  processed: [
    'It is {h} now: {e}.',
    'It became {h} as asked for {e}.',
    'I have {h}, good for {e}.',
    'Done with that, {h} for {e}.',
  ],
  lit: ['The light shines.', 'Lamp switched on.', 'It glows now.'],
  arrived: [
    'I reached {r} with {h} for {e}.',
    'Standing at {r}, {h} in hand: {e}.',
    'Here is {r}; I carry {h} for {e}.',
    '{r} at last, bringing {h}: {e}.',
    'Came to {r} holding {h}, task {e}.',
  ],
  nothing: [
    'That had no effect.',
    'Nothing happened, so change the plan.',
    'This command fails, do not repeat it.',
    'The world refused that.',
    'It did not work; think again.',
    'Useless try, something else then.',
    'No reaction, I was wrong there.',
  ],
  odd: [
    'That told me little.',
    'Fine, back to the task.',
    'Now on with the work.',
    'No news in that.',
    'I should return to the task.',
  ],
  search: [
    'Next I try {n}.',
    '{n} was not looked at yet.',
    'Go on with {n}.',
    'Maybe {n} has one.',
    'Walk over to {n}.',
    'My search continues at {n}.',
    'Could be around {n}.',
    '{n} comes next in order.',
    'Perhaps someone left it by {n}.',
  ],
  inside: [
    'Look inside {n}.',
    'Open up and check {n}.',
    'I must see what {n} contains.',
    'Let us find out what is in {n}.',
    'So I have to view {n} properly.',
  ],
  fetch: [
    'I remember {o} at {n}.',
    'Return to {n}, there was {o}.',
    '{o} waits on {n}.',
    'Earlier {n} showed {o}, go get it.',
    'Fetch {o} from {n}.',
  ],
  take: [
    'Take {o} along.',
    'Grab {o} for the {g}.',
    'Pick up {o} from {n}.',
    'So I pick {o}.',
    'My empty hand can get {o}.',
    'That {o} belongs to my task.',
  ],
  carryToTreat: [
    'It must be {a}, so bring it to {n}.',
    '{n} can make {o} {a}.',
    'Before {g} it needs {n}.',
    'To get it {a} I visit {n}.',
    'Use {n} for this, then {g}.',
  ],
  carryHome: [
    'Bring it to {n}.',
    '{o} belongs at {n}.',
    'The goal is {g}, so head for {n}.',
    'Deliver {o} to {n}.',
    'Only {n} is left to reach.',
  ],
  carryToLamp: [
    'The {g} stands at {n}.',
    'Light is by {n}, walk there with {o}.',
    'Take {o} under the {g} near {n}.',
    'I saw a {g} on {n}.',
  ],
  carryAway: [
    '{o} is not wanted, leave it at {n}.',
    'Free my hand of {o} at {n}.',
    'Wrong thing {o}; {n} can store it.',
    'Get rid of {o}, {n} takes it.',
  ],
  open: [
    'Open {n} first.',
    '{n} needs opening before anything else.',
    'To use {n} its door must open.',
    'Pull {n} open for {o}.',
  ],
  heat: [
    'Heat {o} in {n}.',
    'Make it hot with {n}.',
    '{n} warms {o} right away.',
    'Warm up the {k} here.',
  ],
  cool: [
    'Cool {o} with {n}.',
    'Chill it using {n}.',
    '{n} makes {o} cold.',
    'Let the {k} get cold here.',
  ],
  clean: [
    'Clean {o} with {n}.',
    'Wash it in {n}.',
    '{n} rinses {o}.',
    'Water here cleans the {k}.',
  ],
  place: [
    'Put {o} down on {n}.',
    'Leave {o} here as asked.',
    '{n} is the {g}, place it.',
    'Here it belongs: {o} to {n}.',
    'Set the {k} into {n}.',
  ],
  putDown: [
    'Put {o} away, it is no help.',
    '{o} was a mistake, drop it at {n}.',
    'First empty my hand onto {n}.',
    'Leave the useless {o} here.',
  ],
  light: [
    'Switch on {o}.',
    'Turn the {o} on to look at {h}.',
    'Use {o} while holding {h}.',
    'Now light {o}.',
  ],
  recall: [
    'Where am I and what do I have?',
    'Look around to be sure.',
    'Check again with open eyes.',
    'I lost track, see once more.',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;
