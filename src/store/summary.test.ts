import { expect, test } from 'vitest';
import type { Order } from '../ports.ts';
import { fresh, run } from '../train/testing-episode.ts';
import { foldSummary, startSummary } from './summary.ts';

/** Whether the summary of an episode says that it was steered, where these were asked for after its second step. */
async function steered(...asked: readonly Order[]) {
  const settings = { step_limit: 4, update_interval_k: 1 };
  const { events } = await run(fresh, settings, { orders: { 2: [...asked] } });
  const [started] = events;
  if (started?.type !== 'episode_started') throw new Error('no start');
  return events.reduce(foldSummary, startSummary('a', '', started.manifest)).steered;
}

test('a run is steered by what only a person asks for, and not by its own updates', async () => {
  expect(await steered()).toBe(false);
  expect(await steered('update_now')).toBe(true);
  expect(await steered('roll_back_now')).toBe(true);
});
