import { expect, test } from 'vitest';
import { madeRun } from '../../e2e/fixtures/recorded/household-run.ts';
import { REPAIR_ID } from '../envs/repair-description.ts';
import type { EpisodeEvent } from '../records.ts';
import { Predictions } from './predictions.ts';

const made = madeRun({ steps: 1 });

/** An episode of the first repair task with this one action. */
function events(action: string): readonly EpisodeEvent[] {
  return made.flatMap((event): readonly EpisodeEvent[] => {
    if (event.type === 'step') return [{ ...event, action }];
    if (event.type !== 'episode_started') return [];
    const task = { env: REPAIR_ID, split: 'train', index: 0 };
    return [{ ...event, task, manifest: { ...event.manifest, env: REPAIR_ID, task } }];
  });
}

test('an episode’s edits are its patch, each episode by itself', async () => {
  const predictions = new Predictions();
  expect(await predictions.current()).toBeNull();
  for (const event of events('insert 0 // top')) predictions.take(event);
  expect(await predictions.current()).toMatchObject({
    instance_id: 'repair__train-0',
    model_patch: expect.stringContaining('@@ -1,3 +1,4 @@\n+// top\n'),
  });
  for (const event of events('view lru.js')) predictions.take(event);
  expect(await predictions.current()).toMatchObject({ model_patch: '' });
});

test('a household has no patch', async () => {
  const predictions = new Predictions();
  for (const event of made) predictions.take(event);
  expect(await predictions.current()).toBeNull();
});
