/** wllama (llama.cpp as WASM, with its WebGPU backend) as a contestant. Times are llama.cpp's own. */

import { Wllama } from '@wllama/wllama/esm/index.js';
import { type Contestant, UNKNOWN } from './contestant.ts';

/** Words of llama.cpp's log that say where the model went. */
const TELLING = /device|offload|webgpu|buffer size/i;

/** `layers` on the GPU: 0 is WASM alone, on `threads`. Text, not ids, is what its completion takes. */
export async function wllamaContestant(
  model: Blob,
  wasm: string,
  layers: number,
  threads = 1,
): Promise<Contestant> {
  const log: string[] = [];
  const keep = (...words: unknown[]) => void log.push(words.map(String).join(' '));
  const logger = { debug: keep, log: keep, warn: keep, error: keep };
  const wllama = new Wllama({ default: wasm }, { logger, suppressNativeLog: false });
  await wllama.loadModel([model], { n_threads: threads, n_gpu_layers: layers, n_ctx: 2048 });
  const told = log.filter((line) => TELLING.test(line)).slice(0, 8);
  let run = 0;
  return {
    device: `${layers > 0 ? 'asked for WebGPU' : 'WASM'}, threads: ${wllama.getNumThreads()}; it says: ${told.join(' | ') || 'nothing'}`,
    measure: async ({ prompt, decode }) => {
      // One token a word, about; another first word each time, so that nothing is reused.
      const text = `${++run}${' the cat sat on a mat'.repeat(Math.round(prompt / 6))}`;
      const { timings } = await wllama.createCompletion({
        prompt: text,
        max_tokens: decode,
        temperature: 0,
      });
      return {
        ...UNKNOWN,
        prefillPerSecond: timings?.prompt_per_second ?? Number.NaN,
        decodePerSecond: timings?.predicted_per_second ?? Number.NaN,
      };
    },
  };
}
