import 'fake-indexeddb/auto';
import { expect, test } from 'vitest';
import type { AdapterData, ShelvedAdapter } from '../records.ts';
import {
  adapterData,
  deleteAdapter,
  getAdapter,
  listAdapters,
  renameAdapter,
  shelveAdapter,
} from './adapters.ts';

const entry = (id: string, createdAt: string): ShelvedAdapter => ({
  ...{ id, createdAt, name: id, note: '', modelName: 'm', modelSha256: 'abc' },
  ...{ modules: 1, targets: ['q_proj'], ranks: [1], parameters: 3, norm: 1 },
});
const data = (x: number): AdapterData => ({
  modules: [
    {
      ...({ layer: 0, target: 'q_proj', inputs: 2, outputs: 1, rank: 1, scale: 2 } as const),
      aT: new Float32Array([x, 1e-40]),
      bT: new Float32Array([-0]),
    },
  ],
});

test('adapters come back newest first, their matrices bit for bit', async () => {
  await shelveAdapter(entry('a', '2026-01-01'), data(0.1));
  await shelveAdapter(entry('b', '2026-01-02'), data(2));
  expect((await listAdapters()).map(({ id }) => id)).toEqual(['b', 'a']);
  expect(await adapterData('a')).toEqual(data(0.1));
  expect(Object.is((await adapterData('a')).modules[0]?.bT[0], -0)).toBe(true);
});

test('a new name and note change nothing else', async () => {
  await shelveAdapter(entry('c', '2026-01-03'), data(3));
  await renameAdapter('c', 'after the kitchen', 'step 40');
  expect(await getAdapter('c')).toEqual({
    ...entry('c', '2026-01-03'),
    ...{ name: 'after the kitchen', note: 'step 40' },
  });
  expect(await adapterData('c')).toEqual(data(3));
});

test('a deleted adapter is gone with its matrices; the others stay', async () => {
  await shelveAdapter(entry('d', '2026-01-04'), data(4));
  await deleteAdapter('d');
  await deleteAdapter('d');
  await expect(getAdapter('d')).rejects.toMatchObject({ code: 'not_found' });
  await expect(adapterData('d')).rejects.toMatchObject({ code: 'not_found' });
  await expect(renameAdapter('d', 'x', '')).rejects.toMatchObject({ code: 'not_found' });
  expect((await listAdapters()).some(({ id }) => id === 'a')).toBe(true);
});
