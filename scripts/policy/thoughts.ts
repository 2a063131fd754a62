/** Writes the expert's one-line thought: what was just seen, then what follows from it. It knows only the history. */

import {
  type Decision,
  knownTargets,
  type Mind,
  typeOf,
  unsearched,
} from '../../src/envs/household-expert.ts';
import type { Rng } from '../../src/math/rng.ts';

/** What the world last answered; null at the start. */
export type LastTurn = { readonly action: string; readonly observation: string } | null;

/** How often each template was used in this episode, so that two steps are not near-copies. */
export type UsedTemplates = Map<string, number>;

/**
 * One line of about 8-15 words for a decision. All names in it stand in the history. The template is
 * drawn among the least used ones.
 */
export function writeThought(
  mind: Mind,
  decision: Decision,
  last: LastTurn,
  rng: Rng,
  used: UsedTemplates,
): string {
  const slots = slotsOf(mind, decision, last, rng);
  const draw = (group: keyof typeof TEMPLATES) => {
    const texts: readonly string[] = TEMPLATES[group];
    const fits = texts.filter((text) =>
      [...text.matchAll(/\{(\w)\}/g)].every((match) => slots[match[1] ?? ''] !== undefined),
    );
    const least = Math.min(...fits.map((text) => used.get(text) ?? 0));
    const text = rng.pick(fits.filter((candidate) => (used.get(candidate) ?? 0) === least));
    used.set(text, least + 1);
    return text.replace(/\{(\w)\}/g, (_, slot: string) => slots[slot] ?? '');
  };
  // a name stays lower-case at the start too: a small policy copies it from the observation
  return `${draw(seenGroup(mind, last, slots))} ${draw(planGroup(mind, decision))}`;
}

type Slots = Partial<Record<string, string>>;

function slotsOf(mind: Mind, decision: Decision, last: LastTurn, rng: Rng): Slots {
  const { errand } = mind;
  const { subgoal } = decision;
  const contents = last === null ? null : contentsIn(last.observation);
  const others = (contents?.names ?? []).filter((name) => typeOf(name) !== wanted(mind));
  const [x, y] = rng.shuffle(others);
  const known = knownTargets(mind).map((target) => target.object);
  const match = (contents?.names ?? []).find((name) =>
    wanted(mind) === errand.object ? known.includes(name) : typeOf(name) === wanted(mind),
  );
  const left = unsearched(mind).filter(
    (r) => !('receptacle' in subgoal) || r !== subgoal.receptacle,
  );
  const adjective = { clean: 'clean', heat: 'hot', cool: 'cool' } as Partial<
    Record<string, string>
  >;
  const about = last === null ? undefined : placeIn(last);
  const slots: Slots = { t: wanted(mind), k: errand.object, g: errand.goal };
  const set = (slot: string, value: string | null | undefined) => {
    if (value !== undefined && value !== null && value !== '') slots[slot] = value;
  };
  set('r', about);
  set('x', x);
  set('y', y);
  set('f', match);
  set('m', left[0]);
  set('h', mind.holding);
  set('a', adjective[errand.kind]);
  set('n', 'receptacle' in subgoal ? subgoal.receptacle : undefined);
  set('o', 'object' in subgoal ? subgoal.object : undefined);
  return slots;
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
  if (/is closed\.$/.test(text) || text.startsWith('You close')) return 'closed';
  const contents = contentsIn(text);
  if (contents === null) return 'odd';
  // with the right thing in hand the contents do not matter
  const busy = mind.holding !== null && wanted(mind) === mind.errand.object;
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
 * Slots: t wanted type, k the task's object type, g the goal's type, r the last place, x and y things
 * seen there, f the wanted thing seen there, h the thing in hand, n the place chosen, m another place
 * not searched yet, o the thing chosen, a the state asked for.
 */
const TEMPLATES = {
  start: [
    'I need a {t} first.',
    'My task asks for a {k}.',
    'Where could a {t} be?',
    'Nothing seen so far, {k} wanted.',
    'Start looking for a {t}.',
  ],
  missing: [
    'No {t} on {r}, only {x}.',
    'Here I see {x} and {y}, not a {t}.',
    '{r} has {x} but no {t}.',
    '{x} does not help, I want {t}.',
    'Still without {t}: {r} just keeps {x}.',
    'A {t} is not among {x}, {y}.',
    '{r} lacks the {t}.',
    'This place holds {x}; the {t} must lie elsewhere.',
    'Saw {y}, {x}, yet never a {t}.',
    'Wrong spot for {t}, it stores {x}.',
    'What stands here is {x}, {t} absent.',
  ],
  empty: [
    '{r} is empty.',
    'Nothing lies in {r}.',
    'No things at {r}, so no {t}.',
    'Bare {r}, the {t} hides elsewhere.',
    'An empty place again, where is the {t}?',
    '{r} gave me nothing.',
    'Found none of {t} there.',
  ],
  found: [
    '{f} is here at {r}!',
    'I see {f} on {r}.',
    'There it is: {f}.',
    '{r} has {f}, the thing I need.',
    'Good, {f} stands in front of me.',
    'A {t} at last, {f}.',
  ],
  closed: [
    '{r} is shut.',
    'The door of {r} is closed.',
    'Cannot see into {r} now.',
    '{r} hides what it holds.',
    'A closed {r} may keep things.',
    'Its door blocks my view.',
  ],
  took: [
    'Now I hold {h}.',
    '{h} is in my hand.',
    'Got {h} from {r}.',
    'Picked up {h} well.',
    'With {h} taken, move on.',
  ],
  moved: [
    'That one is put at {r}.',
    '{r} received it, hands free.',
    'Placed it, but the task goes on.',
    'My hand is empty again.',
    'One thing rests on {r} now.',
  ],
  processed: [
    '{h} is {a} now.',
    'It became {a} as asked.',
    'The {k} got {a}, good.',
    'Done with that, {h} counts as {a}.',
  ],
  lit: ['The light shines.', 'Lamp switched on.', 'It glows now.'],
  arrived: [
    'I reached {r} with {h}.',
    'Standing at {r}, {h} in hand.',
    'Here is {r}; I carry {h}.',
    '{r} at last, bringing {h}.',
    'Came to {r} holding {h}.',
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
    'I should return to the {k}.',
  ],
  search: [
    'Next I try {n}.',
    '{n} was not looked at yet.',
    'Go on with {n}.',
    'Maybe {n} has one.',
    'Not checked so far: {n}, {m}.',
    'Unseen remain {n} and {m}.',
    'Walk over to {n}.',
    'Let me inspect {n} before {m}.',
    'My search continues at {n}.',
    'Could be around {n}.',
    '{n} comes next in order.',
    'Perhaps someone left it by {n}.',
  ],
  inside: [
    'Look inside {n} for {t}.',
    'Open up and check {n}.',
    'I must see what {n} contains.',
    '{t} might be within.',
    'Let us find out what is in {n}.',
    'Peek into it, hoping for {t}.',
    'So I have to view {n} properly.',
    'Perhaps its inside shows a {t}.',
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
    'Put {o} away, I need {k}.',
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
