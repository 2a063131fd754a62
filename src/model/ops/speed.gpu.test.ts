/** Prints the speed of the products at SmolLM2's shapes; fails only when one is slower by far than ever seen. */

import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { deriveRng } from '../../math/rng.ts';
import type { OpenBackend } from '../device.ts';
import { uploadWeight } from '../weights.ts';
import { linear, linearBackward } from './linear.ts';
import { gpuBackend } from './program.ts';
import { random2D, randomBlocks } from './testing.ts';
import { openGpu } from './testing-gpu.ts';

/** A quiet machine gives ten times as much and more; several busy ones shared two cores below this. */
const FAR_TOO_SLOW = 0.02; // GFLOP/s

let opened: OpenBackend;
beforeAll(async () => {
  opened = await openGpu();
});
afterAll(() => opened.dispose());

const shapes = [
  { rows: 576, cols: 576, tokens: 1, repeats: 8 },
  { rows: 1536, cols: 576, tokens: 1, repeats: 4 },
  { rows: 49152, cols: 576, tokens: 1, repeats: 1 },
  { rows: 576, cols: 576, tokens: 32, repeats: 1 },
  { rows: 1536, cols: 576, tokens: 32, repeats: 1 },
  { rows: 576, cols: 1536, tokens: 32, repeats: 1 },
] as const;

it.each(shapes)('Q4_1 $rows x $cols, $tokens tokens', async ({ rows, cols, tokens, repeats }) => {
  const rng = deriveRng(7, 'speed', rows, cols);
  const w = uploadWeight('w', 'Q4_1', rows, cols, randomBlocks(rng, 'Q4_1', rows * cols));
  const x = random2D(rng, tokens, cols);
  const dy = random2D(rng, tokens, rows);
  const work = 2 * tokens * rows * cols * repeats;
  const forward = await gigaflops(work, () => {
    for (let i = 0; i < repeats; i++) linear(x, w);
  });
  // Nothing trains on one token, and the gradient's tile is eight wide.
  const backward =
    tokens === 1
      ? forward
      : await gigaflops(work, () => {
          for (let i = 0; i < repeats; i++) linearBackward(dy, w);
        });
  console.info(
    `Q4_1 ${rows} x ${cols}, T = ${tokens}: forward ${forward.toFixed(2)}${tokens === 1 ? '' : `, backward ${backward.toFixed(2)}`} GFLOP/s`,
  );
  tf.dispose([x, dy]);
  w.dispose();
  expect(Math.min(forward, backward)).toBeGreaterThan(FAR_TOO_SLOW);
});

/** The best of three runs after one that compiles; waits for the queue, reads nothing back. */
async function gigaflops(work: number, run: () => void): Promise<number> {
  const backend = gpuBackend();
  let best = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 4; attempt++) {
    const begun = performance.now();
    tf.tidy(() => run());
    backend.ensureCommandEncoderReady();
    backend.endComputePassEncoder();
    backend.submitQueue();
    await backend.queue.onSubmittedWorkDone();
    if (attempt > 0) best = Math.min(best, performance.now() - begun);
  }
  return work / best / 1e6;
}
