/** The rules and quirks of environments that ALFWorld's own games show, on a world small enough to check by hand. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { household, householdV03, resetScene, stepHousehold } from './household.ts';
import { makeScene } from './household-generate.ts';
import { type HouseholdScene, type HouseholdState, readScene } from './household-scene.ts';
import { WORDING_V03 } from './household-wording.ts';

/** Two receptacles share loc1; the lamp is in a closed drawer; the vase is in two places at once. */
const scene = readScene({
  task: 'put two mug in shelf',
  goal: { task_type: 'pick_two_obj_and_place' },
  goalPddl:
    '(:goal (exists (?r - receptacle) (exists (?a - object) (exists (?b - object) (and (not (= ?a ?b)) (objectType ?a MugType) (objectType ?b MugType) (receptacleType ?r ShelfType) (inReceptacle ?a ?r) (inReceptacle ?b ?r))))))',
  receptacles: [
    { name: 'shelf 1', type: 'Shelf', loc: 'loc1', openable: false },
    { name: 'shelf 2', type: 'Shelf', loc: 'loc1', openable: false },
    { name: 'drawer 1', type: 'Drawer', loc: 'loc2', openable: true },
    { name: 'microwave 1', type: 'Microwave', loc: 'loc3', openable: true },
    { name: 'fridge 1', type: 'Fridge', loc: 'loc4', openable: true },
    { name: 'sinkbasin 1', type: 'SinkBasin', loc: 'loc5', openable: false },
  ],
  objects: [
    { name: 'mug 1', type: 'Mug', in: 'shelf 1', flags: mug() },
    {
      name: 'mug 2',
      type: 'Mug',
      in: 'sinkbasin 1',
      flags: [...mug(), 'isHot'],
      holds: ['fork 1'],
    },
    { name: 'fork 1', type: 'Fork', in: 'sinkbasin 1', flags: ['pickupable', 'cleanable'] },
    { name: 'egg 1', type: 'Egg', in: 'fridge 1', flags: food() },
    { name: 'egg 2', type: 'Egg', in: 'sinkbasin 1', flags: [...food(), 'isCool'] },
    { name: 'knife 1', type: 'Knife', in: 'sinkbasin 1', flags: ['pickupable'] },
    { name: 'vase 1', type: 'Vase', in: ['shelf 1', 'shelf 2'], flags: ['pickupable'] },
    { name: 'desklamp 1', type: 'DeskLamp', in: 'drawer 1', flags: ['toggleable'] },
  ],
  canContain: [
    ['Shelf', 'Mug'],
    ['Shelf', 'Vase'],
    ['Shelf', 'Egg'],
    ['Drawer', 'Fork'],
    ['Microwave', 'Egg'],
  ],
});

function mug() {
  return ['pickupable', 'heatable', 'coolable', 'cleanable', 'isReceptacleObject'];
}
function food() {
  return ['pickupable', 'heatable', 'coolable', 'cleanable', 'sliceable'];
}

/** Plays commands and gives what the last one was answered. */
function play(commands: readonly string[], from: HouseholdScene = scene) {
  let last = { ...resetScene(from), reward: 0, terminated: false };
  for (const command of commands) last = stepHousehold(last.state, command);
  return last;
}
const say = (...commands: readonly string[]) => play(commands).observation;
const admissible = (state: HouseholdState) => household.admissible?.(state) ?? [];

describe('the first observation', () => {
  test('has three parts, lists types ascending and numbers descending, and ends with the task', () => {
    expect(resetScene(scene).observation).toBe(
      '-= Welcome to TextWorld, ALFRED! =-\n\nYou are in the middle of a room. Looking quickly around you, you see a drawer 1, a fridge 1, a microwave 1, a shelf 2, a shelf 1, and a sinkbasin 1.\n\nYour task is to: put two mug in shelf.',
    );
  });
  test('names what is no longer seen from the middle of the room', () => {
    expect(say('look')).toBe(
      'You are in the middle of a room. Looking quickly around you, you see nothing.',
    );
  });
});

describe('places', () => {
  test('that are shared are both usable, and neither can be gone to again', () => {
    expect(say('go to shelf 1', 'go to shelf 2')).toBe('Nothing happens.');
    expect(say('go to shelf 1', 'examine shelf 2')).toBe('On the shelf 2, you see a vase 1.');
    expect(say('go to shelf 2', 'look')).toBe(
      'You are facing the shelf 2, and shelf 1. Next to it, you see nothing.',
    );
  });
  test('show what was taken from one of their receptacles and put in the other', () => {
    expect(say('go to shelf 1', 'take mug 1 from shelf 1', 'move mug 1 to shelf 2', 'look')).toBe(
      'You are facing the shelf 2, and shelf 1. Next to it, you see a mug 1.',
    );
    const back = ['take mug 1 from shelf 2', 'move mug 1 to shelf 1', 'look'];
    expect(
      say('go to shelf 1', 'take mug 1 from shelf 1', 'move mug 1 to shelf 2', ...back),
    ).toMatch(/Next to it, you see a mug 1\.$/);
  });
  test('keep an object that was in two of them in the other one when it is taken', () => {
    const taken = ['go to shelf 1', 'take vase 1 from shelf 1'];
    expect(say(...taken, 'examine shelf 1')).toBe('On the shelf 1, you see a mug 1.');
    expect(say(...taken, 'examine shelf 2')).toBe('On the shelf 2, you see a vase 1.');
    expect(say(...taken, 'inventory')).toBe('You are carrying: a vase 1.');
  });
});

describe('doors', () => {
  test('that are closed hide what is inside and refuse taking and putting', () => {
    expect(say('go to fridge 1')).toBe('You arrive at fridge 1. The fridge 1 is closed.');
    expect(say('go to fridge 1', 'take egg 1 from fridge 1')).toBe('Nothing happens.');
    expect(say('go to fridge 1', 'open fridge 1')).toBe(
      'You open the fridge 1. The fridge 1 is open. In it, you see a egg 1.',
    );
    expect(say('go to fridge 1', 'open fridge 1', 'open fridge 1')).toBe('Nothing happens.');
    expect(say('go to fridge 1', 'open fridge 1', 'close fridge 1')).toBe(
      'You close the fridge 1.',
    );
    const egg = ['go to sinkbasin 1', 'take egg 2 from sinkbasin 1', 'go to microwave 1'];
    expect(say(...egg, 'move egg 2 to microwave 1')).toBe('Nothing happens.');
    expect(say(...egg, 'open microwave 1', 'move egg 2 to microwave 1')).toBe(
      'You move the egg 2 to the microwave 1.',
    );
  });
  test('may stay closed while heating and cooling, and a lamp behind one can be switched on', () => {
    const egg = ['go to sinkbasin 1', 'take egg 2 from sinkbasin 1'];
    expect(say(...egg, 'go to microwave 1', 'heat egg 2 with microwave 1')).toBe(
      'You heat the egg 2 using the microwave 1.',
    );
    expect(say('go to drawer 1', 'use desklamp 1')).toBe('You turn on the desklamp 1.');
  });
});

describe('objects', () => {
  test('are examined only in hand', () => {
    expect(say('go to shelf 1', 'examine mug 1')).toBe('Nothing happens.');
  });
  test('that hold others say so, whatever else they are', () => {
    expect(say('go to sinkbasin 1', 'take mug 2 from sinkbasin 1', 'examine mug 2')).toBe(
      'This is a normal mug 2. In it, you see a fork 1.',
    );
  });
  test('that start with a mark have it', () => {
    const egg = ['go to sinkbasin 1', 'take egg 2 from sinkbasin 1'];
    expect(say(...egg, 'examine egg 2')).toBe('This is a cold egg 2.');
    expect(say(...egg, 'clean egg 2 with sinkbasin 1', 'examine egg 2')).toBe(
      'This is a cool and clean egg 2.',
    );
    const heat = ['go to microwave 1', 'heat egg 2 with microwave 1'];
    expect(say(...egg, ...heat, 'examine egg 2')).toBe('This is a hot egg 2.');
  });
  test('go one at a time, only where their type may go, and are never dropped', () => {
    const egg = ['go to sinkbasin 1', 'take egg 2 from sinkbasin 1'];
    expect(say(...egg, 'take knife 1 from sinkbasin 1')).toBe('Nothing happens.');
    expect(say(...egg, 'move egg 2 to sinkbasin 1')).toBe('Nothing happens.');
    expect(admissible(play(egg).state).filter((c) => /drop|put/.test(c))).toEqual([]);
  });
  test('are sliced with a knife where they lie', () => {
    const knife = ['go to sinkbasin 1', 'take knife 1 from sinkbasin 1'];
    expect(say(...knife, 'slice egg 2 with knife 1')).toBe(
      'You sliced the egg 2 with the knife 1.',
    );
    expect(say(...knife, 'slice egg 1 with knife 1')).toBe('Nothing happens.');
  });
});

describe('a task', () => {
  test('of two ends when both are in the same receptacle, not in two of its type', () => {
    const second = ['go to sinkbasin 1', 'take mug 2 from sinkbasin 1', 'go to shelf 1'];
    const apart = play([...second, 'move mug 2 to shelf 2']);
    expect([apart.reward, apart.terminated]).toEqual([0, false]);
    const together = play([...second, 'move mug 2 to shelf 1']);
    expect([together.reward, together.terminated, together.info.won]).toEqual([1, true, true]);
  });
});

describe('a command', () => {
  test('is read exactly, but for spaces around it', () => {
    expect(say('  go to fridge 1 ')).toMatch(/^You arrive/);
    for (const wrong of ['Go to fridge 1', 'go to  fridge 1', 'go to fridge', 'go to fridge 1.']) {
      expect(say(wrong), wrong).toBe('Nothing happens.');
    }
  });
  test('is accepted exactly when it is listed', () => {
    const words = fc.constantFrom(...vocabulary());
    fc.assert(
      fc.property(fc.array(words, { maxLength: 12 }), words, (commands, command) => {
        const { state } = play(commands);
        const accepted = stepHousehold(state, command).observation !== 'Nothing happens.';
        expect(accepted).toBe(admissible(state).includes(command));
      }),
      { numRuns: 300 },
    );
  });
  test('to a place and back leaves an equal world with an equal hash', () => {
    const there = play(['go to fridge 1']);
    const back = play(['go to fridge 1', 'open fridge 1', 'close fridge 1']);
    expect(back.state).toEqual(there.state);
    expect(back.info.stateHash).toBe(there.info.stateHash);
    expect(play(['go to shelf 1']).info.stateHash).not.toBe(there.info.stateHash);
  });
});

/** Every command that any template and any names give. */
function vocabulary(): string[] {
  const places = scene.receptacles.map((r) => r.name);
  const things = scene.objects.map((o) => o.name);
  const pairs = (verb: string, word: string) =>
    things.flatMap((o) => places.map((r) => `${verb} ${o} ${word} ${r}`));
  return [
    ...['look', 'inventory', 'help'],
    ...places.flatMap((r) => [`go to ${r}`, `open ${r}`, `close ${r}`, `examine ${r}`]),
    ...things.flatMap((o) => [`examine ${o}`, `use ${o}`, `slice ${o} with knife 1`]),
    ...pairs('take', 'from'),
    ...pairs('move', 'to'),
    ...['heat', 'cool', 'clean'].flatMap((verb) => pairs(verb, 'with')),
  ];
}

describe('the wording of ALFWorld 0.3', () => {
  const older = (commands: readonly string[]) => {
    let last = { ...resetScene(scene, WORDING_V03), reward: 0, terminated: false };
    for (const command of commands) last = householdV03.step(last.state, command);
    return last;
  };
  const carry = ['go to shelf 1', 'take mug 1 from shelf 1'];
  test('puts things in/on a receptacle and does not know move', () => {
    expect(older([...carry, 'put mug 1 in/on shelf 2']).observation).toBe(
      'You put the mug 1 in/on the shelf 2.',
    );
    expect(older([...carry, 'move mug 1 to shelf 2']).observation).toBe('Nothing happens.');
    expect(householdV03.admissible?.(older(carry).state)).toContain('put mug 1 in/on shelf 1');
    expect(household.admissible?.(older(carry).state)).toContain('move mug 1 to shelf 1');
  });
  test('arrives at a location', () => {
    expect(older(['go to fridge 1']).observation).toBe(
      'You arrive at loc 4. The fridge 1 is closed.',
    );
  });
});

test('a world made from a seed is the same again, and another for another seed', () => {
  const at = (seed: number) => resetScene(makeScene(seed, { plans: 'train' }));
  expect(at(7)).toEqual(at(7));
  expect(at(7).info.stateHash).not.toBe(at(8).info.stateHash);
});
