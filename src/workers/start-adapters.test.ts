import 'fake-indexeddb/auto';
import { expect, test } from 'vitest';
import { startAdapter, startAdapterRef } from '../model/start-adapter.ts';
import type { AdapterData, EpisodeStarted, RunManifest } from '../records.ts';
import { deleteAdapter, shelveAdapter } from '../store/adapters.ts';
import { saveRun } from '../store/runs.ts';
import { saveSnapshot } from '../store/snapshots.ts';
import { startSummary } from '../store/summary.ts';
import { fresh, run } from '../train/testing-episode.ts';
import { recordedStart, startOf } from './start-adapters.ts';

const data = (x: number): AdapterData => ({
  modules: [
    {
      ...({ layer: 0, target: 'q_proj', inputs: 2, outputs: 1, rank: 1, scale: 2 } as const),
      aT: new Float32Array([x, 1e-40]),
      bT: new Float32Array([-0]),
    },
  ],
});
const shelve = (id: string, x: number) =>
  shelveAdapter(
    {
      ...{ id, createdAt: id, name: `named ${id}`, note: '', modelName: 'm', modelSha256: 'abc' },
      ...{ modules: 1, targets: ['q_proj'], ranks: [1], parameters: 3, norm: 1 },
    },
    data(x),
  );
const { events } = await run(fresh, {});
const first = events.find((event): event is EpisodeStarted => event.type === 'episode_started');
if (!first) throw new Error('the run starts');
const startedFrom = async (x: number): Promise<RunManifest> => ({
  ...first.manifest,
  startAdapter: startAdapterRef(await startAdapter('mine', data(x))),
});

test('an adapter of the shelf is taken under its name there', async () => {
  await shelve('a', 1);
  expect(await startOf({ kind: 'shelf', id: 'a' })).toMatchObject({
    name: 'named a',
    data: data(1),
  });
  await expect(startOf({ kind: 'shelf', id: 'gone' })).rejects.toMatchObject({ code: 'not_found' });
});

test('a recorded start is found by its content: in its run, else on the shelf, else not', async () => {
  await shelve('a', 1);
  await shelve('b', 2);
  const manifest = await startedFrom(3);
  await expect(recordedStart(manifest, 'run')).rejects.toThrow(
    /started from the adapter "mine" \(sha256 [0-9a-f]{12}\), which is not in this browser/,
  );
  await saveRun(startSummary('run', '2026-01-01', manifest));
  const snapshot = (x: number) =>
    ({ schema: 1, adapter: data(x), optimiser: { step: 0, m: [], v: [] } }) as const;
  await saveSnapshot('run', 'start', snapshot(2)); // of another content
  await expect(recordedStart(manifest, 'run')).rejects.toMatchObject({ code: 'not_found' });
  await saveSnapshot('run', 'start', snapshot(3));
  expect(await startOf({ kind: 'run', id: 'run' })).toMatchObject({ name: 'mine', data: data(3) });
  expect((await recordedStart(await startedFrom(2), null))?.data).toEqual(data(2));
  await deleteAdapter('b');
  await expect(recordedStart(await startedFrom(2), null)).rejects.toThrow(/not in this browser/);
});

test('a run that started from a fresh adapter has none', async () => {
  expect(await recordedStart(first.manifest, null)).toBeNull();
});
