/** The words of a household: command templates and feedback, for ALFWorld 0.4, for 0.3, or read from a game file. */

/** A text for the first rule whose flags all hold; `!x` asks that x does not. */
export type WordingRule = { readonly when: readonly string[]; readonly say: string };

/**
 * Templates with `{o}` object, `{r}` receptacle, `{l}` location, `{k}` knife, `{list}` a list of names,
 * `{examine}` the text of looking at the receptacle, `{look}` and `{task}` in the intro.
 */
export type Wording = {
  readonly commands: Readonly<Record<Verb, string>>;
  readonly intro: string;
  readonly task: string;
  readonly go: string;
  readonly open: string;
  readonly close: string;
  readonly take: string;
  readonly move: string;
  readonly heat: string;
  readonly clean: string;
  readonly cool: string;
  readonly use: string;
  readonly slice: string;
  readonly help: string;
  readonly carrying: string;
  readonly emptyHanded: string;
  readonly facing: string;
  readonly middle: string;
  /** Flags: openable, opened. */
  readonly receptacle: readonly WordingRule[];
  /** Flags: lower-cased predicates of the object. */
  readonly object: readonly WordingRule[];
};

export const VERBS = [
  'look',
  'inventory',
  'help',
  'go',
  'open',
  'close',
  'examineReceptacle',
  'examineObject',
  'take',
  'move',
  'heat',
  'clean',
  'cool',
  'use',
  'slice',
] as const;
export type Verb = (typeof VERBS)[number];

/** The one answer to every command that is not admissible. */
export const NOTHING = 'Nothing happens.';

const help = (move: string) => `Available commands:
  look:                             look around your current location
  inventory:                        check your current inventory
  go to (receptacle):               move to a receptacle
  open (receptacle):                open a receptacle
  close (receptacle):               close a receptacle
  take (object) from (receptacle):  take an object from a receptacle
  ${move}  place an object in or on a receptacle
  examine (something):              examine a receptacle or an object
  use (object):                     use an object
  heat (object) with (receptacle):  heat an object using a receptacle
  clean (object) with (receptacle): clean an object using a receptacle
  cool (object) with (receptacle):  cool an object using a receptacle
  slice (object) with (object):     slice an object using a sharp object
`;

/** The wording of ALFWorld 0.4. */
export const WORDING_V04: Wording = {
  commands: {
    look: 'look',
    inventory: 'inventory',
    help: 'help',
    go: 'go to {r}',
    open: 'open {r}',
    close: 'close {r}',
    examineReceptacle: 'examine {r}',
    examineObject: 'examine {o}',
    take: 'take {o} from {r}',
    move: 'move {o} to {r}',
    heat: 'heat {o} with {r}',
    clean: 'clean {o} with {r}',
    cool: 'cool {o} with {r}',
    use: 'use {o}',
    slice: 'slice {o} with {k}',
  },
  intro: '-= Welcome to TextWorld, ALFRED! =-\n\n{look}\n\n{task}',
  task: 'Your task is to: {task}',
  go: 'You arrive at {r}. {examine}',
  open: 'You open the {r}. {examine}',
  close: 'You close the {r}.',
  take: 'You pick up the {o} from the {r}.',
  move: 'You move the {o} to the {r}.',
  heat: 'You heat the {o} using the {r}.',
  clean: 'You clean the {o} using the {r}.',
  cool: 'You cool the {o} using the {r}.',
  use: 'You turn on the {o}.',
  slice: 'You sliced the {o} with the {k}.',
  help: help('move (object) to (receptacle):'),
  carrying: 'You are carrying: {list}.',
  emptyHanded: 'You are not carrying anything.',
  facing: 'You are facing the {places}. Next to it, you see {list}.',
  middle: 'You are in the middle of a room. Looking quickly around you, you see {list}.',
  receptacle: [
    { when: ['openable', 'opened'], say: 'The {r} is open. In it, you see {list}.' },
    { when: ['openable'], say: 'The {r} is closed.' },
    { when: [], say: 'On the {r}, you see {list}.' },
  ],
  object: [
    { when: ['isreceptacleobject'], say: 'This is a normal {o}. In it, you see {list}.' },
    { when: ['isclean', 'ishot', 'issliced'], say: 'This is a hot and clean sliced {o}.' },
    { when: ['isclean', 'iscool', 'issliced'], say: 'This is a cool and clean sliced {o}.' },
    { when: ['isclean', 'issliced'], say: 'This is a clean sliced {o}.' },
    { when: ['ishot', 'issliced'], say: 'This is a hot sliced {o}.' },
    { when: ['iscool', 'issliced'], say: 'This is a cool sliced {o}.' },
    { when: ['isclean', 'ishot'], say: 'This is a hot and clean {o}.' },
    { when: ['isclean', 'iscool'], say: 'This is a cool and clean {o}.' },
    { when: ['ishot'], say: 'This is a hot {o}.' },
    { when: ['isclean'], say: 'This is a clean {o}.' },
    { when: ['iscool'], say: 'This is a cold {o}.' },
    { when: ['toggleable', 'istoggled'], say: 'This {o} is on.' },
    { when: ['toggleable', '!istoggled'], say: 'This {o} is off.' },
    { when: ['sliceable', 'issliced'], say: 'This is a sliced {o}.' },
    { when: [], say: "There's nothing special about {o}." },
  ],
};

/** The wording up to ALFWorld 0.3, as older papers (ReAct) print it. */
export const WORDING_V03: Wording = {
  ...WORDING_V04,
  commands: { ...WORDING_V04.commands, move: 'put {o} in/on {r}' },
  go: 'You arrive at {l}. {examine}',
  move: 'You put the {o} in/on the {r}.',
  help: help('put (object) in/on (receptacle): '),
};

/** A template with its slots filled; an unknown slot stays as it is. */
export function say(template: string, slots: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (whole, slot: string) => slots[slot] ?? whole);
}

/** `a cup 2, a cup 1, and a mug 1`; the last separator is the same for two; empty: `nothing`. */
export function nameList(names: readonly string[], article = 'a '): string {
  if (names.length === 0) return 'nothing';
  const items = names.map((name) => article + name);
  const last = items.pop() ?? '';
  return items.length === 0 ? last : `${items.join(', ')}, and ${last}`;
}

/** The text of the first rule that fits. */
export function firstRule(rules: readonly WordingRule[], holds: (flag: string) => boolean): string {
  const fits = (flag: string) => (flag.startsWith('!') ? !holds(flag.slice(1)) : holds(flag));
  return rules.find((rule) => rule.when.every(fits))?.say ?? '';
}
