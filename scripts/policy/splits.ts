/**
 * Writes src/envs/household-splits.json: [kind, seed, sentence] of each task, only tasks that the expert
 * solves within 50 steps, in an order whose first few tasks stand for the whole split:
 * node scripts/policy/run.mjs scripts/policy/splits.ts
 */

import { writeFileSync } from 'node:fs';
import { household, resetScene, stepHousehold } from '../../src/envs/household.ts';
import { decide, observe, startMind } from '../../src/envs/household-expert.ts';
import { KINDS, type Kind, makeScene } from '../../src/envs/household-generate.ts';

const LIMIT = 50;

/** Solved by the observation-only expert with likely receptacles first. */
function solvable(seed: number, plans: 'train' | 'unseen', kind: Kind): boolean {
  const scene = makeScene(seed, { plans, kind });
  let { state, observation } = resetScene(scene);
  const mind = startMind(scene.task, observation.split('\n\n')[1] ?? '', {
    order: 'likely',
    seed: 1,
  });
  for (let t = 0; t < LIMIT; t++) {
    const { action } = decide(mind);
    const step = stepHousehold(state, action);
    if (step.terminated) return t > 0; // a task that one action solves is no task
    observe(mind, action, step.observation);
    ({ state, observation } = step);
  }
  return false;
}

type FrozenTask = readonly [kind: number, seed: number, sentence: string];

/** Every prefix of a split has the kinds in about their shares. */
function split(first: number, plans: 'train' | 'unseen', counts: readonly number[]): FrozenTask[] {
  const placed: { task: FrozenTask; at: number }[] = [];
  let seed = first;
  counts.forEach((count, k) => {
    const kind = KINDS[k];
    for (let found = 0; kind && found < count; seed++) {
      if (!solvable(seed, plans, kind)) continue;
      const task: FrozenTask = [k, seed, makeScene(seed, { plans, kind }).task];
      placed.push({ task, at: (found + 0.5) / count });
      found++;
    }
  });
  return placed.toSorted((a, b) => a.at - b.at).map(({ task }) => task);
}

/** By kind, in the order of KINDS; the validation counts are ALFWorld's. */
const splits = {
  train: split(0, 'train', [790, 308, 650, 459, 533, 813]),
  valid_seen: split(100_000, 'train', [35, 13, 27, 16, 25, 24]),
  valid_unseen: split(200_000, 'unseen', [24, 18, 31, 23, 21, 17]),
  'unseen-1000': split(300_000, 'unseen', [179, 134, 231, 172, 157, 127]),
};
const lines = Object.entries(splits).map(([name, tasks]) => `"${name}":${JSON.stringify(tasks)}`);
writeFileSync('src/envs/household-splits.json', `{\n${lines.join(',\n')}\n}\n`);
console.log(
  household.description.id,
  Object.entries(splits)
    .map(([n, t]) => `${n} ${t.length}`)
    .join(', '),
);
