import { expect, test } from 'vitest';
import type { Settings } from '../config.ts';
import { fresh, run } from '../train/testing-episode.ts';
import { experimentOfRuns, type FinishedRun } from './from-runs.ts';
import { scorecard } from './scorecard.ts';

async function finished(settings: Partial<Settings>, solvedAt = 99): Promise<FinishedRun> {
  const { events } = await run(fresh, { step_limit: 6, ...settings }, { solvedAt });
  const [started] = events;
  if (started?.type !== 'episode_started') throw new Error('no start');
  return { manifest: started.manifest, events };
}

test('runs become arms by their settings, and rows by task and seed', async () => {
  const runs = [
    await finished({ method: 'attt', seed: 1 }, 3),
    await finished({ method: 'attt', seed: 2 }),
    await finished({ method: 'attt', seed: 1, lora_rank: 4 }),
    await finished({ method: 'frozen', seed: 1 }),
    await finished({ method: 'frozen', seed: 1 }),
  ];
  const { header, rows, notes } = experimentOfRuns(runs);
  expect(header.arms.map(({ name }) => name)).toEqual(['attt', 'attt lora_rank=4', 'frozen']);
  expect(header.experiment).toMatchObject({ tasks: [0], seeds: [1, 2] });
  expect(rows).toHaveLength(4);
  expect(notes.join(' ')).toContain('1 repeats');
  const [attt] = scorecard(header, rows);
  expect(attt).toMatchObject({ solved: 1, episodes: 2, difference: { pairs: 1, points: 1 } });
});

test('runs of another model are left out and counted', async () => {
  const one = await finished({});
  const other = { ...one, manifest: { ...one.manifest, modelSha256: 'other' } };
  const { rows, notes } = experimentOfRuns([one, other]);
  expect(rows).toHaveLength(1);
  expect(notes.join(' ')).toContain('1 runs of another model');
  expect(() => experimentOfRuns([])).toThrow('no finished run');
});
