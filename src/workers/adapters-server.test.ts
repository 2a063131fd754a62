import 'fake-indexeddb/auto';
import { readFileSync } from 'node:fs';
import { unzipSync } from 'fflate';
import { beforeAll, expect, test } from 'vitest';
import { parseRunFile } from '../formats/run-file.ts';
import { blobSource, bytesSource } from '../formats/source.ts';
import { describeAdapter } from '../model/adapter-algebra.ts';
import { openAdapter, saveAdapter } from '../model/adapter-file.ts';
import { nodeWasmPaths } from '../model/wasm-paths-node.ts';
import type { AdapterData, ShelvedAdapter } from '../records.ts';
import { adapterData } from '../store/adapters.ts';
import { saveRun } from '../store/runs.ts';
import { saveSnapshot } from '../store/snapshots.ts';
import { adapterHandlers } from './adapters-server.ts';
import { EngineHost } from './engine.ts';

const never = new AbortController().signal;
const policy = 'models/household-2m/household-2m-q8_0.gguf';
const engine = new EngineHost({ wasmPaths: nodeWasmPaths(import.meta.url) }, 'wasm');
const { calls, streams } = adapterHandlers(engine);
const kept: ShelvedAdapter[] = [];

beforeAll(async () => {
  const bytes = new Uint8Array(readFileSync(policy));
  const file = { source: bytesSource(bytes, 'policy.gguf'), sha256: 'abc' };
  await engine.load(file, 512, never, () => {});
  for (const [name, size] of [
    ['kitchen', 0.3],
    ['garden', -0.2],
  ] as const) {
    const { config } = engine.loaded.model;
    const card = { name: 'household', licence: null };
    const gguf = saveAdapter(made(size), 'gguf', 'F32', config, card);
    const lora = new File([Uint8Array.from(gguf)], `${name}.gguf`);
    kept.push(await calls.openAdapter({ files: [lora] }, never));
  }
});

/** Rank 1 on the output projection of each layer: every entry of A is 0.01, of B `size`. */
function made(size: number): AdapterData {
  const { layers, width } = engine.loaded.model.config;
  return {
    modules: Array.from({ length: layers }, (_, layer) => ({
      ...({ layer, target: 'o_proj', inputs: width, outputs: width, rank: 1, scale: 1 } as const),
      aT: new Float32Array(width).fill(0.01),
      bT: new Float32Array(width).fill(size),
    })),
  };
}

const idOf = (name: string) => kept.find((one) => one.name === name)?.id ?? '';

test('an opened adapter stands in the list with what it is, bit for bit', async () => {
  expect(kept[0]).toMatchObject({ name: 'kitchen', modelSha256: 'abc', modules: 6, ranks: [1] });
  expect(kept[0]?.norm).toBeCloseTo(describeAdapter(made(0.3)).norm, 10);
  expect(await adapterData(idOf('kitchen'))).toEqual(made(0.3));
  const names = (await calls.adapters(null, never)).map(({ name }) => name);
  expect(names.sort()).toEqual(['garden', 'kitchen']);
});

test("a PEFT folder's files together are one adapter, called what its card says", async () => {
  const { config } = engine.loaded.model;
  const label = { name: 'attic', note: 'dusty' };
  const card = { name: 'household', licence: null, label };
  const zip = unzipSync(saveAdapter(made(0.1), 'peft', 'F32', config, card));
  const files = Object.entries(zip).map(
    ([name, bytes]) => new File([Uint8Array.from(bytes)], name),
  );
  expect(files.map(({ name }) => name)).toContain('README.md');
  const opened = await calls.openAdapter({ files }, never);
  expect(opened).toMatchObject({ ...label, modules: 6 });
  expect(await adapterData(opened.id)).toEqual(made(0.1));
  const bare = files.filter(({ name }) => name !== 'README.md');
  // PEFT gives every folder's files the same names: they name nothing.
  const unnamed = await calls.openAdapter({ files: bare }, never);
  expect(unnamed.name).toBe('adapter');
  for (const { id } of [opened, unnamed]) await calls.deleteAdapter({ id }, never);
});

test('a run without an adapter puts none on the shelf', async () => {
  const [started] = parseRunFile(readFileSync('e2e/fixtures/bundles/run-v1.jsonl', 'utf8'), 'v1');
  if (started?.type !== 'episode_started') throw new Error('no run');
  await saveRun({
    ...{ id: 'served', createdAt: '', manifest: started.manifest, goal: '', steps: 0, updates: 0 },
    ...{ rollbacks: 0, reason: null, reward: 0 },
  });
  await saveSnapshot('served', 'latest', {
    schema: 1,
    adapter: { modules: [] },
    optimiser: { step: 0, m: [], v: [] },
  });
  await expect(calls.shelveRun({ id: 'served', name: 'x' }, never)).rejects.toThrow(
    /has no adapter to keep/,
  );
});

test('a difference and a pruned adapter are new ones; the old ones stay', async () => {
  const summands = [
    { id: idOf('kitchen'), weight: 1 },
    { id: idOf('garden'), weight: -1 },
  ];
  const from = { kind: 'combine', summands } as const;
  const difference = await calls.deriveAdapter({ name: 'difference', from }, never);
  // 0.3 − (−0.2) on every entry of B.
  expect(difference.norm).toBeCloseTo(describeAdapter(made(0.5)).norm, 4);
  const prune = { kind: 'prune', id: idOf('kitchen'), keep: 0.5 } as const;
  const pruned = await calls.deriveAdapter({ name: 'pruned', from: prune }, never);
  expect(pruned.modules).toBe(3);
  expect(await adapterData(idOf('kitchen'))).toEqual(made(0.3));
});

test('saved at half the strength it is half as large, in both forms', async () => {
  for (const form of ['peft', 'gguf'] as const) {
    const input = { id: idOf('kitchen'), form, dtype: 'F32', strength: 0.5 } as const;
    const { name, bytes } = await calls.saveAdapter(input, never);
    expect(name).toBe(form === 'peft' ? 'kitchen.zip' : 'kitchen.gguf');
    const back = await openAdapter([bytesSource(bytes, name)], engine.loaded.model.config);
    expect(describeAdapter(back).norm).toBeCloseTo(describeAdapter(made(0.15)).norm, 6);
  }
});

test('compared and merged: both come out whole, and a stop is heard', async () => {
  const messages = [{ role: 'user', content: 'look' }] as const;
  const sides = [
    { id: null, strength: 1 },
    { id: idOf('kitchen'), strength: 0 },
    { id: idOf('garden'), strength: 1 },
  ];
  const input = { messages, sides, maxTokens: 4, temperature: 0, seed: 1 };
  const turns = streams.compareAdapters(input, never);
  let next = await turns.next();
  let turn = 0;
  while (!next.done) {
    turn = next.value.done;
    next = await turns.next();
  }
  expect(turn).toBe(6); // three write, three read
  expect(next.value.map(({ label }) => label)).toEqual(['base', 'kitchen × 0', 'garden']);
  for (const { total } of next.value) expect(total[0]).toBe(total[1]);

  const parts = streams.mergeAdapter({ id: idOf('garden'), strength: 1, type: 'F16' }, never);
  let part = await parts.next();
  while (!part.done) part = await parts.next();
  const { name, file, report } = part.value;
  expect(name).toBe('household-2m-garden-f16.gguf');
  expect(file.size).toBe(report.bytes);
  const merged = new EngineHost({ wasmPaths: nodeWasmPaths(import.meta.url) }, 'wasm');
  const model = { source: blobSource(file, name), sha256: '' };
  expect((await merged.load(model, 512, never, () => {})).quantisation).toBe('F16');

  const stop = new AbortController();
  const stopped = streams.compareAdapters(input, stop.signal);
  await stopped.next();
  stop.abort();
  await expect(
    (async () => {
      while (!(await stopped.next()).done);
    })(),
  ).rejects.toMatchObject({ code: 'aborted' });
});

test('an adapter of another model is refused where it is used, and an empty name where it is given', async () => {
  const other = new EngineHost({ wasmPaths: nodeWasmPaths(import.meta.url) }, 'wasm');
  const tiny = new Uint8Array(readFileSync('e2e/fixtures/engine/tiny.gguf'));
  await other.load({ source: bytesSource(tiny, 'tiny'), sha256: 'x' }, 64, never, () => {});
  const input = { id: idOf('garden'), form: 'gguf', dtype: 'F32', strength: 1 } as const;
  await expect(
    (async () => adapterHandlers(other).calls.saveAdapter(input, never))(),
  ).rejects.toThrow(/o_proj \(192 inputs, 192 outputs\) does not fit this model/);
  await expect(
    (async () => calls.renameAdapter({ id: idOf('garden'), name: '  ', note: '' }, never))(),
  ).rejects.toThrow(/name is empty/);
});

test.each(['gguf', 'peft'] as const)(
  'name and note go out with a %s file, and come in with it',
  async (form) => {
    const id = idOf('garden');
    await calls.renameAdapter({ id, name: 'a garden', note: 'step 40\nafter the rain' }, never);
    const input = { id, form, dtype: 'F32', strength: 1 } as const;
    const { bytes } = await calls.saveAdapter(input, never);
    const again = await calls.openAdapter(
      { files: [new File([Uint8Array.from(bytes)], 'x')] },
      never,
    );
    expect(again).toMatchObject({ name: 'a garden', note: 'step 40\nafter the rain' });
    await calls.deleteAdapter({ id: again.id }, never);
  },
);
