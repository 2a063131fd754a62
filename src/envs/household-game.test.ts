/** Game files: names, relations, older grammars and files that are none. */

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { LabError } from '../errors.ts';
import { household, resetScene } from './household.ts';
import { nameAll, readGame } from './household-game.ts';
import { readScene } from './household-scene.ts';
import { environment, openTaskFile } from './list.ts';

const folder = 'e2e/fixtures/alfworld/06-pick_heat_then_place_in_recep';
const text = readFileSync(`${folder}/game.tw-pddl`, 'utf8');
const game: { grammar: string; pddl_problem: string; walkthrough?: unknown } = JSON.parse(text);

describe('names', () => {
  test('are sorted in lower case, and the first id has the highest number', () => {
    const ids = ['CD_bar_2', 'Cabinet_bar_1', 'CabinetX', 'cd_bar_1', 'CD_bar_3'];
    expect(Object.fromEntries(nameAll(ids))).toEqual({
      CabinetX: 'cabinetx',
      Cabinet_bar_1: 'cabinet 1',
      cd_bar_1: 'cd 3',
      CD_bar_2: 'cd 2',
      CD_bar_3: 'cd 1',
    });
  });
  test('of a basin are not those of its sink', () => {
    const names = nameAll(['Sink_bar_1', 'Sink_bar_1_bar_SinkBasin', 'Sink_bar_2_bar_SinkBasin']);
    expect([...names.values()].sort()).toEqual(['sink 1', 'sinkbasin 1', 'sinkbasin 2']);
  });
});

describe('relations', () => {
  /** Facts added to the problem. */
  const withFacts = (facts: string) =>
    readGame({ ...game, pddl_problem: game.pddl_problem.replace('(:init', `(:init ${facts}`) });
  const id = (type: string) => new RegExp(`\\((?:object|receptacle)Type (\\S+) ${type}Type`);
  const first = (type: string) => id(type).exec(game.pddl_problem)?.[1] ?? '';

  test('may put an object in two receptacles', () => {
    const scene = withFacts(`(inReceptacle ${first('Mug')} ${first('Toaster')})`);
    const twice = scene.objects.filter((o) => o.in.length === 2);
    expect(twice.map((o) => o.type)).toEqual(['Mug']);
    expect(twice[0]?.in).toContain('toaster 1');
  });
  test('may put an object in another one', () => {
    const scene = withFacts(`(inReceptacleObject ${first('Fork')} ${first('Mug')})`);
    expect(scene.objects.filter((o) => o.holds.length > 0).map((o) => o.type)).toEqual(['Mug']);
  });
  test('may set marks and open doors at the start', () => {
    const { state } = resetScene(
      withFacts(`(isHot ${first('Mug')}) (opened ${first('Fridge')}) (= (distance a b) 3)`),
    );
    expect(state.marks.isHot).toHaveLength(1);
    expect(state.open).toEqual(['fridge 1']);
  });
});

test('a file without a walkthrough is a game all the same', () => {
  const { walkthrough: _, ...rest } = game;
  expect(readGame(rest)).toEqual(readGame(game));
});

test("a game in 0.3's grammar is played in its own words", () => {
  const grammar = game.grammar
    .replace('template :: "move {o} to {r}";', 'template :: "put {o} in/on {r}";')
    .replace('You move the {o.name} to the {r.name}.', 'You put the {o.name} in/on the {r.name}.')
    .replace('You arrive at {r.name}.', 'You arrive at {lend.name}.');
  let { state } = resetScene(readGame({ ...game, grammar }));
  const say = (command: string) => {
    const step = household.step(state, command);
    state = step.state;
    return step.observation;
  };
  expect(say('go to garbagecan 1')).toMatch(/^You arrive at loc \d+\. On the garbagecan 1/);
  expect(say('take tomato 3 from garbagecan 1')).toMatch(/^You pick up/);
  expect(say('put tomato 3 in/on garbagecan 1')).toBe(
    'You put the tomato 3 in/on the garbagecan 1.',
  );
});

describe('a dropped file', () => {
  test('becomes a task that its environment starts', async () => {
    for (const name of ['game.tw-pddl', 'scene.json']) {
      const task = openTaskFile(name, readFileSync(`${folder}/${name}`, 'utf8'));
      expect(task).toMatchObject({
        split: 'file',
        goal: 'heat some mug and put it in cabinet.',
        kind: 'pick_heat_then_place_in_recep',
      });
      const { observation } = (await environment(task.env)).initial(task);
      expect(observation).toContain('Your task is to: heat some mug and put it in cabinet.');
    }
  });
  const parts = (change: object) => JSON.stringify({ ...game, ...change });
  test.each([
    ['no JSON', '{"grammar": '],
    ['a list', '[1, 2]'],
    ['null', 'null'],
    ['an unrelated object', '{"a": 1}'],
    ['a game whose problem is cut off', parts({ pddl_problem: game.pddl_problem.slice(0, 9000) })],
    ['a game with an empty problem', parts({ pddl_problem: '' })],
    ['a game whose problem lacks a goal', parts({ pddl_problem: '(define (:objects) (:init))' })],
    ['a game without rules', parts({ grammar: 'grammar :: """{}""";' })],
    ['a game whose rules are no JSON', parts({ grammar: 'grammar :: """{""";' })],
    ['a game whose problem is a number', parts({ pddl_problem: 3 })],
    ['a scene without objects', '{"receptacles": [], "goalPddl": "(:goal (and))"}'],
  ])('that is %s is refused as bad input', (_, file) => {
    try {
      openTaskFile('dropped.json', file);
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(LabError);
      expect(thrown instanceof LabError && thrown.code).toBe('bad_input');
      return;
    }
    throw new Error('it was read');
  });
  test('that names a receptacle it does not have is refused with the name', () => {
    const scene = JSON.parse(readFileSync(`${folder}/scene.json`, 'utf8'));
    scene.objects[3].in = 'cabinet 99';
    expect(() => readScene(scene)).toThrow(/objects\[3\]\.in names "cabinet 99"/);
  });
});
