import 'fake-indexeddb/auto';
import { promisifyRequest } from 'idb-keyval';
import { expect, test } from 'vitest';
import { defaultSettings } from '../config.ts';
import type { EpisodeEvent, LearnerSnapshot, RunSummary } from '../records.ts';
import { openStore, stored } from './database.ts';
import { appendEvent, deleteRun, getRun, listRuns, runEvents, saveRun } from './runs.ts';
import { loadSnapshot, saveSnapshot, snapshotSizes } from './snapshots.ts';

const task = { env: 'household/ALFWorld-v0.4', split: 'train', index: 0 };
const run = (id: string, createdAt: string): RunSummary => ({
  id,
  createdAt,
  manifest: {
    schema: 2,
    appVersion: '0',
    modelName: 'm',
    modelSha256: '',
    quantisation: 'Q8_0',
    tokenizerSha256: '',
    architecture: 'llama',
    heads: 1,
    kvHeads: 1,
    backend: 'cpu',
    device: '',
    env: task.env,
    task,
    settings: defaultSettings,
  },
  goal: '',
  steps: 0,
  updates: 0,
  rollbacks: 0,
  reason: null,
  reward: 0,
});
const event = (seq: number): EpisodeEvent => ({
  type: 'rolled_back',
  seq,
  t: seq,
  cause: 'manual',
  restored: true,
});
const snapshot = (x: number): LearnerSnapshot => ({
  schema: 1,
  adapter: {
    modules: [
      {
        layer: 0,
        target: 'q_proj',
        inputs: 2,
        outputs: 1,
        rank: 1,
        scale: 2,
        aT: new Float32Array([x, 1e-40]),
        bT: new Float32Array([-0]),
      },
    ],
  },
  optimiser: { step: 3, m: [new Float32Array([x])], v: [new Float32Array([x])] },
});

test('events of a run come back in order, and other runs are not mixed in', async () => {
  await saveRun(run('a', '2026-01-01'));
  await saveRun(run('b', '2026-01-02'));
  for (const seq of [0, 1, 10, 2, 9]) await appendEvent('a', event(seq));
  await appendEvent('b', event(0));
  expect((await runEvents('a')).map((e) => e.seq)).toEqual([0, 1, 2, 9, 10]);
  expect((await listRuns()).map((r) => r.id)).toEqual(['b', 'a']);
});

test('deleting a run removes its events and snapshots and leaves the others', async () => {
  await saveRun(run('c', '2026-01-03'));
  await appendEvent('c', event(0));
  await saveSnapshot('c', 'start', snapshot(1));
  await saveSnapshot('a', 'start', snapshot(2));
  await deleteRun('c');
  expect(await runEvents('c')).toEqual([]);
  await expect(getRun('c')).rejects.toMatchObject({ code: 'not_found' });
  await expect(loadSnapshot('c', 'start')).rejects.toMatchObject({ code: 'not_found' });
  expect(await loadSnapshot('a', 'start')).toEqual(snapshot(2));
});

test('a snapshot comes back bit for bit, signed zeros and denormals included', async () => {
  await saveSnapshot('d', 'start', snapshot(0.1));
  const back = (await loadSnapshot('d', 'start')).adapter.modules[0];
  expect(new Uint32Array((back?.aT ?? new Float32Array()).buffer)).toEqual(
    new Uint32Array(new Float32Array([0.1, 1e-40]).buffer),
  );
  expect(Object.is(back?.bT[0], -0)).toBe(true);
});

test('a run keeps two snapshots, however often they are saved, and their bytes are told', async () => {
  for (const x of [1, 2, 3]) {
    await saveSnapshot('f', 'start', snapshot(x));
    await saveSnapshot('f', 'latest', snapshot(x));
  }
  const { adapter, optimiser } = snapshot(1);
  const numbers = [
    ...adapter.modules.flatMap(({ aT, bT }) => [...aT, ...bT]),
    ...[...optimiser.m, ...optimiser.v].flatMap((array) => [...array]),
  ];
  const { f, d } = await snapshotSizes();
  expect(f).toEqual({ count: 2, bytes: 2 * 4 * numbers.length });
  expect(d?.count).toBe(1);
  await deleteRun('f');
  expect((await snapshotSizes()).f).toBeUndefined();
});

test('snapshots of a version that noted no sizes are measured', async () => {
  await stored('an older snapshot', () =>
    openStore('snapshots')('readwrite', (store) =>
      promisifyRequest(store.put(snapshot(1), ['g', 'start'])),
    ),
  );
  await saveSnapshot('h', 'start', snapshot(1));
  const { g, h } = await snapshotSizes();
  expect(g).toEqual(h);
});

test('a put that succeeds in a transaction that then aborts is not saved, and the old value stays', async () => {
  await saveSnapshot('e', 'start', snapshot(1));
  const saving = stored('the adapter snapshot', () =>
    openStore('snapshots')('readwrite', (store) => {
      const request = store.put(snapshot(2), ['e', 'start']);
      request.onsuccess = () => store.transaction.abort();
      return promisifyRequest(store.transaction);
    }),
  );
  await expect(saving).rejects.toMatchObject({ name: 'LabError' });
  expect(await loadSnapshot('e', 'start')).toEqual(snapshot(1));
});

test('a full disk is said in words, with what to do', async () => {
  const full = stored('the run', () =>
    Promise.reject(new DOMException('full', 'QuotaExceededError')),
  );
  await expect(full).rejects.toMatchObject({ code: 'quota' });
  await expect(full).rejects.toThrow(/storage for the page is full.*Delete old runs/);
});
