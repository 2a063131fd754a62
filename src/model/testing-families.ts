/** For tests only: the tiny models of every family, run against transformers and PEFT on any backend. */

import type { GgufFile } from '../formats/gguf.ts';
import { readGguf } from '../formats/gguf.ts';
import type { ByteSource } from '../formats/source.ts';
import { readTrainingCase, runTrainingCase } from '../train/training-case.ts';
import { cacheFor } from './cache.ts';
import { forward } from './forward.ts';
import { type LlamaModel, loadLlama } from './llama.ts';

/** A file of families_logits.json and its entry there; the reference ran on the same decoded weights. */
export const TINY_MODELS = [
  ['tiny_llama3rope', 'llama3rope'],
  ['tiny_qwen2', 'qwen2'],
  ['tiny_qwen3', 'qwen3'],
  ['tiny_gemma3', 'gemma3'],
  ['q_F16', 'qwen3_F16'],
  ['q_BF16', 'qwen3_BF16'],
  ['q_Q8_0', 'qwen3_Q8_0'],
  ['q_Q4_0', 'qwen3_Q4_0'],
  ['q_Q4_1', 'qwen3_Q4_1'],
  ['q_Q5_0', 'qwen3_Q5_0'],
  ['q_Q5_1', 'qwen3_Q5_1'],
] as const;

export const TRAINED_FAMILIES = ['llama3rope', 'qwen2', 'qwen3', 'gemma3'] as const;

/** What the stretched variants of tiny_qwen3 add to its metadata. */
export const STRETCHED = {
  linear: { 'qwen3.rope.scaling.type': 'linear', 'qwen3.rope.scaling.factor': 4 },
  yarn: {
    'qwen3.rope.scaling.type': 'yarn',
    'qwen3.rope.scaling.factor': 4,
    'qwen3.rope.scaling.original_context_length': 32,
  },
} as const;

export async function loadWith(
  source: ByteSource,
  metadata: GgufFile['metadata'] = {},
): Promise<LlamaModel> {
  const gguf = await readGguf(source);
  return loadLlama({ ...gguf, metadata: { ...gguf.metadata, ...metadata } }, source);
}

/** The largest |difference| between the model's logits, computed in two chunks, and `expected`. */
export async function logitError(
  model: LlamaModel,
  ids: readonly number[],
  expected: readonly (readonly number[])[],
): Promise<number> {
  using cache = cacheFor(model);
  let worst = 0;
  for (const [from, to] of [
    [0, 13],
    [13, ids.length],
  ] as const) {
    const logits = await forward(model, null, cache, ids.slice(from, to), { logits: 'all' });
    const rows = (await logits?.array()) ?? [];
    logits?.dispose();
    expected.slice(from, to).forEach((row, t) => {
      row.forEach((value, i) => {
        const error = Math.abs((rows[t]?.[i] ?? Number.NaN) - value);
        worst = Number.isNaN(error) ? Number.POSITIVE_INFINITY : Math.max(worst, error);
      });
    });
  }
  return worst;
}

/** One entry of families_training.json; field names as on disk. */
export interface ExpectedTraining {
  readonly losses: readonly number[];
  readonly ce_before: readonly number[];
  readonly ce_after: readonly number[];
  readonly grad_step1: Readonly<Record<string, readonly number[]>>;
  readonly param_norm_after: Readonly<Record<string, number>>;
}

export interface TrainingError {
  /** Largest difference of any loss or cross entropy, in nats. */
  readonly nats: number;
  /** Of any gradient's entry, relative to that gradient's largest one. */
  readonly gradient: number;
  /** Of any trained parameter's norm, relative to it. */
  readonly norm: number;
  /** Gradients compared. */
  readonly parameters: number;
}

/** Trains as the reference says and compares everything that it kept. */
export async function trainingError(
  model: LlamaModel,
  expected: ExpectedTraining,
): Promise<TrainingError> {
  const { result, gradients } = await runTrainingCase(model, readTrainingCase(expected));
  const nats = Math.max(
    difference(result.losses, expected.losses),
    difference(result.ce_before, expected.ce_before),
    difference(result.ce_after, expected.ce_after),
  );
  const names = Object.keys(expected.grad_step1);
  const gradient = names.map((name) => {
    const wanted = expected.grad_step1[name] ?? [];
    const largest = Math.max(...wanted.map(Math.abs));
    return difference(gradients[name] ?? [], wanted) / largest;
  });
  const norm = Object.entries(expected.param_norm_after).map(
    ([name, wanted]) =>
      difference([result.param_norm_after[name] ?? Number.NaN], [wanted]) / wanted,
  );
  return {
    nats,
    gradient: Math.max(...gradient),
    norm: Math.max(...norm),
    parameters: names.length,
  };
}

function difference(found: ArrayLike<number>, wanted: ArrayLike<number>): number {
  if (found.length !== wanted.length) return Number.POSITIVE_INFINITY;
  return Array.from(wanted).reduce<number>((worst, value, i) => {
    const error = Math.abs((found[i] ?? Number.NaN) - value);
    return Number.isNaN(error) ? Number.POSITIVE_INFINITY : Math.max(worst, error);
  }, 0);
}
