/**
 * The weights of a llama-family model on the device: loading them from a GGUF file and freeing
 * them. Knows nothing of tokens, caches or adapters.
 */

import * as tf from '@tensorflow/tfjs-core';
import { type LoraTarget, loraTargets } from '../config.ts';
import { LabError, throwIfAborted } from '../errors.ts';
import type { GgufFile, GgufTensor } from '../formats/gguf.ts';
import { dequantize } from '../formats/quants.ts';
import type { ByteSource } from '../formats/source.ts';
import {
  type LlamaConfig,
  PROJECTION_TENSORS,
  ROPE_FACTORS,
  readLlamaConfig,
} from './llama-config.ts';
import { nextMacrotask } from './macrotask.ts';
import { WASM_FORWARD_BYTES } from './memory.ts';
import { makeRopeTable, type RopeTable } from './ops/index.ts';
import { uploadWeight, type WeightMatrix } from './weights.ts';
import { HEAP_BUDGET_BYTES } from './weights-host.ts';

export interface LlamaLayer {
  readonly attentionNorm: tf.Tensor1D; // [width]
  readonly mlpNorm: tf.Tensor1D; // [width]
  readonly projections: Readonly<Record<LoraTarget, WeightMatrix>>;
}

/** Owns its weights. */
export interface LlamaModel {
  readonly config: LlamaConfig;
  readonly embedding: WeightMatrix; // [vocabulary, width]
  readonly layers: readonly LlamaLayer[];
  readonly outputNorm: tf.Tensor1D; // [width]
  /** The embedding itself where the file ties them. */
  readonly head: WeightMatrix; // [vocabulary, width]
  readonly rope: RopeTable;
  /** Number of weights in the file. */
  readonly parameters: number;
  /** Bytes of all tensors in the file. */
  readonly tensorBytes: number;
  /** Every matrix once, for accounting. */
  readonly matrices: readonly WeightMatrix[];
  dispose(): void;
}

export interface LoadOptions {
  /** The longest conversation wanted, in tokens; cut to what the model was trained for. */
  readonly contextLength?: number;
  /** Called after each tensor with the bytes read so far and in all. */
  readonly onProgress?: (bytes: number, total: number) => void;
  readonly signal?: AbortSignal;
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
  const owned: { dispose(): void }[] = [];
  const tensors = new Map(gguf.tensors.map((tensor) => [tensor.name, tensor]));
  const total = gguf.tensors.reduce((sum, { bytes }) => sum + bytes, 0);
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
    const weight = uploadWeight(name, tensor.type, tensor.rows, tensor.cols, bytes);
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
  const layer = async (index: number): Promise<LlamaLayer> => {
    const name = (part: string) => `blk.${index}.${part}.weight`;
    const attentionNorm = await vector(name('attn_norm'));
    const mlpNorm = await vector(name('ffn_norm'));
    const projections: Partial<Record<LoraTarget, WeightMatrix>> = {};
    for (const target of loraTargets) {
      projections[target] = await matrix(name(PROJECTION_TENSORS[target]));
    }
    // Filled for every target just above.
    return { attentionNorm, mlpNorm, projections: projections as LlamaLayer['projections'] };
  };

  try {
    const embedding = await matrix('token_embd.weight');
    const factors = tensors.get(ROPE_FACTORS);
    const rope = makeRopeTable({
      headDim: config.headDim,
      style: config.ropeStyle,
      context: config.contextLength,
      base: config.ropeBase,
      scale: config.ropeScale,
      ...(factors === undefined ? {} : { factors: floats(factors, await bytesOf(factors)) }),
    });
    owned.push(tf.keep(rope.cos), tf.keep(rope.sin));
    const layers: LlamaLayer[] = [];
    for (let i = 0; i < config.layers; i++) layers.push(await layer(i));
    const outputNorm = await vector('output_norm.weight');
    const head = config.tied ? embedding : await matrix('output.weight');
    return {
      config,
      embedding,
      layers,
      outputNorm,
      head,
      rope,
      parameters: gguf.tensors.reduce((sum, { rows, cols }) => sum + rows * cols, 0),
      tensorBytes: total,
      matrices,
      dispose: () => freeAll(owned),
    };
  } catch (error) {
    freeAll(owned);
    throw error;
  }
}

/** Before the first byte is read: a failed malloc in the wasm heap is silent. */
function refuseBeyondHeap({ tensors }: GgufFile): void {
  const needed = tensors.reduce((sum, t) => sum + WASM_FORWARD_BYTES * t.rows * t.cols, 0);
  if (tf.getBackend() !== 'wasm' || needed <= HEAP_BUDGET_BYTES) return;
  const [wanted, most] = [needed, HEAP_BUDGET_BYTES].map((bytes) => (bytes / 2 ** 30).toFixed(2));
  throw new LabError(
    'limit',
    `On WASM this model's weights take ${wanted} GiB, but at most ${most} GiB fit into its memory. Choose a smaller model, or a browser with WebGPU, where weights stay quantised.`,
    { needed, limit: HEAP_BUDGET_BYTES },
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
