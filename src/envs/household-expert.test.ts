/** The expert's success, against the figures measured on ALFWorld-like worlds, and its choices on visited histories. */

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { deriveRng } from '../math/rng.ts';
import { household, resetScene, stepHousehold } from './household.ts';
import { playExpert, readErrand, type SearchOrder } from './household-expert.ts';
import { makeScene } from './household-generate.ts';
import { readScene } from './household-scene.ts';

interface Visit {
  readonly action: string;
  readonly observation: string;
}

/** One episode of at most 50 steps with a share of random admissible commands. */
function episode(seed: number, order: SearchOrder, noise: number) {
  const scene = makeScene(seed, { plans: 'train' });
  const start = resetScene(scene);
  const expert = playExpert(start.observation, { order, seed });
  const rng = deriveRng(seed, 'noise');
  const history: Visit[] = [];
  let { state } = start;
  while (history.length < 50) {
    const stray = rng.next() < noise;
    const action = stray ? rng.pick(household.admissible?.(state) ?? []) : expert.act();
    const step = stepHousehold(state, action);
    history.push({ action, observation: step.observation });
    if (step.terminated) return { scene, history, won: true };
    expert.see(action, step.observation);
    state = step.state;
  }
  return { scene, history, won: false };
}

function measure(count: number, order: SearchOrder, noise: number) {
  const seeds = Array.from({ length: count }, (_, i) => i + 1);
  const episodes = seeds.map((seed) => episode(seed, order, noise));
  const won = episodes.filter((e) => e.won);
  const steps = won.reduce((sum, e) => sum + e.history.length, 0);
  return { success: won.length / count, mean: steps / won.length };
}

/**
 * On ALFWorld-like worlds: likely 99.5 % in 13.6 steps, random 97.8 % in 19.1, with 15 % noise 91 % in
 * 20.6, with 30 % 82 % in 22.2. This expert, over 1,000 worlds: 100 % 11.7, 99.4 % 17.0, 97.9 % 19.0,
 * 95.8 % 21.5; it comes out of noise better, so the bounds are open upwards. 120 worlds keep the test short.
 */
describe('solves within 50 steps', () => {
  test.each([
    ['likely', 0, 0.97, [9, 15]],
    ['random', 0, 0.94, [13, 21]],
    ['random', 0.15, 0.88, [15, 23]],
    ['random', 0.3, 0.8, [17, 26]],
  ] as const)('searching %s with noise %d', (order, noise, least, [fewest, most]) => {
    const { success, mean } = measure(120, order, noise);
    expect(success).toBeGreaterThanOrEqual(least);
    expect(mean).toBeGreaterThan(fewest);
    expect(mean).toBeLessThan(most);
  });
});

describe("ALFWorld's own games", () => {
  test.each([
    '00-pick_and_place_simple',
    '02-look_at_obj_in_light',
    '04-pick_clean_then_place_in_recep',
    '06-pick_heat_then_place_in_recep',
    '08-pick_cool_then_place_in_recep',
    '10-pick_two_obj_and_place',
  ])('%s is solved', (game) => {
    const file = readFileSync(`e2e/fixtures/alfworld/${game}/scene.json`, 'utf8');
    const start = resetScene(readScene(JSON.parse(file)));
    const expert = playExpert(start.observation, { order: 'likely', seed: 1 });
    let { state } = start;
    for (let t = 0; t < 50; t++) {
      const action = expert.act();
      const step = stepHousehold(state, action);
      if (step.terminated) return;
      expert.see(action, step.observation);
      state = step.state;
    }
    throw new Error('not solved in 50 steps');
  });
});

/** What the expert would do at each point of a visited history: before each of its actions, and after the last. */
function choices(
  opening: string,
  history: readonly Visit[],
  search: { readonly order: SearchOrder; readonly seed: number },
): readonly string[] {
  const expert = playExpert(opening, search);
  const after = ({ action, observation }: Visit) => {
    expert.see(action, observation);
    return expert.act();
  };
  return [expert.act(), ...history.map(after)];
}

describe('a visited history', () => {
  test('is relabelled with what the expert would have done at each point', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const { scene, history } = episode(seed, 'types', 0);
      const { observation } = resetScene(scene);
      const labels = choices(observation, history.slice(0, -1), { order: 'types', seed });
      expect(labels).toEqual(history.map(({ action }) => action));
    }
  });
  test('with a loop at its end is left by another action', () => {
    const { scene, history } = episode(3, 'likely', 0);
    const stuck: Visit = { action: 'take fork 9 from shelf 9', observation: 'Nothing happens.' };
    const loop = [...history.slice(0, 3), stuck, stuck, stuck];
    const { observation } = resetScene(scene);
    const after = choices(observation, loop, { order: 'likely', seed: 3 }).at(-1);
    expect(after).toBe(history[3]?.action);
  });
  test('in which the expert was refused everything still gets an answer', () => {
    const room = 'You are in the middle of a room. Looking quickly around you, you see a bed 1.';
    const opening = `\n\n${room}\n\nYour task is to: put a book in bed.`;
    const history: Visit[] = [];
    for (let t = 0; t < 12; t++) {
      const next = choices(opening, history, { order: 'list', seed: 1 }).at(-1) ?? '';
      expect(next).not.toBe('');
      history.push({ action: next, observation: 'Nothing happens.' });
    }
  });
});

test.each([
  ['put a hot potato in sinkbasin.', { kind: 'heat', object: 'potato', goal: 'sinkbasin' }],
  ['clean some fork and put it in drawer.', { kind: 'clean', object: 'fork', goal: 'drawer' }],
  ['find two pen and put them in desk.', { kind: 'two', object: 'pen', goal: 'desk' }],
  ['put some vase on safe.', { kind: 'place', object: 'vase', goal: 'safe' }],
  ['examine the cd with the desklamp.', { kind: 'look', object: 'cd', goal: 'desklamp' }],
])('%s is understood', (task, errand) => {
  expect(readErrand(task)).toEqual(errand);
});

test('a task in other words is refused with the words', () => {
  expect(() => readErrand('tidy up')).toThrow(/cannot read the task "tidy up"/);
});
