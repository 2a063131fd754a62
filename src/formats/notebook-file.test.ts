import { unzipSync, zipSync } from 'fflate';
import { expect, test } from 'vitest';
import { madeRun } from '../../e2e/fixtures/recorded/household-run.ts';
import type { LearnerSnapshot } from '../records.ts';
import {
  type NotebookAdapter,
  type NotebookRun,
  readNotebook,
  writeNotebook,
} from './notebook-file.ts';

const events = madeRun({ steps: 6, seed: 1 });
const latest: LearnerSnapshot = {
  schema: 1,
  adapter: {
    modules: [
      {
        layer: 2,
        target: 'v_proj',
        inputs: 2,
        outputs: 1,
        rank: 1,
        scale: 2,
        // A view into a longer buffer, a denormal and a signed zero.
        aT: new Float32Array([9, 0.1, 1e-40]).subarray(1),
        bT: new Float32Array([-0]),
      },
    ],
  },
  optimiser: {
    step: 3,
    m: [new Float32Array([1.5, 0]), new Float32Array([2])],
    v: [new Float32Array([0.5, -0]), new Float32Array([1e-40])],
  },
};
const start: LearnerSnapshot = {
  ...latest,
  optimiser: { step: 0, m: latest.optimiser.m, v: latest.optimiser.v },
};
const run: NotebookRun = {
  id: '20261129-1',
  createdAt: '2026-11-29T10:00:00.000Z',
  events,
  notes: {
    tags: ['baseline', 'kept'],
    note: 'the one with the fridge',
    steps: { 2: 'the loop begins here' },
  },
  start,
  latest,
};

const shelved: NotebookAdapter = {
  entry: {
    id: '20261129-2',
    name: 'after the fridge',
    note: '',
    createdAt: '2026-11-29T11:00:00.000Z',
    modelName: 'household-2m',
    modelSha256: 'd0e9b72e0ef4',
    modules: 1,
    targets: ['v_proj'],
    ranks: [1],
    parameters: 3,
    norm: 0.25,
  },
  data: latest.adapter,
};

test('a notebook comes back as it was: runs, notes and the shelf, adapters bit for bit', () => {
  const bare: NotebookRun = { ...run, id: 'bare', start: null, latest: null, notes: null };
  const notebook = { runs: [run, bare], adapters: [shelved] };
  const back = readNotebook(writeNotebook(notebook), 'a.attt-notebook.zip');
  expect(back).toEqual(notebook);
  const module = back.runs[0]?.latest?.adapter.modules[0];
  expect(Object.is(module?.bT[0], -0)).toBe(true);
  expect(new Uint32Array(module?.aT.slice(1).buffer ?? new ArrayBuffer(0))).toEqual(
    new Uint32Array(new Float32Array([1e-40]).buffer),
  );
});

test('an empty notebook is a notebook', () => {
  const empty = { runs: [], adapters: [] };
  expect(readNotebook(writeNotebook(empty), 'a.zip')).toEqual(empty);
});

test('a notebook of a version without notes and shelf is read', () => {
  const files = unzipSync(writeNotebook({ runs: [{ ...run, notes: null }], adapters: [] }));
  const index = `{"schema":1,"runs":[{"id":"${run.id}","createdAt":"${run.createdAt}"}]}`;
  const old = zipSync({ ...files, 'notebook.json': new TextEncoder().encode(index) });
  expect(readNotebook(old, 'a.zip')).toEqual({ runs: [{ ...run, notes: null }], adapters: [] });
  const withoutSteps = index.replace('"}]', '","notes":{"tags":[],"note":"kept"}}]');
  const later = zipSync({ ...files, 'notebook.json': new TextEncoder().encode(withoutSteps) });
  expect(readNotebook(later, 'a.zip').runs[0]?.notes).toEqual({
    tags: [],
    note: 'kept',
    steps: {},
  });
});

test('ids that are no plain names, or stand twice, are refused: they name files and records', () => {
  for (const id of ['../x', '', 'a/b', '.x', 'a b']) {
    expect(() =>
      readNotebook(writeNotebook({ runs: [{ ...run, id }], adapters: [] }), 'a'),
    ).toThrow(`the id ${JSON.stringify(id)}, which is no plain name`);
    const entry = { ...shelved.entry, id };
    const adapters = [{ ...shelved, entry }];
    expect(() => readNotebook(writeNotebook({ runs: [], adapters }), 'a')).toThrow('no plain name');
  }
  expect(() => readNotebook(writeNotebook({ runs: [run, run], adapters: [] }), 'a')).toThrow(
    `names ${run.id} twice`,
  );
});

test('a notebook that lacks a file, or whose adapter is cut, is refused by name', () => {
  const files = unzipSync(writeNotebook({ runs: [run], adapters: [shelved] }));
  const without = (name: string) =>
    zipSync(Object.fromEntries(Object.entries(files).filter(([key]) => key !== name)));
  expect(() => readNotebook(without('notebook.json'), 'a.zip')).toThrow(
    /a\.zip has no notebook\.json/,
  );
  expect(() => readNotebook(without('20261129-1/events.jsonl'), 'a.zip')).toThrow(
    /no 20261129-1\/events/,
  );
  const cut = zipSync({ ...files, '20261129-1/latest.safetensors': new Uint8Array(4) });
  expect(() => readNotebook(cut, 'a.zip')).toThrow(/a\.zip: 20261129-1\/latest\.safetensors/);
  expect(() => readNotebook(without('adapters/20261129-2.safetensors'), 'a.zip')).toThrow(
    /no adapters\/20261129-2/,
  );
  // A snapshot is no adapter of the shelf: it would be read with moments that nobody asked for.
  const swapped = zipSync({
    ...files,
    'adapters/20261129-2.safetensors': files['20261129-1/latest.safetensors'] ?? new Uint8Array(),
  });
  expect(() => readNotebook(swapped, 'a.zip')).toThrow(/is no adapter of a notebook/);
  const newer = zipSync({
    ...files,
    'notebook.json': new TextEncoder().encode('{"schema":9,"runs":[]}'),
  });
  expect(() => readNotebook(newer, 'a.zip')).toThrow(/has schema 9; this version reads 1/);
});
