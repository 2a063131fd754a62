/** The household against ALFWorld itself: games that the real engine made and played. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { household, resetScene } from './household.ts';
import { readGame } from './household-game.ts';
import { type HouseholdScene, readScene } from './household-scene.ts';

interface Entry {
  readonly cmd?: string;
  readonly obs: string;
  readonly reward?: number;
  readonly done?: boolean;
  /** Admissible commands without go-to. */
  readonly adm?: readonly string[];
  readonly nGoto?: number;
  /** The whole list. */
  readonly admissible?: readonly string[];
}

const root = process.env.ALFWORLD_FIXTURES ?? 'e2e/fixtures/alfworld';
const games = readdirSync(root).filter((name) => existsSync(`${root}/${name}/game.tw-pddl`));
const json = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

function replay(scene: HouseholdScene, entries: readonly Entry[]) {
  const start = resetScene(scene);
  let state = start.state;
  for (const [i, entry] of entries.entries()) {
    const at = `step ${i}: ${entry.cmd}`;
    if (entry.cmd === undefined) {
      expect(start.observation, at).toBe(entry.obs);
    } else {
      const step = household.step(state, entry.cmd);
      expect(step.observation, at).toBe(entry.obs);
      expect([step.reward, step.terminated], at).toEqual([entry.reward, entry.done]);
      state = step.state;
    }
    const admissible = household.admissible?.(state) ?? [];
    if (entry.admissible !== undefined) expect(admissible, at).toEqual(entry.admissible);
    if (entry.adm !== undefined) {
      const goTo = admissible.filter((command) => command.startsWith('go to '));
      expect(
        admissible.filter((command) => !command.startsWith('go to ')),
        at,
      ).toEqual(entry.adm);
      expect(goTo.length, at).toBe(entry.nGoto);
    }
  }
}

describe.each(games)('%s', (game) => {
  const folder = `${root}/${game}`;
  const fromFile = readGame(readFileSync(`${folder}/game.tw-pddl`, 'utf8'));
  const scenes: [string, HouseholdScene][] = [['game.tw-pddl', fromFile]];
  if (existsSync(`${folder}/scene.json`)) {
    scenes.push(['scene.json', readScene(json(`${folder}/scene.json`))]);
    test('a scene file and a game file give the same first observation', () => {
      const { intro } = json(`${folder}/scene.json`);
      for (const [, scene] of scenes) expect(resetScene(scene).observation).toBe(intro);
    });
  }
  const walks = ['golden', 'directed', 'transcript'].filter((n) =>
    existsSync(`${folder}/${n}.json`),
  );
  test.each(scenes.flatMap(([from, scene]) => walks.map((walk) => ({ from, scene, walk }))))(
    'from $from, $walk is equal step by step',
    ({ scene, walk }) => {
      const file = json(`${folder}/${walk}.json`);
      replay(scene, Array.isArray(file) ? file : file.steps);
    },
  );
});
