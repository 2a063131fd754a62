/** How much memory a model needs, part by part, before and after it is loaded. An estimate: bytes, not pages. */

import { defaultSettings, type LoraTarget } from '../config.ts';
import type { GgufTensor } from '../formats/gguf.ts';
import { isBlockType } from '../formats/quant-blocks.ts';
import { byteLength } from '../formats/quants.ts';
import type { BackendName, MemoryPart } from '../records.ts';
import { FAMILIES, type Family } from './families.ts';
import type { LlamaConfig } from './llama-config.ts';
import { projectionShape } from './llama-config.ts';
import { type CacheBits, tilesBytes } from './simd/kv-tiles.ts';
import { keptType, panelBytes, WASM_WEIGHT_BUDGET } from './weights-simd.ts';

/** What an estimate asks of a tensor in the file. */
type TensorShape = Pick<GgufTensor, 'type' | 'rows' | 'cols'>;

/** Bytes of a float32. */
const FLOAT = 4;

/**
 * Logits of one chunk of trained positions take at most this much (42 positions of 49,152 tokens): far
 * below any binding limit, and short enough to hear a stop.
 */
const HEAD_CHUNK_BYTES = 8 * 2 ** 20;

/** Rows of the head that one invocation of its gradient adds up: see ops/linear.ts. */
const HEAD_PART_ROWS = 2048;

/** Positions whose logits are computed together: at least one. */
export function headChunk(vocabulary: number, limit = HEAD_CHUNK_BYTES): number {
  return Math.max(1, Math.floor(limit / (FLOAT * vocabulary)));
}

/** Activations kept for the backward pass take at most this much on WASM (256 tokens of SmolLM2: 283 MB). */
const KEPT_BYTES = 2 ** 29;

/**
 * Whether an update keeps what each layer computes on the way, instead of computing it again: a sixth of
 * its time. On a GPU memory is scarcer, and the plain backend is for checking. `held` = bytes that the heap
 * holds by then.
 */
export function keepsActivations(
  config: LlamaConfig,
  backend: string,
  tokens: number,
  held = 0,
): boolean {
  const bytes = keptBytes(config, tokens);
  return backend === 'wasm' && bytes <= KEPT_BYTES && held + bytes <= WASM_WEIGHT_BUDGET;
}

/** All {@link LayerActivations} of a text. */
function keptBytes(config: LlamaConfig, tokens: number): number {
  const { layers, width, inner, heads, kvHeads, headDim } = config;
  const perToken = 4 * width + 3 * heads * headDim + 3 * kvHeads * headDim + 3 * inner;
  return FLOAT * layers * tokens * perToken;
}

export interface MemoryNeeds {
  readonly backend: BackendName;
  readonly tensors: readonly TensorShape[];
  readonly rank: number;
  readonly targets: readonly LoraTarget[];
  /** The longest text trained in one go, in tokens. */
  readonly trainTokens: number;
  /** Conversations held: the acting one, and one more under the adapter that KL at a prompt is measured from. */
  readonly caches: number;
}

/** What a run at default settings needs besides the weights. */
export const defaultNeeds: Omit<MemoryNeeds, 'tensors' | 'backend'> = {
  rank: defaultSettings.lora_rank,
  targets: defaultSettings.target_modules,
  trainTokens: 256,
  caches: 2,
};

/**
 * Bytes that a model's tensors take on a backend once it has run them forwards and backwards. On
 * WebGPU they stay as they are in the file, on wasm in panels, quantised but for small models, on cpu a
 * float32 copy is made.
 */
export function weightBytesOn(backend: BackendName, tensors: readonly TensorShape[]): number {
  switch (backend) {
    case 'webgpu':
      return sum(tensors, fileBytes);
    case 'wasm':
      return sum(tensors, ({ type, rows, cols }) =>
        panelBytes(keptType(type, parametersOf(tensors)), rows, cols),
      );
    case 'cpu':
      return sum(tensors, (each) => fileBytes(each) + 4 * each.rows * each.cols);
    default:
      return backend satisfies never;
  }
}

/** How many parameters of these tensors' types, in their proportions, WASM's memory holds. */
export function mostParametersOnWasm(tensors: readonly TensorShape[]): number {
  const bytes = sum(tensors, ({ type, rows, cols }) => panelBytes(type, rows, cols));
  return Math.floor((WASM_WEIGHT_BUDGET * parametersOf(tensors)) / bytes);
}

function parametersOf(tensors: readonly Pick<GgufTensor, 'rows' | 'cols'>[]): number {
  return sum(tensors, ({ rows, cols }) => rows * cols);
}

/** How keys and values of a model with these tensors are kept on WASM; cacheBitsOf says it of a loaded one. */
function cacheBitsOn(tensors: readonly TensorShape[]): CacheBits {
  const parameters = parametersOf(tensors);
  return tensors.some(({ type }) => isBlockType(keptType(type, parameters))) ? 16 : 32;
}

/** One conversation at full context. */
function cacheBytes(config: LlamaConfig, { backend, tensors }: MemoryNeeds): number {
  const { layers, kvHeads, headDim, contextLength } = config;
  if (backend !== 'wasm' || headDim % 4 !== 0) {
    return FLOAT * 2 * layers * contextLength * kvHeads * headDim;
  }
  return layers * tilesBytes(contextLength, kvHeads, headDim, cacheBitsOn(tensors));
}

function fileBytes({ type, rows, cols }: TensorShape): number {
  return rows * byteLength(type, cols);
}

function sum<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}

/**
 * Weights as kept with RoPE's tables, the caches at full context, the adapter, Adam's two moments, and
 * what training one text adds at its peak. On WebGPU the sum is within a tenth of the most bytes that
 * buffers then hold (memory.gpu.test.ts).
 */
export function estimateMemory(config: LlamaConfig, needs: MemoryNeeds): readonly MemoryPart[] {
  const { layers, headDim, contextLength, localRopeBase } = config;
  const perLayer = sum(needs.targets, (target) => {
    const { inputs, outputs } = projectionShape(config, target);
    return needs.rank * (inputs + outputs);
  });
  const lora = FLOAT * layers * perLayer;
  const ropeTables = FLOAT * contextLength * headDim * (localRopeBase === null ? 1 : 2);
  return [
    { part: 'weights', bytes: weightBytesOn(needs.backend, needs.tensors) + ropeTables },
    { part: 'kv', bytes: needs.caches * cacheBytes(config, needs) },
    // Each twice: while an update runs, what was before it is kept, so that it can be undone.
    { part: 'lora', bytes: 2 * lora },
    { part: 'optimiser', bytes: 2 * 2 * lora },
    { part: 'activations', bytes: lora + activationBytes(config, needs) },
  ];
}

/**
 * One kept input a layer (on WASM often all that it computed), one layer's forward and backward pass at a
 * time, and logits in chunks.
 */
function activationBytes(
  config: LlamaConfig,
  { backend, targets, trainTokens: T }: MemoryNeeds,
): number {
  const { layers, width, vocabulary } = config;
  const kept = (layers + 1) * width;
  const labels = Math.max(1, T - 1);
  const chunk = Math.min(labels, headChunk(vocabulary));
  // Buffers are reused by their exact size, so that the last, shorter chunk has its own.
  const rows = chunk + (labels % chunk);
  const sums = Math.ceil(vocabulary / HEAD_PART_ROWS) + 6;
  const head = rows * (2 * vocabulary + sums * width);
  const ways = keepsActivations(config, backend, T) ? keptBytes(config, T) : 0;
  return ways + FLOAT * (T * (kept + layerFloats(config, targets)) + head);
}

/**
 * Float32 values a token that one layer's backward pass holds at once: each tensor of layer.ts and
 * layer-backward.ts once, since all are freed together at its end.
 */
function layerFloats(config: LlamaConfig, targets: readonly LoraTarget[]): number {
  const { width, inner, heads, kvHeads, headDim } = config;
  const family: Family = FAMILIES[config.architecture];
  const q = heads * headDim;
  const kv = kvHeads * headDim;
  const always = 16 * width + 6 * q + 8 * kv + 6 * inner;
  const headNorms = family.headNorms ? 2 * (q + kv) : 0;
  const postNorms = family.postNorms ? 5 * width : 0;
  const biases = sum(family.biases, (target) => projectionShape(config, target).outputs);
  // The gradient at the input through the adapter, and its sum with the one through the matrix.
  const adapters = sum(targets, (target) => 2 * projectionShape(config, target).inputs);
  return always + headNorms + postNorms + biases + adapters;
}
