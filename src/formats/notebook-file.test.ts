import { unzipSync, zipSync } from 'fflate';
import { expect, test } from 'vitest';
import { madeRun } from '../../e2e/fixtures/recorded/household-run.ts';
import type { LearnerSnapshot } from '../records.ts';
import { type NotebookRun, readNotebook, writeNotebook } from './notebook-file.ts';

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
  start,
  latest,
};

test('a notebook comes back as it was, adapters bit for bit', () => {
  const bare: NotebookRun = { ...run, id: 'bare', start: null, latest: null };
  const back = readNotebook(writeNotebook([run, bare]), 'a.attt-notebook.zip');
  expect(back).toEqual([run, bare]);
  const module = back[0]?.latest?.adapter.modules[0];
  expect(Object.is(module?.bT[0], -0)).toBe(true);
  expect(new Uint32Array(module?.aT.slice(1).buffer ?? new ArrayBuffer(0))).toEqual(
    new Uint32Array(new Float32Array([1e-40]).buffer),
  );
});

test('an empty notebook is a notebook', () => {
  expect(readNotebook(writeNotebook([]), 'a.zip')).toEqual([]);
});

test('a notebook that lacks a file, or whose adapter is cut, is refused by name', () => {
  const files = unzipSync(writeNotebook([run]));
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
  const newer = zipSync({
    ...files,
    'notebook.json': new TextEncoder().encode('{"schema":9,"runs":[]}'),
  });
  expect(() => readNotebook(newer, 'a.zip')).toThrow(/has schema 9; this version reads 1/);
});
