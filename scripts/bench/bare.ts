/**
 * The matrix products of a model and nothing else, as a contestant: each shape alone in a loop, by the
 * fastest kernel that there is for it. What a whole model could reach at most on this adapter.
 */

import * as tf from '@tensorflow/tfjs-core';
import { readGguf } from '../../src/formats/gguf.ts';
import type { ByteSource } from '../../src/formats/source.ts';
import type { OpenBackend } from '../../src/model/device.ts';
import { PREFILL_CHUNK } from '../../src/model/forward.ts';
import { loadLlama } from '../../src/model/llama.ts';
import { linear } from '../../src/model/ops/index.ts';
import { gpuBackend, submitRecorded } from '../../src/model/ops/program.ts';
import { FIXED, offered, useChoice } from '../../src/model/variants.ts';
import type { WeightMatrix } from '../../src/model/weights.ts';
import { type Contestant, UNKNOWN } from './contestant.ts';

export async function bareContestant(
  backend: OpenBackend,
  source: ByteSource,
): Promise<Contestant> {
  const model = await loadLlama(await readGguf(source), source, { contextLength: 2048 });
  const walked = [
    ...model.layers.flatMap(({ projections }) => Object.values(projections)),
    model.head,
  ];
  /** One matrix of each shape and type, with how many there are. */
  const shapes = new Map<string, { readonly matrix: WeightMatrix; count: number }>();
  for (const matrix of walked) {
    const shape = `${matrix.type} ${matrix.rows} x ${matrix.cols}`;
    const known = shapes.get(shape);
    if (known) known.count++;
    else shapes.set(shape, { matrix, count: 1 });
  }
  const { device } = gpuBackend();
  const choices = [
    ...offered(device, 'matvec').map((matvec) => ({ ...FIXED, matvec })),
    ...offered(device, 'matmul').map((matmul) => ({ ...FIXED, matmul })),
  ];
  /** Seconds of all products with so many rows of x; the head sees one row of a prompt alone. */
  const seconds = async (tokens: number): Promise<number> => {
    let sum = 0;
    for (const { matrix, count } of shapes.values()) {
      const rows = matrix === model.head ? 1 : tokens;
      let least = Number.POSITIVE_INFINITY;
      for (const choice of choices) {
        useChoice(device, choice);
        least = Math.min(least, await fastestRun(matrix, rows));
      }
      sum += count * least;
    }
    useChoice(device, FIXED);
    return sum;
  };
  return {
    device: `bare products, ${backend.name}: ${backend.device}`,
    measure: async () => ({
      ...UNKNOWN,
      prefillPerSecond: PREFILL_CHUNK / (await seconds(PREFILL_CHUNK)),
      decodePerSecond: 1 / (await seconds(1)),
    }),
  };
}

/** Products between two waits for the GPU: one row's are short, and a model waits once a token. */
const repeatsOf = (tokens: number): number => (tokens === 1 ? 16 : 1);

/** Seconds of one product: the best of three attempts after one that compiles. */
async function fastestRun(matrix: WeightMatrix, tokens: number): Promise<number> {
  const { device } = gpuBackend();
  const x = tf.randomUniform<tf.Rank.R2>([tokens, matrix.cols], -1, 1);
  const repeats = repeatsOf(tokens);
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 4; attempt++) {
    const begun = performance.now();
    for (let i = 0; i < repeats; i++) linear(x, matrix).dispose();
    submitRecorded();
    await device.queue.onSubmittedWorkDone();
    if (attempt > 0) least = Math.min(least, (performance.now() - begun) / 1000 / repeats);
  }
  x.dispose();
  return least;
}
