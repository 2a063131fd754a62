import { expect, test } from 'vitest';
import { defaultSettings } from '../config.ts';
import type { PlannedEpisode } from '../experiment/plan.ts';
import { initialNotebook, type NotebookEvent, reduceNotebook, timeLeft } from './notebook.ts';

const episode = (index: number): PlannedEpisode => ({
  key: `attt/train/${index}/1`,
  arm: 'attt',
  pair: index,
  task: { env: 'household/ALFWorld-v0.4', split: 'train', index },
  settings: defaultSettings,
});
const after = (...events: readonly NotebookEvent[]) =>
  events.reduce(reduceNotebook, initialNotebook);

test('the time left is the mean of the finished episodes for each that is left', () => {
  const started = { type: 'queue_started', episodes: [0, 1, 2, 3, 4].map(episode) } as const;
  const queue = after(
    started,
    { type: 'queue_advanced', seconds: 10 },
    { type: 'queue_advanced', seconds: 20 },
  ).queue;
  if (!queue) throw new Error('the queue has begun');
  expect(timeLeft(queue, 0.5)).toBe(37.5);
  expect(timeLeft(queue, 0)).toBe(45);
  expect(timeLeft({ ...queue, seconds: [] }, 0.5)).toBeNull();
  expect(timeLeft({ ...queue, seconds: [1, 1, 1, 1, 1] }, 0)).toBe(0);
});

test('without a queue, its events change nothing', () => {
  expect(after({ type: 'queue_advanced', seconds: 3 }, { type: 'queue_stopping' })).toEqual(
    initialNotebook,
  );
});

test('a queue that is being stopped keeps what it has done', () => {
  const { queue } = after(
    { type: 'queue_started', episodes: [episode(0), episode(1)] },
    { type: 'queue_advanced', seconds: 4 },
    { type: 'queue_stopping' },
  );
  expect(queue).toMatchObject({ seconds: [4], stopping: true });
});
