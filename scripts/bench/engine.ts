/** This engine as a contestant, on the backend that is open. */

import { readGguf } from '../../src/formats/gguf.ts';
import type { ByteSource } from '../../src/formats/source.ts';
import { cacheFor, type KvCache } from '../../src/model/cache.ts';
import { settleVariants } from '../../src/model/choose-variants.ts';
import type { OpenBackend } from '../../src/model/device.ts';
import { forward } from '../../src/model/forward.ts';
import { type LlamaModel, loadLlama } from '../../src/model/llama.ts';
import { gpuBackend } from '../../src/model/ops/program.ts';
import { argmax } from '../../src/model/sampler.ts';
import { equip, trainOn } from '../../src/model/testing-update.ts';
import { choiceOn, writeChoice } from '../../src/model/variants.ts';
import type { Contestant, Measured, Work } from './contestant.ts';
import { countDispatches } from './dispatches.ts';
import { memoryOf } from './memory.ts';

/** Loads the model once; every measurement starts from an empty cache. `processor`: seconds used so far, where known. */
export async function engineContestant(
  backend: OpenBackend,
  source: ByteSource,
  processor: (() => number) | null = null,
): Promise<Contestant> {
  const counted = countDispatches();
  const model = await loadLlama(await readGguf(source), source, { contextLength: 2048 });
  // Measured anew in each bench: nothing is kept.
  const memory = { recall: async () => undefined, keep: async () => {} };
  await settleVariants(model, backend, { asked: 'measure', memory });
  const kernels =
    backend.name === 'webgpu' ? `, ${writeChoice(choiceOn(gpuBackend().device))}` : '';
  return {
    device: `${backend.name}: ${backend.capabilities.device}${kernels}`,
    measure: async (work) => {
      using cache = cacheFor(model);
      const ids = promptIds(work.prompt, model.config.vocabulary);
      const begun = performance.now();
      let next = await greedy(model, cache, ids);
      const read = performance.now();
      const before = counted();
      const used = processor?.() ?? 0;
      for (let i = 0; i < work.decode; i++) next = await greedy(model, cache, [next]);
      const decoded = performance.now();
      const busy = processor && processor() - used;
      const after = counted();
      const perToken = (n: number | undefined) => (n === undefined ? null : n / work.decode);
      const gpu = backend.ledger !== null;
      return {
        prefillPerSecond: (1000 * work.prompt) / (read - begun),
        decodePerSecond: (1000 * work.decode) / (decoded - read),
        decodePerProcessorSecond: busy && work.decode / busy,
        ...(await episodeSteps(model, work.steps)),
        updateSeconds: work.train === 0 ? null : await update(model, work),
        dispatchesPerToken: gpu ? perToken(after.dispatches - before.dispatches) : null,
        submitsPerToken: gpu ? perToken(after.submits - before.submits) : null,
        ...memoryOf(backend),
        readBytesPerToken: gpu ? readBytes(model, work) : null,
        leastBytesPerToken: leastBytes(model, work),
      } satisfies Measured;
    },
  };
}

/** Ids all over the vocabulary's first thousand, the same for every contestant that takes ids. */
export function promptIds(count: number, vocabulary: number): number[] {
  return Array.from({ length: count }, (_, i) => (i * 37 + 11) % Math.min(1000, vocabulary));
}

async function greedy(model: LlamaModel, cache: KvCache, ids: readonly number[]): Promise<number> {
  const logits = await forward(model, null, cache, ids, { logits: 'last' });
  const row = (await logits?.data<'float32'>()) ?? new Float32Array(1);
  logits?.dispose();
  return argmax(row);
}

/** Tokens of an observation and of an action in a step of the household, about. */
const STEP = { read: 24, decoded: 8 } as const;

/** Seconds of the first and the last step of an episode whose conversation is kept in the cache. */
async function episodeSteps(
  model: LlamaModel,
  steps: number,
): Promise<Pick<Measured, 'firstStepSeconds' | 'lastStepSeconds'>> {
  const { vocabulary } = model.config;
  using cache = cacheFor(model);
  const seconds: number[] = [];
  for (let i = 0; i < steps; i++) {
    const begun = performance.now();
    let next = await greedy(model, cache, promptIds(STEP.read, vocabulary));
    for (let k = 0; k < STEP.decoded; k++) next = await greedy(model, cache, [next]);
    seconds.push((performance.now() - begun) / 1000);
  }
  return { firstStepSeconds: seconds[0] ?? null, lastStepSeconds: seconds.at(-1) ?? null };
}

/** Seconds for one update: two gradient steps, r 8 on q and v. */
async function update(model: LlamaModel, work: Work): Promise<number> {
  const { adapter, adam } = equip(model);
  const ids = promptIds(work.train, model.config.vocabulary);
  const begun = performance.now();
  await trainOn(model, ids, { adapter, adam }, { steps: 2, maxGradNorm: 0 });
  const seconds = (performance.now() - begun) / 1000;
  adapter.dispose();
  adam.dispose();
  return seconds;
}

/** Bytes of keys and values that a token in the middle of the decoded ones reads. */
function cacheBytes(model: LlamaModel, work: Work): number {
  using cache = cacheFor(model);
  return ((work.prompt + work.decode / 2) * cache.bytes) / cache.capacity;
}

function leastBytes(model: LlamaModel, work: Work): number {
  const weights = model.matrices.reduce((sum, { fileBytes }) => sum + fileBytes, 0);
  return weights + cacheBytes(model, work);
}

/** Each product walks once over its matrix as it lies in GPU memory; of an embedding of its own one row is read. */
function readBytes(model: LlamaModel, work: Work): number {
  const walked = new Set([
    ...model.layers.flatMap(({ projections }) => Object.values(projections)),
    model.head,
  ]);
  const weights = [...walked].reduce((sum, { bytesOnDevice }) => sum + bytesOnDevice, 0);
  const row = model.embedding.bytesOnDevice / model.embedding.rows;
  return weights + row + cacheBytes(model, work);
}
