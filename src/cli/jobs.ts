/**
 * What the commands ask of a model, as plain data in and out, so that the same work runs in this
 * process or in a headless browser. Knows no files and no command line.
 */

import { readGguf } from '../formats/gguf.ts';
import type { ByteSource } from '../formats/source.ts';
import { KvCache } from '../model/cache.ts';
import { type BackendEnv, openBackend } from '../model/device.ts';
import { forward } from '../model/forward.ts';
import { type LlamaModel, loadLlama } from '../model/llama.ts';
import type { BackendName, Json } from '../records.ts';
import { readTrainingCase, runTrainingCase } from '../train/training-case.ts';

/** A small file as JSON can carry it. */
export interface PortableFile {
  readonly name: string;
  readonly base64: string;
}

export type Job =
  | {
      readonly kind: 'logits';
      readonly ids: readonly number[];
      /** Only the last position's row. */
      readonly last: boolean;
    }
  | { readonly kind: 'train'; readonly case: Json };

/** Where a job runs. */
export interface Machine {
  readonly source: ByteSource;
  readonly backend: BackendName;
  readonly env: BackendEnv;
  /** Passing words about progress. */
  readonly note: (text: string) => void;
}

/** Opens the backend, loads the model, does the job, and frees both. */
export async function runJob(job: Job, machine: Machine): Promise<unknown> {
  const { source, note } = machine;
  const backend = await openBackend(machine.backend, machine.env);
  note(`Backend: ${backend.name}, ${backend.device}.`);
  try {
    const gguf = await readGguf(source);
    const model = await loadLlama(gguf, source);
    try {
      switch (job.kind) {
        case 'logits':
          return { logits: await logitRows(model, job.ids, job.last) };
        case 'train':
          return (await runTrainingCase(model, readTrainingCase(job.case))).result;
        default:
          return job satisfies never;
      }
    } finally {
      model.dispose();
    }
  } finally {
    backend.dispose();
  }
}

async function logitRows(
  model: LlamaModel,
  ids: readonly number[],
  last: boolean,
): Promise<number[][]> {
  const { config } = model;
  const cache = new KvCache(config.layers, config.kvHeads * config.headDim, config.contextLength);
  const logits = await forward(model, null, cache, ids, { logits: last ? 'last' : 'all' });
  if (logits === null) return [];
  const [rows, width] = logits.shape;
  const values = await logits.data();
  logits.dispose();
  return Array.from({ length: rows }, (_, row) => [
    ...values.subarray(row * width, (row + 1) * width),
  ]);
}
