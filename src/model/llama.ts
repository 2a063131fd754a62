/**
 * The weights of a llama-family model on the device: loading them from a GGUF file and freeing
 * them. Knows nothing of tokens, caches or adapters.
 */

import * as tf from '@tensorflow/tfjs-core';
import { type LoraTarget, loraTargets } from '../config.ts';
import { LabError, throwIfAborted } from '../errors.ts';
import { countParameters, type GgufFile, type GgufTensor } from '../formats/gguf.ts';
import { dequantize } from '../formats/quants.ts';
import type { ByteSource } from '../formats/source.ts';
import {
  type LlamaConfig,
  NORM_TENSORS,
  PROJECTION_TENSORS,
  ROPE_FACTORS,
  readLlamaConfig,
} from './llama-config.ts';
import { nextMacrotask } from './macrotask.ts';
import { mostParametersOnWasm, weightBytesOn } from './memory.ts';
import { onGpu } from './ops/host.ts';
import {
  type AttentionHeads,
  makeRopeTable,
  type RopeScaling,
  type RopeTable,
} from './ops/index.ts';
import { refuseBeyondBinding } from './ops/program.ts';
import { uploadWeight, type WeightMatrix } from './weights.ts';
import { WASM_WEIGHT_BUDGET } from './weights-simd.ts';

/** One layer's weights; null and absent where the family has none. */
export interface LlamaLayer {
  readonly attentionNorm: tf.Tensor1D; // [width]
  readonly mlpNorm: tf.Tensor1D; // [width]
  readonly queryNorm: tf.Tensor1D | null; // [headDim]
  readonly keyNorm: tf.Tensor1D | null; // [headDim]
  readonly attentionPostNorm: tf.Tensor1D | null; // [width]
  readonly mlpPostNorm: tf.Tensor1D | null; // [width]
  readonly projections: Readonly<Record<LoraTarget, WeightMatrix>>;
  readonly biases: Readonly<Partial<Record<LoraTarget, tf.Tensor1D>>>; // [outputs]
  /** The model's table for this layer; borrowed. */
  readonly rope: RopeTable;
  readonly heads: AttentionHeads;
}

/** Owns its weights. */
export interface LlamaModel {
  readonly config: LlamaConfig;
  readonly embedding: WeightMatrix; // [vocabulary, width]
  readonly layers: readonly LlamaLayer[];
  readonly outputNorm: tf.Tensor1D; // [width]
  /** The embedding itself where the file ties them. */
  readonly head: WeightMatrix; // [vocabulary, width]
  /** Number of weights in the file. */
  readonly parameters: number;
  /** Bytes of all tensors in the file. */
  readonly tensorBytes: number;
  /** Every matrix once, for accounting. */
  readonly matrices: readonly WeightMatrix[];
  /** Frees `part` with the model: what is made for it later. */
  own(part: { dispose(): void }): void;
  dispose(): void;
}

export interface LoadOptions {
  /** The longest conversation wanted, in tokens; cut to what the model was trained for. */
  readonly contextLength?: number;
  /** Called after each tensor with the bytes read so far and in all. */
  readonly onProgress?: (bytes: number, total: number) => void;
  readonly signal?: AbortSignal;
  /** Leaves a small model's weights quantised on WASM too, as a large one's are; for tests. */
  readonly keepQuantised?: boolean;
}

/**
 * Loads tensor by tensor. Rejects with what {@link readLlamaConfig} and uploadWeight throw, and
 * with `aborted`; everything that was on the device by then is freed, and a model loaded earlier is
 * not touched.
 */
export async function loadLlama(
  gguf: GgufFile,
  source: ByteSource,
  options: LoadOptions = {},
): Promise<LlamaModel> {
  const config = readLlamaConfig(gguf, options.contextLength);
  refuseBeyondHeap(gguf);
  refuseBeyondBindings(config);
  const owned: { dispose(): void }[] = [];
  const tensors = new Map(gguf.tensors.map((tensor) => [tensor.name, tensor]));
  const total = gguf.tensors.reduce((sum, { bytes }) => sum + bytes, 0);
  const parameters = countParameters(gguf);
  const matrices: WeightMatrix[] = [];
  let done = 0;

  const bytesOf = async (tensor: GgufTensor): Promise<Uint8Array> => {
    await nextMacrotask();
    throwIfAborted(options.signal);
    const bytes = await source.read(tensor.offset, tensor.bytes);
    done += tensor.bytes;
    options.onProgress?.(done, total);
    return bytes;
  };
  const matrix = async (name: string): Promise<WeightMatrix> => {
    const tensor = named(tensors, name);
    const bytes = await bytesOf(tensor);
    const { type, rows, cols } = tensor;
    const known = options.keepQuantised ? undefined : parameters;
    const weight = uploadWeight(name, type, rows, cols, bytes, known);
    owned.push(weight);
    matrices.push(weight);
    return weight;
  };
  const vector = async (name: string): Promise<tf.Tensor1D> => {
    const tensor = named(tensors, name);
    const kept = tf.keep(tf.tensor1d(floats(tensor, await bytesOf(tensor))));
    owned.push(kept);
    return kept;
  };
  const ropeTable = (base: number, scaling: RopeScaling, factors?: Float32Array): RopeTable => {
    const { headDim, ropeStyle: style, contextLength: context } = config;
    const table = makeRopeTable({
      headDim,
      style,
      context,
      base,
      scaling,
      ...(factors && { factors }),
    });
    owned.push(tf.keep(table.cos), tf.keep(table.sin));
    return table;
  };
  const layer = async (index: number, ropes: Ropes): Promise<LlamaLayer> => {
    const optional = async (name: string) => (tensors.has(name) ? vector(name) : null);
    const norm = (part: keyof typeof NORM_TENSORS) =>
      optional(`blk.${index}.${NORM_TENSORS[part]}.weight`);
    const always = (part: keyof typeof NORM_TENSORS) =>
      vector(`blk.${index}.${NORM_TENSORS[part]}.weight`);
    const projections: Partial<Record<LoraTarget, WeightMatrix>> = {};
    const biases: Partial<Record<LoraTarget, tf.Tensor1D>> = {};
    for (const target of loraTargets) {
      const name = `blk.${index}.${PROJECTION_TENSORS[target]}`;
      projections[target] = await matrix(`${name}.weight`);
      const bias = await optional(`${name}.bias`);
      if (bias !== null) biases[target] = bias;
    }
    const { rope = 'global', window = null } = config.sights[index] ?? {};
    return {
      attentionNorm: await always('attention'),
      mlpNorm: await always('mlp'),
      queryNorm: await norm('query'),
      keyNorm: await norm('key'),
      attentionPostNorm: await norm('attentionPost'),
      mlpPostNorm: await norm('mlpPost'),
      projections: projections as LlamaLayer['projections'], // filled for every target just above
      biases,
      rope: ropes[rope],
      heads: headsOf(config, window),
    };
  };

  try {
    const embedding = await matrix('token_embd.weight');
    const factors = tensors.get(ROPE_FACTORS);
    const global = ropeTable(
      config.ropeBase,
      config.ropeScaling,
      factors && floats(factors, await bytesOf(factors)),
    );
    const { localRopeBase } = config;
    const local = localRopeBase === null ? global : ropeTable(localRopeBase, { kind: 'none' });
    const layers: LlamaLayer[] = [];
    for (let i = 0; i < config.layers; i++) layers.push(await layer(i, { global, local }));
    const outputNorm = await vector('output_norm.weight');
    const head = config.tied ? embedding : await matrix('output.weight');
    return {
      config,
      embedding,
      layers,
      outputNorm,
      head,
      parameters,
      tensorBytes: total,
      matrices,
      own: (part) => void owned.push(part),
      dispose: () => freeAll(owned),
    };
  } catch (error) {
    freeAll(owned);
    throw error;
  }
}

type Ropes = Readonly<Record<'global' | 'local', RopeTable>>;

function headsOf(config: LlamaConfig, window: number | null): AttentionHeads {
  const { heads, kvHeads, headDim, attentionScale: scale } = config;
  return { heads, kvHeads, headDim, scale, ...(window !== null && { window }) };
}

/** Before the first byte is read: what a conversation at full context will bind on a GPU. */
function refuseBeyondBindings({ contextLength, kvHeads, headDim }: LlamaConfig): void {
  if (!onGpu()) return;
  const at = `at a context of ${contextLength} tokens`;
  refuseBeyondBinding(`The keys of one layer ${at}`, 4 * contextLength * kvHeads * headDim);
  refuseBeyondBinding(`The table of RoPE's angles ${at}`, 2 * contextLength * headDim);
}

/** Before the first byte is read: a failed malloc in the wasm heap is silent. */
function refuseBeyondHeap({ tensors }: GgufFile): void {
  if (tf.getBackend() !== 'wasm') return;
  const needed = weightBytesOn('wasm', tensors);
  if (needed <= WASM_WEIGHT_BUDGET) return;
  const [wanted, most] = [needed, WASM_WEIGHT_BUDGET].map((bytes) => (bytes / 2 ** 30).toFixed(2));
  const parameters = countParameters({ tensors });
  const millions = (count: number) => `${Math.round(count / 1e6)} million`;
  throw new LabError(
    'limit',
    `On WASM this model's weights take ${wanted} GiB, but at most ${most} GiB fit into its memory: about ${millions(mostParametersOnWasm(tensors))} parameters of its types, and it has ${millions(parameters)}. Choose a smaller model, or a browser with WebGPU.`,
    { needed, limit: WASM_WEIGHT_BUDGET },
  );
}

/** Safe to call twice. */
function freeAll(owned: { dispose(): void }[]): void {
  for (const part of owned.splice(0)) part.dispose();
}

function floats(tensor: GgufTensor, bytes: Uint8Array): Float32Array {
  const values = new Float32Array(tensor.rows * tensor.cols);
  dequantize(tensor.type, bytes, values);
  return values;
}

function named(tensors: ReadonlyMap<string, GgufTensor>, name: string): GgufTensor {
  const tensor = tensors.get(name);
  if (tensor !== undefined) return tensor;
  throw new LabError('internal', `"${name}" passed the check of names but is not there.`);
}
