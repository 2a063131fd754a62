/** The frozen task sets: ALFWorld's sizes and kinds, no scene in two of them, every task solvable. */

import { describe, expect, test } from 'vitest';
import { household, resetScene, stepHousehold } from './household.ts';
import { playExpert } from './household-expert.ts';
import { PLANS, UNSEEN_PLANS } from './household-facts.ts';
import { KINDS } from './household-generate.ts';
import splits from './household-splits.json';
import { sceneOfTask } from './household-tasks.ts';

const names = household.description.splits.map(({ name }) => name);

describe('splits', () => {
  test('have the sizes and the kinds of ALFWorld', () => {
    const kinds = (split: string) =>
      KINDS.map((kind) => household.tasks(split).filter((task) => task.kind === kind).length);
    // pick, look, clean, heat, cool, two
    expect(kinds('valid_seen')).toEqual([35, 13, 27, 16, 25, 24]);
    expect(kinds('valid_unseen')).toEqual([24, 18, 31, 23, 21, 17]);
    expect(household.tasks('train')).toHaveLength(3553);
    expect(household.tasks('unseen-1000')).toHaveLength(1000);
  });
  test('share no world', () => {
    const seeds = Object.values(splits).flatMap((tasks) => tasks.map(([, seed]) => seed));
    expect(new Set(seeds).size).toBe(3553 + 140 + 134 + 1000);
  });
  test('begin with all kinds in about their shares', () => {
    for (const name of names) {
      const tasks = household.tasks(name);
      for (const kind of KINDS) {
        const share = tasks.filter((task) => task.kind === kind).length / tasks.length;
        const among30 = tasks.slice(0, 30).filter((task) => task.kind === kind).length;
        expect(Math.abs(among30 - 30 * share), `${name} ${kind}`).toBeLessThan(1);
      }
    }
  });
  test('keep the unseen floor plans to themselves', () => {
    for (const name of names) {
      for (const task of household.tasks(name).slice(0, 60)) {
        const { floor } = sceneOfTask(task);
        const unseen = UNSEEN_PLANS.includes(floor ?? 0);
        expect(unseen, `${name} ${task.index}`).toBe(name.includes('unseen'));
      }
    }
  });
});

describe('a world', () => {
  const tasks = names.flatMap((name) => household.tasks(name).slice(0, 40));
  const scenes = tasks.map((task) => ({ task, scene: sceneOfTask(task) }));

  test('has the sentence and the kind of its task', () => {
    for (const { task, scene } of scenes) {
      expect([scene.task, scene.kind]).toEqual([task.goal, task.kind]);
    }
  });
  test('has 11 to 34 receptacles, up to 64 objects and at most four of a type', () => {
    for (const { scene } of scenes) {
      expect(scene.receptacles.length).toBeGreaterThanOrEqual(11);
      expect(scene.receptacles.length).toBeLessThanOrEqual(34);
      expect(scene.objects.length).toBeLessThanOrEqual(64);
      for (const { type } of scene.objects) {
        const same = scene.objects.filter((other) => other.type === type);
        expect(same.length, type).toBeLessThanOrEqual(4);
      }
    }
  });
  test('puts an object only where its type may be, with a place of its own room', () => {
    for (const { scene } of scenes) {
      const byName = new Map(scene.receptacles.map((r) => [r.name, r]));
      for (const o of scene.objects) {
        const place = byName.get(o.in[0] ?? '');
        if (o.flags.includes('toggleable')) continue; // a lamp stands where nobody can put one
        expect(scene.canContain[place?.type ?? ''], `${o.name} in ${place?.name}`).toContain(
          o.type,
        );
        expect(o.at).toEqual([place?.loc]);
      }
      expect(PLANS.some((plan) => plan.id === scene.floor)).toBe(true);
    }
  });
  test('does not start with a target in the goal receptacle', () => {
    for (const { scene } of scenes) {
      const goal = /receptacleType \?r (\w+)Type/.exec(scene.goal)?.[1];
      const target = /objectType \?o1? (\w+)Type/.exec(scene.goal)?.[1];
      for (const o of scene.objects.filter(({ type }) => type === target)) {
        expect(o.in[0]?.startsWith(`${goal?.toLowerCase()} `)).toBe(false);
      }
    }
  });
});

test.each(['valid_seen', 'valid_unseen'])(
  'every task of %s is solvable in 50 steps',
  (split) => {
    for (const task of household.tasks(split)) {
      const start = household.initial(task);
      const expert = playExpert(start.observation, { order: 'likely', seed: 1 });
      let { state } = start;
      let won = false;
      for (let t = 0; t < 50 && !won; t++) {
        const action = expert.act();
        const step = stepHousehold(state, action);
        expert.see(action, step.observation);
        ({ state } = step);
        won = step.terminated;
      }
      expect(won, `${split} ${task.index}: ${task.goal}`).toBe(true);
      expect(resetScene(sceneOfTask(task)).observation).toBe(start.observation);
    }
  },
  60_000,
);
