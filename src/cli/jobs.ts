/**
 * What the commands ask of a model, as plain data in and out, so that the same work runs in this
 * process or in a headless browser. Knows no files and no command line.
 */

import { type GgufMetadata, readGguf } from '../formats/gguf.ts';
import type { ByteSource } from '../formats/source.ts';
import { deriveRng } from '../math/rng.ts';
import { KvCache } from '../model/cache.ts';
import { type BackendEnv, openBackend } from '../model/device.ts';
import { forward } from '../model/forward.ts';
import { generate } from '../model/generate.ts';
import { type LlamaModel, loadLlama } from '../model/llama.ts';
import { finish } from '../model/macrotask.ts';
import { GREEDY } from '../model/sampler.ts';
import type { BackendName, ChatMessage, EpisodeEvent, Json } from '../records.ts';
import { encodeChat } from '../text/chat.ts';
import { chatTemplateOf } from '../text/template.ts';
import { createTokenizer } from '../text/tokenizer.ts';
import { readTrainingCase, runTrainingCase } from '../train/training-case.ts';
import { type EpisodesJob, runEpisodes } from './episodes.ts';

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
  | {
      readonly kind: 'generate';
      readonly messages: readonly ChatMessage[];
      readonly maxTokens: number;
      readonly temperature: number;
      readonly seed: number;
    }
  | { readonly kind: 'train'; readonly case: Json }
  | EpisodesJob;

/** Where a job runs. */
export interface Machine {
  readonly source: ByteSource;
  readonly backend: BackendName;
  readonly env: BackendEnv;
  /** Passing words about progress. */
  readonly note: (text: string) => void;
  /** Takes an episode's events one by one; the job goes on when one is taken. */
  readonly emit: (event: EpisodeEvent) => Promise<void>;
}

/** Opens the backend, loads the model, does the job, and frees both. */
export async function runJob(job: Job, machine: Machine): Promise<Json> {
  if (job.kind === 'run') {
    await runEpisodes(job, machine);
    return null;
  }
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
        case 'generate':
          return await reply(model, gguf.metadata, job, machine);
        case 'train':
          return { ...(await runTrainingCase(model, readTrainingCase(job.case))).result };
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
  const cache = emptyCache(model);
  const logits = await forward(model, null, cache, ids, { logits: last ? 'last' : 'all' });
  if (logits === null) return [];
  const [rows, width] = logits.shape;
  const values = await logits.data();
  logits.dispose();
  return Array.from({ length: rows }, (_, row) => [
    ...values.subarray(row * width, (row + 1) * width),
  ]);
}

type GenerateJob = Extract<Job, { readonly kind: 'generate' }>;

async function reply(
  model: LlamaModel,
  metadata: GgufMetadata,
  { messages, maxTokens, temperature, seed }: GenerateJob,
  { note }: Machine,
): Promise<Json> {
  const tokenizer = createTokenizer(metadata);
  for (const warning of tokenizer.warnings) note(warning);
  const { ids: prompt } = encodeChat(tokenizer, chatTemplateOf(metadata), messages, {
    addGenerationPrompt: true,
  });
  const cache = emptyCache(model);
  const sampling = { ...GREEDY, temperature };
  const rng = deriveRng(seed, 'generate');
  const options = { sampling, maxTokens };
  const generation = await finish(generate(model, tokenizer, null, cache, prompt, rng, options));
  const { ids, logprobs, text, stop } = generation;
  return { prompt_ids: prompt, ids, logprobs, text, stop };
}

function emptyCache({ config }: LlamaModel): KvCache {
  return new KvCache(config.layers, config.kvHeads * config.headDim, config.contextLength);
}
