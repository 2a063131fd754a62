/** Run bundles: what is written is read back, and whatever is changed in one is named by its file. */

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { sha256 } from 'hash-wasm';
import { beforeAll, describe, expect, test } from 'vitest';
import { EventClock } from '../clock.ts';
import { LabError } from '../errors.ts';
import type { EpisodeEvent, LearnerSnapshot } from '../records.ts';
import { adapterSha256 } from './adapter-hash.ts';
import { labelOfCard } from './adapter-label.ts';
import { type BundleContents, startOf } from './bundle.ts';
import { compareRuns } from './bundle-compare.ts';
import { neededFiles } from './bundle-files.ts';
import { checkBundle, openEvents, openRun, snapshotIn } from './bundle-read.ts';
import { replayFiles } from './bundle-replay.ts';
import { readSnapshot, writeSnapshot } from './bundle-snapshot.ts';
import { metricRows, tokenRows } from './bundle-tables.ts';
import { writeBundle } from './bundle-write.ts';
import { parseRunFile } from './run-file.ts';
import { readZip, writeZip } from './zip.ts';

const storedV1 = new Uint8Array(readFileSync('e2e/fixtures/bundles/run-v1.jsonl'));
const storedV2 = new Uint8Array(readFileSync('e2e/fixtures/bundles/run-v2.attt.zip'));
const events = parseRunFile(new TextDecoder().decode(storedV1), 'run-v1.jsonl');

const snapshot = (x: number): LearnerSnapshot => ({
  schema: 1,
  adapter: {
    modules: [
      {
        ...{ layer: 3, target: 'v_proj', inputs: 2, outputs: 3, rank: 1, scale: 0.1 },
        aT: new Float32Array([x, 1e-40]),
        bT: new Float32Array([-0, 3e38, 2]),
      },
    ],
  },
  optimiser: {
    step: 7,
    m: [new Float32Array([x, 2]), new Float32Array(3)],
    v: [new Float32Array([1, 2]), new Float32Array(3)],
  },
});
const bundled = (x: number) => ({
  snapshot: snapshot(x),
  modules: [
    {
      name: 'model.layers.3.self_attn.v_proj',
      scale: 0.1,
      a: { rows: 1, cols: 2, values: new Float32Array([x, 1e-40]) },
      b: { rows: 3, cols: 1, values: new Float32Array([-0, 1, 2]) },
    },
  ],
  gguf: [
    {
      tensor: 'blk.3.attn_v.weight',
      scale: 0.1,
      a: { rows: 1, cols: 2, values: new Float32Array([x, 1e-40]) },
      b: { rows: 3, cols: 1, values: new Float32Array([-0, 1, 2]) },
    },
  ],
});
const contents: BundleContents = {
  run: 'test-run',
  createdAt: null,
  events,
  adapters: { start: bundled(0), latest: bundled(1.5) },
};
let zip: Uint8Array;
beforeAll(async () => {
  zip = await writeBundle(contents);
});

/** The bundle again with its files changed; the manifest stays as it was. */
function changed(change: (files: Map<string, Uint8Array>) => void): Uint8Array {
  const files = new Map(readZip(zip, 'run.attt.zip'));
  change(files);
  return writeZip([...files].map(([path, bytes]) => ({ path, bytes, stored: true })));
}

/** The bundle again with its files changed, and its manifest made to agree with them. */
async function resealed(
  change: (
    files: Map<string, Uint8Array>,
    manifest: { app_version: string; facts: Record<string, unknown> },
  ) => void,
  from = zip,
): Promise<Uint8Array> {
  const files = new Map(readZip(from, 'run.attt.zip'));
  const manifest = JSON.parse(new TextDecoder().decode(files.get('MANIFEST.json')));
  change(files, manifest);
  manifest.files = {};
  for (const [path, file] of files) {
    if (path === 'MANIFEST.json') continue;
    manifest.files[path] = { bytes: file.length, sha256: await sha256(file) };
  }
  files.set('MANIFEST.json', new TextEncoder().encode(JSON.stringify(manifest)));
  return writeZip([...files].map(([path, bytes]) => ({ path, bytes, stored: true })));
}

type Place = readonly (string | number)[];

/** The paths to everything in a value, the first item alone of a list within it. */
function placesIn(value: unknown, at: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [at];
  const inner = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  const some = Array.isArray(value) && at.length > 0 ? inner.slice(0, 1) : inner;
  return [
    ...(at.length > 0 ? [at] : []),
    ...some.flatMap(([key, part]) => placesIn(part, [...at, key])),
  ];
}

/** The value with another in its place. */
function withValue(value: unknown, [key, ...rest]: Place, put: unknown): unknown {
  if (key === undefined) return put;
  const copy = Array.isArray(value) ? [...value] : { ...Object(value) };
  copy[key] = withValue(Object(value)[key], rest, put);
  return copy;
}

test('a bundle is read back as it was written, and equal runs give equal bytes', async () => {
  const { problems, manifest } = await checkBundle(zip, 'run.attt.zip');
  expect(problems).toEqual([]);
  expect(manifest).toMatchObject({
    ...{ format: 'attt-bundle', schema: 3, run: 'test-run' },
    facts: { model: { name: 'household-2m', quantisation: '' }, seed: 1, split: 'valid_seen' },
  });
  const opened = await openRun(zip, 'run.attt.zip');
  expect(opened.events).toEqual(events);
  expect(snapshotIn(opened.files, 'latest')).toEqual(snapshot(1.5));
  expect(await writeBundle(contents)).toEqual(zip);
});

test('a snapshot comes back bit for bit, with what it consolidates', () => {
  const ewc = { fisher: snapshot(2).optimiser.v, anchor: snapshot(3).optimiser.m };
  for (const whole of [snapshot(-1), { ...snapshot(-1), ewc }]) {
    const back = readSnapshot(writeSnapshot(whole), 's');
    expect(Object.is(back.adapter.modules[0]?.bT[0], -0)).toBe(true);
    expect(back).toEqual(whole);
  }
});

test('a snapshot that says no adapter is refused; an alpha below 0 is one', () => {
  const [module] = snapshot(1).adapter.modules;
  if (!module) throw new Error('the snapshot has a module');
  const made = (change: Partial<typeof module>, more: Partial<LearnerSnapshot> = {}) =>
    writeSnapshot({ ...snapshot(1), adapter: { modules: [{ ...module, ...change }] }, ...more });
  expect(readSnapshot(made({ scale: -2 }), 's').adapter.modules[0]?.scale).toBe(-2);
  const none = { rank: 0, aT: new Float32Array(0), bT: new Float32Array(0) };
  expect(() => readSnapshot(made(none), 's')).toThrow('s: a module has rank 0; expected a whole');
  expect(() => readSnapshot(made({ layer: 0.5 }), 's')).toThrow('has layer 0.5');
  const bytes = made({});
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  view.setFloat32(8 + view.getUint32(0, true), Number.NaN, true); // where the data, and with them aT, begin
  expect(() => readSnapshot(bytes, 's')).toThrow('s: layers.3.v_proj.aT holds NaN at place 0');
  const ewc = { fisher: [new Float32Array(2)], anchor: [] };
  expect(() => readSnapshot(made({}, { ewc }), 's')).toThrow('ewc.fisher.1 has no values');
  const { m, ...rest } = snapshot(1).optimiser;
  const optimiser = { ...rest, m: [...m, new Float32Array(1)] };
  expect(() => readSnapshot(made({}, { optimiser }), 's')).toThrow(
    's holds 7 tensors; its modules have 6',
  );
});

describe('validation', () => {
  test('names every file of which one byte was changed, with both hashes', async () => {
    const paths = [...readZip(zip, 'x').keys()].filter((path) => path !== 'MANIFEST.json');
    expect(paths.length).toBeGreaterThan(15);
    for (const path of paths) {
      const bad = changed((files) => {
        const bytes = Uint8Array.from(files.get(path) ?? []);
        bytes[bytes.length - 2] = (bytes.at(-2) ?? 0) ^ 1;
        files.set(path, bytes);
      });
      const { problems } = await checkBundle(bad, 'run.attt.zip');
      const named = problems.find((one) => one.file === path && one.problem.includes('sha256'));
      expect(named?.problem, path).toMatch(
        /sha256 [0-9a-f]{64}; MANIFEST.json says \d+ bytes with/,
      );
      await expect(openRun(bad, 'run.attt.zip')).rejects.toThrow('run.attt.zip: ');
    }
  });

  test('says at which byte a table leaves what the events give', async () => {
    const bad = changed((files) => {
      const bytes = Uint8Array.from(files.get('metrics.csv') ?? []);
      bytes[200] = 'x'.charCodeAt(0);
      files.set('metrics.csv', bytes);
    });
    const { problems } = await checkBundle(bad, 'run.attt.zip');
    expect(problems).toHaveLength(1);
    expect(problems[0]?.problem).toContain(
      'first byte that does not follow from events.jsonl is 200.',
    );
  });

  test('a table that the events do not give is named although the manifest was made to agree', async () => {
    const bad = await resealed((files) => {
      const text = new TextDecoder().decode(files.get('tokens.jsonl'));
      files.set('tokens.jsonl', new TextEncoder().encode(text.replace('"reward":0', '"reward":1')));
    });
    const { problems } = await checkBundle(bad, 'run.attt.zip');
    expect(problems.map(({ file }) => file)).toEqual(['tokens.jsonl']);
    expect(problems[0]?.problem).toMatch(/^is not what events\.jsonl gives\. The first byte/);
    const older = await resealed((files, manifest) => {
      manifest.app_version = '0.0.1';
      files.set('tokens.jsonl', new Uint8Array(3));
    });
    expect((await checkBundle(older, 'run.attt.zip')).problems).toEqual([]);
  });

  test('a Parquet table or a script of another content is named too, in a bundle of this version', async () => {
    for (const path of ['tokens.parquet', 'inspect.json', 'replay/losses.py']) {
      const bad = await resealed((files) => files.set(path, new Uint8Array(3)));
      const { problems } = await checkBundle(bad, 'run.attt.zip');
      expect(problems.map(({ file }) => file)).toEqual([path]);
    }
  });

  const paths = (bytes: Uint8Array) =>
    [...readZip(bytes, 'x').keys()].filter((path) => path !== 'MANIFEST.json');

  test('holds what its schema says, with an adapter in every form or in none', async () => {
    expect(paths(zip).toSorted()).toEqual(neededFiles(3, true).toSorted());
    const bare = await writeBundle({ ...contents, adapters: null });
    expect(paths(bare).toSorted()).toEqual(neededFiles(3, false).toSorted());
    expect((await checkBundle(bare, 'run.attt.zip')).problems).toEqual([]);
    expect(paths(storedV2).toSorted()).toEqual(neededFiles(2, true).toSorted());
    const bareV2 = await resealed((files) => {
      for (const path of files.keys()) if (/^(adapter|snapshots)/.test(path)) files.delete(path);
    }, storedV2);
    expect((await checkBundle(bareV2, 'run.attt.zip')).problems).toEqual([]);
    const stripped = await resealed((files) => {
      for (const path of files.keys()) if (/^(adapter|snapshots)/.test(path)) files.delete(path);
    });
    const { problems } = await checkBundle(stripped, 'run.attt.zip');
    expect(problems.map(({ file }) => file)).toEqual(
      neededFiles(3, true).filter((path) => /^(adapter|snapshots)/.test(path)),
    );
  });

  test.each([
    ['of this schema', () => zip, 3],
    ['of schema 2', () => storedV2, 2],
  ])(
    'a file that is missing from a bundle %s is named, with what to do, although the manifest was made to agree',
    async (_, bundle, schema) => {
      for (const path of paths(bundle())) {
        const bad = await resealed((files) => files.delete(path), bundle());
        const { problems } = await checkBundle(bad, 'run.attt.zip');
        expect(problems, path).toEqual([
          {
            file: path,
            problem: expect.stringContaining(`is missing; a bundle of schema ${schema} has it. `),
          },
        ]);
        const remedy = path === 'events.jsonl' ? /from where it was made/ : /attt bundle export/;
        expect(problems[0]?.problem, path).toMatch(remedy);
      }
    },
  );

  test('its run opens where the events are there, and nothing else takes it for whole', async () => {
    const lacking = (path: string) => resealed((files) => files.delete(path));
    const table = await lacking('metrics.csv');
    await expect(openRun(table, 'a.attt.zip')).rejects.toThrow(
      'a.attt.zip: metrics.csv: is missing',
    );
    expect((await openEvents(table, 'a.attt.zip')).events).toEqual(events);
    const run = await lacking('events.jsonl');
    await expect(openEvents(run, 'a.attt.zip')).rejects.toThrow(
      'a.attt.zip: events.jsonl: is missing',
    );
  });

  test('an event with any value in any place is told as a problem of its file, or changes nothing', async () => {
    const lines: readonly unknown[] = events.filter(
      ({ type }, i) => events.findIndex((other) => other.type === type) === i,
    );
    const junk = [null, 0, -1, 1e308, '', 'x', true, [], {}, [null], { a: 1 }, 'constructor'];
    const cases = fc.record({
      at: fc.constantFrom(...placesIn(lines)),
      put: fc.constantFrom(...junk),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ at, put }) => {
        const changed = [withValue(lines, at, put)].flat().map((event) => JSON.stringify(event));
        const bad = await resealed((files) => {
          files.set('events.jsonl', new TextEncoder().encode(changed.join('\n')));
        });
        const { problems } = await checkBundle(bad, 'run.attt.zip');
        const faults = /undefined|Cannot|not a function|not iterable|reading '|must be|internal/;
        for (const { problem } of problems) expect(problem).not.toMatch(faults);
      }),
      { numRuns: 40 },
    );
  });

  test('a manifest that names a file twice, or says too little, is refused', async () => {
    const said = (from: RegExp, to: string) =>
      changed((files) => {
        const text = new TextDecoder().decode(files.get('MANIFEST.json'));
        files.set('MANIFEST.json', new TextEncoder().encode(text.replace(from, to)));
      });
    const twice = said(/"files": \{/, '"files": {"README.md": {"bytes": 1, "sha256": ""},');
    await expect(checkBundle(twice, 'a')).rejects.toThrow('names "README.md" twice');
    const itself = said(/"files": \{/, '"files": {"MANIFEST.json": {"bytes": 1, "sha256": ""},');
    expect((await checkBundle(itself, 'a')).problems).toEqual([
      { file: 'MANIFEST.json', problem: expect.stringMatching(/^names itself among the files/) },
    ]);
    await expect(checkBundle(said(/"keeps_adapter": true,/, ''), 'a')).rejects.toThrow(
      'whether the run "keeps_adapter"',
    );
    await expect(checkBundle(said(/"run": "test-run",/, ''), 'a')).rejects.toThrow('no "run"');
  });

  test('a start that is not the adapter which the run names, and a fact of it too many, are told', async () => {
    const startAdapter = { name: 'mine', sha256: await adapterSha256(snapshot(0).adapter) };
    const [first, ...rest] = events;
    if (first?.type !== 'episode_started') throw new Error('the run starts');
    const started = { ...first, manifest: { ...first.manifest, startAdapter } };
    const from = await writeBundle({ ...contents, events: [started, ...rest] });
    const { manifest, problems } = await checkBundle(from, 'run.attt.zip');
    expect(problems).toEqual([]);
    expect(manifest.facts.start_adapter).toEqual(startAdapter);
    const card = new TextDecoder().decode(readZip(from, 'x').get('adapter-start/README.md'));
    expect(labelOfCard(card)?.name).toBe('mine');

    const other = { start: bundled(1), latest: bundled(1.5) };
    const wrong = await writeBundle({ ...contents, events: [started, ...rest], adapters: other });
    const found = await checkBundle(wrong, 'run.attt.zip');
    expect(found.problems).toEqual([
      {
        file: 'snapshots/start.safetensors',
        problem: expect.stringContaining(
          `says that the episode started from ${startAdapter.sha256}`,
        ),
      },
    ]);
    const boast = await resealed((_, { facts }) => {
      facts.start_adapter = startAdapter;
    });
    expect((await checkBundle(boast, 'run.attt.zip')).problems).toMatchObject([
      { problem: expect.stringMatching(/^says start_adapter .*has no such fact/) },
    ]);
  });

  test('names a missing file, a strange file and a fact that the events do not bear out', async () => {
    const bad = changed((files) => {
      files.delete('tokens.jsonl');
      files.set('extra.txt', new Uint8Array(3));
      const manifest = JSON.parse(new TextDecoder().decode(files.get('MANIFEST.json')));
      manifest.facts.seed = 99;
      files.set('MANIFEST.json', new TextEncoder().encode(JSON.stringify(manifest)));
    });
    const { problems } = await checkBundle(bad, 'run.attt.zip');
    expect(problems).toEqual([
      {
        file: 'tokens.jsonl',
        problem: expect.stringMatching(
          /^is named in MANIFEST\.json, but is not in the zip\. It follows/,
        ),
      },
      {
        file: 'extra.txt',
        problem: expect.stringMatching(
          /^is in the zip, but not in MANIFEST\.json\. .* take it out/,
        ),
      },
      { file: 'MANIFEST.json', problem: 'says seed 99; events.jsonl has 1.' },
    ]);
  });

  test('refuses other zips and bundles from the future', async () => {
    const other = writeZip([{ path: 'a.txt', bytes: new Uint8Array(2), stored: true }]);
    await expect(checkBundle(other, 'a.zip')).rejects.toThrow('a.zip has no MANIFEST.json');
    const future = changed((files) => {
      const text = new TextDecoder().decode(files.get('MANIFEST.json'));
      const next = text.replace('"schema": 3', '"schema": 4');
      files.set('MANIFEST.json', new TextEncoder().encode(next));
    });
    await expect(checkBundle(future, 'a.zip')).rejects.toThrow(
      'schema 4; this version reads 2 and 3',
    );
  });

  test('never takes a bundle with a changed or cut byte for a whole one', async () => {
    const cases = fc.record({ at: fc.integer({ min: 0, max: zip.length - 1 }), cut: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(cases, async ({ at, cut }) => {
        const bad = cut ? zip.slice(0, at) : Uint8Array.from(zip);
        if (!cut) bad[at] = (bad[at] ?? 0) ^ 0xff;
        // A byte of a time stamp, a flag or the end's comment carries no content: then all is read.
        const opened = await openRun(bad, 'run.attt.zip').catch((thrown: unknown) => thrown);
        if (opened instanceof Error) expect(opened).toBeInstanceOf(LabError);
        else expect(opened).toMatchObject({ events });
      }),
      { numRuns: 60 },
    );
  });
});

describe('older schemas', () => {
  test('a stored JSONL run (schema 1) opens, and makes a bundle without adapters', async () => {
    const opened = await openRun(storedV1, 'run-v1.jsonl');
    expect(opened.schema).toBe(1);
    const upgraded = await writeBundle({ ...contents, events: opened.events, adapters: null });
    const again = await openRun(upgraded, 'run.attt.zip');
    expect(again.events).toEqual(opened.events);
    expect(snapshotIn(again.files, 'latest')).toBeNull();
  });

  test('a stored bundle of schema 2 opens with its adapter and snapshots', async () => {
    const opened = await openRun(storedV2, 'run-v2.attt.zip');
    expect(opened.events[0]).toMatchObject({
      manifest: { schema: 2, modelName: 'random test policy' },
    });
    expect(opened.events.at(-1)?.type).toBe('episode_ended');
    expect(snapshotIn(opened.files, 'latest')?.optimiser.step).toBeGreaterThan(0);
  });
});

describe('the tables', () => {
  test('a token row is a training example: context without labels, weights and log-probabilities', async () => {
    const { files } = await openRun(storedV2, 'run-v2.attt.zip');
    const rows = new TextDecoder()
      .decode(files.get('tokens.jsonl'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const opened = await openRun(storedV2, 'run-v2.attt.zip');
    const boundary = opened.events.find((event) => event.type === 'boundary' && event.tokens);
    const step = opened.events.find((event) => event.type === 'step' && event.t === rows[0].step);
    if (boundary?.type !== 'boundary' || step?.type !== 'step') throw new Error('no boundary');
    expect(rows[0]).toMatchObject({
      step: boundary.t,
      outcome: 'updated',
      kept: true,
      input_ids: boundary.tokens?.ids,
      weights: boundary.tokens?.weights,
      logprobs: step.generation.logprobs,
    });
    expect(rows[0].labels[0]).toBe(-100); // nothing stands before the first id
    expect(rows[0].labels.slice(1)).toEqual(rows[0].input_ids.slice(1));
  });

  test('metrics.csv has a row a step, its boundary in it, numbers to the last digit', async () => {
    const { files } = await openRun(zip, 'run.attt.zip');
    const [head, ...lines] = new TextDecoder().decode(files.get('metrics.csv')).trim().split('\n');
    expect(head).toBe(
      'step,reward,rep,ntok,ratio,novelty,weight,loss0,loss,gnorm,kl,klctx,upd,undone,dnorm,' +
        'time,secs,bsecs,nprompt,temp,maxtok,lr',
    );
    const steps = events.filter((event) => event.type === 'step');
    expect(lines).toHaveLength(steps.length);
    const fifth = lines[4]?.split(',').map(Number) ?? [];
    const boundary = events.find((event) => event.type === 'boundary' && event.t === 5);
    if (boundary?.type !== 'boundary') throw new Error('no boundary at step 5');
    expect(fifth.slice(0, 3)).toEqual([5, 0, steps[4]?.repetition]);
    expect(fifth[7]).toBe(boundary.losses[0]);
    expect(fifth[10]).toBe(boundary.kl);
  });

  test('a run that was recorded with its times has them in every table, in seconds', async () => {
    let now = Date.UTC(2026, 0, 1);
    const clock = new EventClock(() => now);
    const timed = events.map((event) => {
      now += 100 * event.seq;
      return clock.stamp(event);
    });
    const fifth = metricRows(timed)[4];
    const [step, boundary] = timed.filter((event) => 't' in event && event.t === 5);
    expect(step?.type).toBe('step');
    expect(fifth?.secs).toBe((step?.seq ?? 0) / 10);
    expect(fifth?.bsecs).toBe((boundary?.seq ?? 0) / 10);
    expect(fifth?.time).toBe(Date.parse(step?.clock?.at ?? '') / 1000);
    expect(tokenRows(timed).map((row) => row.recorded_at)).toContain(boundary?.clock?.at);
    const untimed = metricRows(events)[4];
    expect([untimed?.time, untimed?.secs, untimed?.bsecs]).toEqual([null, null, null]);
    const { temperature, max_tokens, learning_rate } = startOf(events).manifest.settings;
    expect([fifth?.temp, fifth?.maxtok, fifth?.lr]).toEqual([
      temperature,
      max_tokens,
      learning_rate,
    ]);
    expect(fifth?.nprompt).toBe(step?.type === 'step' ? step.generation.promptTokens : null);
  });

  test('Parquet holds the same rows as JSONL and CSV', async () => {
    const { parquetReadObjects } = await import('hyparquet');
    const { files } = await openRun(zip, 'run.attt.zip');
    const read = async (path: string) => {
      const bytes = Uint8Array.from(files.get(path) ?? []);
      return parquetReadObjects({ file: bytes.buffer });
    };
    const lines = new TextDecoder().decode(files.get('tokens.jsonl')).trim().split('\n');
    expect(await read('tokens.parquet')).toEqual(lines.map((line) => JSON.parse(line)));
    const metrics = await read('metrics.parquet');
    const csv = new TextDecoder().decode(files.get('metrics.csv')).trim().split('\n').slice(1);
    expect(
      metrics.map((row) =>
        Object.values(row)
          .map((x) => x ?? '')
          .join(','),
      ),
    ).toEqual(csv);
  });
});

describe('comparison', () => {
  const opened = (list: readonly EpisodeEvent[]) => ({
    schema: 1 as const,
    events: list,
    files: new Map(),
  });

  test('equal runs are equal, and equal adapters have no difference', async () => {
    const run = await openRun(zip, 'a');
    expect(await compareRuns(run, run)).toMatchObject({
      ...{ equal: true, settings: [], facts: [], first_difference: null },
      adapters: { modules: 1, max_abs: 0, relative: 0, unmatched: [] },
    });
  });

  test('runs that differ in when they were recorded alone are equal', async () => {
    let now = 0;
    const clock = new EventClock(() => now++);
    const timed = events.map((event) => clock.stamp(event));
    const { equal, first_difference } = await compareRuns(opened(events), opened(timed));
    expect([equal, first_difference]).toEqual([true, null]);
  });

  test('the first differing event is named with the place in it', async () => {
    const other = events.map((event) =>
      event.type === 'step' && event.t === 4 ? { ...event, reward: 1 } : event,
    );
    const seq = other.findIndex((event) => event.type === 'step' && event.t === 4);
    expect(await compareRuns(opened(events), opened(other))).toMatchObject({
      equal: false,
      facts: [{ at: 'reward', a: 0, b: 1 }],
      first_difference: {
        seq,
        type: { a: 'step', b: 'step' },
        places: [{ at: 'reward', a: 0, b: 1 }],
      },
    });
    // Settings that differ are listed apart: what they led to comes first.
    const set = (list: readonly EpisodeEvent[]) =>
      list.map((event) =>
        event.type === 'episode_started'
          ? { ...event, manifest: { ...event.manifest, appVersion: 'later' } }
          : event,
      );
    expect(await compareRuns(opened(events), opened(set(other)))).toMatchObject({
      first_difference: { seq, places: [{ at: 'reward' }] },
    });
    expect(await compareRuns(opened(events), opened(set(events)))).toMatchObject({
      equal: false,
      first_difference: { seq: 0, places: [{ at: 'manifest.appVersion', b: 'later' }] },
    });
    const cut = await compareRuns(opened(events), opened(events.slice(0, -1)));
    expect(cut.first_difference?.type).toEqual({
      a: 'episode_ended',
      b: null,
    });
  });

  test('adapters differ by their values: 1.5 against 0 in one of five', async () => {
    const zero = await writeBundle({
      ...contents,
      adapters: { start: bundled(0), latest: bundled(0) },
    });
    const { adapters } = await compareRuns(await openRun(zip, 'a'), await openRun(zero, 'b'));
    expect(adapters?.max_abs).toBe(1.5);
    expect(adapters?.relative).toBeCloseTo(1.5 / Math.sqrt(1.5 ** 2 + 1 + 4), 12);
  });
});

test('every replay script can be read at a glance: 10 to 30 lines of at most 130 characters', () => {
  const scripts = replayFiles.filter(([path]) => path.endsWith('.py'));
  expect(scripts.length).toBeGreaterThan(10);
  for (const [path, text] of scripts) {
    const lines = text.trimEnd().split('\n');
    expect(lines.length, path).toBeGreaterThanOrEqual(10);
    expect(lines.length, path).toBeLessThanOrEqual(30);
    expect(Math.max(...lines.map(({ length }) => length)), path).toBeLessThanOrEqual(130);
  }
});

test('a replay script imports no other script than those beside it in the bundle', () => {
  const names = replayFiles.map(([path]) => path.replace('replay/', '').replace('.py', ''));
  const outside =
    /^(json|re|sys|os|copy|shutil|unicodedata|urllib|collections|pathlib|pandas|peft|torch|transformers|trackio|wandb)\b/;
  for (const [path, text] of replayFiles) {
    for (const [, module = ''] of text.matchAll(/^from (\S+) import/gm)) {
      expect(outside.test(module) || names.includes(module), `${path}: ${module}`).toBe(true);
    }
  }
});
