import { expect, test } from 'vitest';
import type { MethodName } from '../config.ts';
import { alikeArms } from './alike.ts';
import type { Row } from './row.ts';
import { rowOf } from './testing-rows.ts';

const arms = ['frozen', 'attt', 'naive', 'random_drop'] as const;
const trained = { commands: ['look', 'go to desk 1'], trained: 50, kl: [0.1] };

const rowsOf = (arm: MethodName, tasks: number, over: Partial<Row> = {}): Row[] =>
  Array.from({ length: tasks }, (_, task) => rowOf(arm, task, 1, { ...trained, ...over }));

test('arms are alike that say, train and move the same in every episode that both have', () => {
  const rows = [
    ...rowsOf('frozen', 20, { trained: 0, kl: [] }),
    ...rowsOf('attt', 20),
    ...rowsOf('naive', 20, { seconds: 9, build: 'other' }),
    rowOf('naive', 20, 1, { commands: ['wait'] }), // nobody else was there
    ...rowsOf('random_drop', 19),
    rowOf('random_drop', 19, 1, { ...trained, kl: [0.2] }),
  ];
  expect(alikeArms(arms, rows)).toEqual([{ arms: ['attt', 'naive'], episodes: 20 }]);
});

test('nothing is said of few episodes, nor of ones that failed or kept no commands', () => {
  const failed = { reason: 'engine_error', error: 'out of memory' } as const;
  const rows = [
    ...rowsOf('frozen', 20),
    ...rowsOf('attt', 19),
    ...rowsOf('naive', 20, failed),
    ...rowsOf('random_drop', 20, { commands: [] }),
  ];
  expect(alikeArms(arms, rows)).toEqual([]);
});
