/** What a headless browser runs for `--backend webgpu`: one job on its own GPU, words passed out. */

import { toWire, type WireError } from '../errors.ts';
import { joinedSource } from '../formats/gguf-shards.ts';
import { blobSource } from '../formats/source.ts';
import type { VariantMemory } from '../model/choose-variants.ts';
import type { Json } from '../records.ts';
import { type Job, runJob } from './jobs.ts';
import type { PortableFile } from './machine.ts';

/** How a job in the page ended; an exception would lose its code on the way out. */
export type PageResult =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly error: WireError };

declare global {
  interface Window {
    /** Does one job on the model whose files lie at `./model/0` and on. */
    atttJob: (job: Job, names: readonly string[], kernels: string) => Promise<PageResult>;
    /** Put there by the driver. */
    atttNote: (text: string) => Promise<void>;
    /** Put there by the driver: events come out one by one, as JSON. */
    atttEmit: (line: string) => Promise<void>;
    /** Put there by the driver: files that the job made. */
    atttKeep: (file: PortableFile) => Promise<void>;
    /** Put there by the driver: choices of kernels outlive this browser. */
    atttRecall: VariantMemory['recall'];
    atttRemember: VariantMemory['keep'];
  }
}

window.atttJob = async (job, names, asked) => {
  try {
    const files = await Promise.all(
      names.map(async (name, i) => blobSource(await (await fetch(`./model/${i}`)).blob(), name)),
    );
    const source = joinedSource(files);
    const value = await runJob(job, {
      source,
      backend: 'webgpu',
      // Never loaded: the job asks for WebGPU by name.
      env: {
        gpu: navigator.gpu,
        kernels: { asked, memory: { recall: window.atttRecall, keep: window.atttRemember } },
        wasmPaths: {
          'tfjs-backend-wasm.wasm': '',
          'tfjs-backend-wasm-simd.wasm': '',
          'tfjs-backend-wasm-threaded-simd.wasm': '',
        },
      },
      note: (text) => void window.atttNote(text),
      emit: (line) => window.atttEmit(JSON.stringify(line)),
      keep: (file) => window.atttKeep(file),
    });
    return { ok: true, value };
  } catch (thrown) {
    return { ok: false, error: toWire(thrown) };
  }
};
