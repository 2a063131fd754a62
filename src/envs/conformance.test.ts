/** Every environment of the list keeps the contract, and the check notices one that does not. */

import { describe, expect, test } from 'vitest';
import type { Json } from '../records.ts';
import { type ConformanceOptions, checkEnv } from './conformance.ts';
import type { Env } from './env.ts';
import { household, householdV03 } from './household.ts';
import { playExpert } from './household-expert.ts';
import { environments } from './list.ts';
import { REPAIR_ID } from './repair-description.ts';
import { playRepairExpert } from './repair-expert.ts';

const options: ConformanceOptions = {
  tasksPerSplit: 2,
  steps: 10,
  seed: 1,
  oracleSteps: 1500,
  command: (rng) =>
    rng.pick([
      ...['help', 'list files', 'run tests', 'undo', 'search return', 'run test 1', 'delete 2'],
      ...['replace 3 with', 'replace 4 with return 0;', 'insert 0 // a comment', 'delete 1-99999'],
      ...[`replace ${rng.int(40)}-${rng.int(40)} with for (;;);`, `delete ${rng.int(40)}`],
    ]),
  oracle: (opening, env) => {
    if (env === REPAIR_ID) return playRepairExpert(opening);
    const put = env === householdV03.description.id ? 'put {o} in/on {r}' : 'move {o} to {r}';
    return playExpert(opening, { order: 'likely', seed: 1 }, put);
  },
};

test.each(environments.map((env) => [env.description.id, env] as const))(
  '%s conforms',
  async (_, env) => {
    expect(checkEnv(await env.open(), options)).toEqual([]);
  },
  60_000,
);

describe('a world of two rooms', () => {
  /** Left or right; the task is to be in the other room. */
  const good: Env = {
    description: {
      id: 'test/Rooms-v1',
      label: 'Two rooms',
      help: 'Go to the right room.',
      citation: 'made for this test',
      splits: [{ name: 'all', size: 1, help: 'the one task' }],
      oracleScore: 1,
      idleScore: 0,
    },
    tasks: (split) => {
      if (split !== 'all') return household.tasks('no such split');
      return [{ env: 'test/Rooms-v1', split, index: 0 }];
    },
    initial: (task) => {
      if (task.index !== 0) household.tasks('no such split');
      return at('left');
    },
    step: (state, action) => {
      const to = action.trim() === 'go right' ? 'right' : action.trim() === 'look' ? state : null;
      const won = to === 'right' ? 1 : 0;
      const flags = { reward: won, terminated: won === 1, truncated: false };
      return to === null
        ? { ...at(state), ...flags, observation: 'What?' }
        : { ...at(to), ...flags };
    },
    admissible: () => ['go right', 'look'],
  };
  const at = (room: Json) => ({
    state: room,
    observation: `You are in the ${String(room)} room.`,
    info: {
      won: room === 'right',
      lost: false,
      score: 0,
      maxScore: 1,
      stateHash: `hash of ${String(room)}`,
    },
  });
  const own = { ...options, oracle: () => ({ act: () => 'go right', see: () => undefined }) };
  let calls = 0;

  test('conforms when it keeps the contract', () => {
    expect(checkEnv(good, own)).toEqual([]);
  });

  const broken: [string, Partial<Env>, RegExp][] = [
    [
      'that throws at a strange action',
      {
        step: (state, action) => {
          if (action === 'go right' || action === 'look') return good.step(state, action);
          throw new Error('no such command');
        },
      },
      /no action throws/,
    ],
    [
      'that counts its calls',
      {
        initial: (task) => ({ ...good.initial(task), observation: `Call ${calls++}.` }),
      },
      /equal tasks give equal worlds/,
    ],
    [
      'that promises more than it accepts',
      { admissible: () => ['go left', 'go right'] },
      /the admissible "go left" is accepted/,
    ],
    ['that lists commands unsorted', { admissible: () => ['look', 'go right'] }, /are sorted/],
    [
      'that ends by itself',
      { step: (state, action) => ({ ...good.step(state, action), truncated: true }) },
      /sets no limits/,
    ],
    [
      'that pays for doing nothing',
      { step: (state, action) => ({ ...good.step(state, action), reward: 1 }) },
      /doing nothing scores 0/,
    ],
    [
      'that gives all worlds one hash',
      {
        initial: (task) => ({ ...at('left'), ...(task.index === 0 ? {} : good.initial(task)) }),
        step: (state, action) => {
          const after = good.step(state, action);
          const next = action.trim() === 'look' ? [state] : after.state;
          return { ...after, state: next, info: at('left').info };
        },
        admissible: () => ['look'],
      },
      /different worlds have different hashes/,
    ],
    [
      'with a split that is too short',
      { description: { ...good.description, splits: [{ name: 'all', size: 2, help: 'two' }] } },
      /has 1 tasks, its description says 2/,
    ],
  ];
  test.each(broken)('%s is found out', (_, change, fault) => {
    expect(checkEnv({ ...good, ...change }, own).join('\n')).toMatch(fault);
  });

  test('that writes into its state is found out', () => {
    const env: Env = {
      ...good,
      initial: (task) => ({ ...good.initial(task), state: { visits: [] } }),
      step: (state, action) => {
        // a world that breaks the rule on purpose
        if (action === 'look') (state as { visits: string[] }).visits.push(action);
        return { ...good.step('left', action), state };
      },
    };
    expect(checkEnv(env, own).join('\n')).toMatch(/does not change the state/);
  });
});
