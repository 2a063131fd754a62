import 'fake-indexeddb/auto';
import { expect, test } from 'vitest';
import { madeRun } from '../../e2e/fixtures/recorded/household-run.ts';
import type { AdapterData, ShelvedAdapter } from '../records.ts';
import { adapterData, deleteAdapter, listAdapters, shelveAdapter } from '../store/adapters.ts';
import { allNotes, saveNotes } from '../store/notes.ts';
import { appendEvent, deleteRun, listRuns, saveRun } from '../store/runs.ts';
import { foldSummary, startSummary } from '../store/summary.ts';
import { exportNotebook, importNotebook } from './notebook.ts';

const events = madeRun({ steps: 3, seed: 1 });
const data: AdapterData = {
  modules: [
    {
      ...{ layer: 0, target: 'q_proj', inputs: 2, outputs: 1, rank: 1, scale: 2 },
      ...{ aT: new Float32Array([0.1, -0]), bT: new Float32Array([1e-40]) },
    },
  ],
};
const entry: ShelvedAdapter = {
  ...{ id: 'kept', name: 'after the fridge', note: 'try it', createdAt: '2026-11-29T11:00:00Z' },
  ...{ modelName: 'household-2m', modelSha256: 'd0e9', modules: 1, targets: ['q_proj'] },
  ...{ ranks: [1], parameters: 3, norm: 0.25 },
};
const notes = {
  tags: ['baseline'],
  note: 'without training',
  steps: { 2: 'the loop begins here' },
};

test('what was written beside a run and what stands on the shelf come back from the file, once', async () => {
  const [first] = events;
  if (first?.type !== 'episode_started') throw new Error('the made run starts');
  for (const event of events) await appendEvent('a', event);
  const start = startSummary('a', '2026-11-29T10:00:00Z', first.manifest);
  await saveRun(events.reduce(foldSummary, start));
  await saveNotes('a', notes);
  await shelveAdapter(entry, data);
  const { name, bytes } = await exportNotebook();
  const file = new Blob([Uint8Array.from(bytes)]);
  await deleteRun('a');
  await deleteAdapter('kept');
  expect(await allNotes()).toEqual({});

  expect(await importNotebook(name, file)).toEqual({ added: 1, known: 0, adapters: 1 });
  expect((await listRuns()).map(({ id, steps }) => [id, steps])).toEqual([['a', 3]]);
  expect(await allNotes()).toEqual({ a: notes });
  expect(await listAdapters()).toEqual([entry]);
  expect(await adapterData('kept')).toEqual(data);
  expect(await importNotebook(name, file)).toEqual({ added: 0, known: 1, adapters: 0 });
});
