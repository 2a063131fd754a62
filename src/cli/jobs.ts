/**
 * What the commands ask of a model, as plain data in and out, so that the same work runs in this
 * process or in a headless browser. Knows no files and no command line.
 */

import { type GgufMetadata, readGguf } from '../formats/gguf.ts';
import { writePeft } from '../formats/peft.ts';
import { deriveRng } from '../math/rng.ts';
import { scaleAdapter } from '../model/adapter-algebra.ts';
import { openAdapter } from '../model/adapter-file.ts';
import { cacheFor } from '../model/cache.ts';
import { settleVariants } from '../model/choose-variants.ts';
import { compareSides, type Side } from '../model/compare.ts';
import { openBackend } from '../model/device.ts';
import { forward } from '../model/forward.ts';
import { generate } from '../model/generate.ts';
import { type LlamaModel, loadLlama } from '../model/llama.ts';
import { Adapter } from '../model/lora.ts';
import { toHf } from '../model/lora-hf.ts';
import { GREEDY } from '../model/sampler.ts';
import type { ChatMessage, Json } from '../records.ts';
import { finish } from '../sequences.ts';
import { encodeChat } from '../text/chat.ts';
import { chatTemplateOf } from '../text/template.ts';
import { createTokenizer, type Tokenizer } from '../text/tokenizer.ts';
import { readTrainingCase, runTrainingCase } from '../train/training-case.ts';
import { type EpisodesJob, runEpisodes } from './episodes.ts';
import { type Machine, type PortableFile, sourcesOf, toBase64 } from './machine.ts';

/** The files of one adapter, see openAdapter; null for the base alone. */
export type AdapterFiles = readonly PortableFile[] | null;

export type Job =
  | {
      readonly kind: 'logits';
      readonly ids: readonly number[];
      /** Only the last position's row. */
      readonly last: boolean;
      readonly adapter: AdapterFiles;
    }
  | {
      readonly kind: 'generate';
      readonly messages: readonly ChatMessage[];
      readonly maxTokens: number;
      readonly temperature: number;
      readonly seed: number;
      readonly adapter: AdapterFiles;
    }
  | {
      readonly kind: 'compare';
      readonly messages: readonly ChatMessage[];
      readonly maxTokens: number;
      readonly temperature: number;
      readonly seed: number;
      /** In the order of the result; null files are the base alone. */
      readonly sides: readonly {
        readonly label: string;
        readonly strength: number;
        readonly adapter: AdapterFiles;
      }[];
    }
  | { readonly kind: 'train'; readonly case: Json }
  | EpisodesJob;

/** Opens the backend, loads the model, does the job, and frees both; episodes keep them until the process ends. */
export async function runJob(job: Job, machine: Machine): Promise<Json> {
  if (job.kind === 'run') {
    await runEpisodes(job, machine);
    return null;
  }
  const { source, note } = machine;
  const backend = await openBackend(machine.backend, machine.env);
  note(`Backend: ${backend.name}, ${backend.capabilities.device}.`);
  try {
    const gguf = await readGguf(source);
    const model = await loadLlama(gguf, source);
    try {
      await settleVariants(model, backend, machine.env.kernels);
      if (job.kind === 'train') return await train(model, job.case, source.name);
      if (job.kind === 'compare') return await compare(model, gguf.metadata, job, machine);
      using adapter = await adapterOf(job.adapter, model);
      switch (job.kind) {
        case 'logits':
          return { logits: await logitRows(model, adapter, job.ids, job.last) };
        case 'generate':
          return await reply(model, adapter, gguf.metadata, job, machine);
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

/** What `train` gives: the numbers that the command prints, and the adapter that it may keep. */
export interface Trained {
  readonly result: Json;
  readonly files: readonly PortableFile[];
}

async function train(model: LlamaModel, file: Json, name: string): Promise<Json> {
  const { result, adapter } = await runTrainingCase(model, readTrainingCase(file));
  const files = writePeft(toHf(adapter, model.config), { name, licence: null });
  const portable = Object.entries(files).map(([path, bytes]) => ({
    name: path,
    base64: toBase64(bytes),
  }));
  return { result: { ...result }, files: portable } satisfies Trained & Json;
}

/** The adapter of the files on the device; owned by the caller. */
async function adapterOf(files: AdapterFiles, model: LlamaModel): Promise<Adapter | null> {
  if (files === null) return null;
  return new Adapter(await openAdapter(sourcesOf(files), model.config));
}

async function logitRows(
  model: LlamaModel,
  adapter: Adapter | null,
  ids: readonly number[],
  last: boolean,
): Promise<number[][]> {
  const cache = cacheFor(model);
  const logits = await forward(model, adapter, cache, ids, { logits: last ? 'last' : 'all' });
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
  adapter: Adapter | null,
  metadata: GgufMetadata,
  { messages, maxTokens, temperature, seed }: GenerateJob,
  { note }: Machine,
): Promise<Json> {
  const { tokenizer, prompt } = promptOf(metadata, messages, note);
  const cache = cacheFor(model);
  const sampling = { ...GREEDY, temperature };
  const rng = deriveRng(seed, 'generate');
  const options = { sampling, maxTokens };
  const generation = await finish(generate(model, tokenizer, adapter, cache, prompt, rng, options));
  const { ids, logprobs, stop } = generation;
  // The text of exactly these ids, as `attt decode` gives it: a sampled end of turn shows.
  return { prompt_ids: prompt, ids, logprobs, text: tokenizer.decode(ids), stop };
}

/** The conversation as ids, up to where the model is to go on. */
function promptOf(
  metadata: GgufMetadata,
  messages: readonly ChatMessage[],
  note: Machine['note'],
): { readonly tokenizer: Tokenizer; readonly prompt: readonly number[] } {
  const tokenizer = createTokenizer(metadata);
  for (const warning of tokenizer.warnings) note(warning);
  const options = { addGenerationPrompt: true };
  return {
    tokenizer,
    prompt: encodeChat(tokenizer, chatTemplateOf(metadata), messages, options).ids,
  };
}

type CompareJob = Extract<Job, { readonly kind: 'compare' }>;

async function compare(
  model: LlamaModel,
  metadata: GgufMetadata,
  { messages, sides, maxTokens, temperature, seed }: CompareJob,
  { note }: Machine,
): Promise<Json> {
  const { tokenizer, prompt } = promptOf(metadata, messages, note);
  const opened: Side[] = [];
  for (const { label, strength, adapter: files } of sides) {
    const adapter =
      files && scaleAdapter(await openAdapter(sourcesOf(files), model.config), strength);
    opened.push({ label, adapter });
  }
  const texts = await compareSides(model, tokenizer, prompt, opened, {
    ...{ maxTokens, temperature, seed },
    onProgress: (done, total) => note(`Turn ${done} of ${total}.`),
  });
  return {
    prompt_ids: prompt,
    sides: sides.map(({ label }) => label),
    texts: texts.map(({ tokens, ...text }) => ({ ...text, tokens: tokens.map((t) => ({ ...t })) })),
  };
}
