/** How much memory a model needs, part by part, before and after it is loaded. An estimate: bytes, not pages. */

import { defaultSettings, type LoraTarget } from '../config.ts';
import type { GgufTensor } from '../formats/gguf.ts';
import { byteLength } from '../formats/quants.ts';
import type { BackendName, MemoryPart } from '../records.ts';
import type { LlamaConfig } from './llama-config.ts';
import { projectionShape } from './llama-config.ts';
import { panelBytes } from './weights-simd.ts';

export interface MemoryNeeds {
  /** Bytes of all matrices as they are kept on the device. */
  readonly weightBytes: number;
  readonly rank: number;
  readonly targets: readonly LoraTarget[];
  /** The longest text trained in one go, in tokens. */
  readonly trainTokens: number;
}

/** What a run at default settings needs besides the weights. */
export const defaultNeeds: Omit<MemoryNeeds, 'weightBytes'> = {
  rank: defaultSettings.lora_rank,
  targets: defaultSettings.target_modules,
  trainTokens: 256,
};

/**
 * Bytes that a model's tensors take on a backend once it has run them forwards and backwards. On
 * WebGPU they stay as they are in the file, on wasm they stay quantised in panels, on cpu a float32 copy
 * is made.
 */
export function weightBytesOn(
  backend: BackendName,
  tensors: readonly Pick<GgufTensor, 'type' | 'rows' | 'cols'>[],
): number {
  switch (backend) {
    case 'webgpu':
      return sum(tensors, fileBytes);
    case 'wasm':
      return sum(tensors, ({ type, rows, cols }) => panelBytes(type, rows, cols));
    case 'cpu':
      return sum(tensors, (each) => fileBytes(each) + 4 * each.rows * each.cols);
    default:
      return backend satisfies never;
  }
}

function fileBytes({ type, rows, cols }: Pick<GgufTensor, 'type' | 'rows' | 'cols'>): number {
  return rows * byteLength(type, cols);
}

function sum<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}

/**
 * Weights as kept, the cache at full context, adapter, Adam's two moments, and training's
 * activations: one kept input per layer, and one layer's intermediates recomputed at a time.
 */
export function estimateMemory(config: LlamaConfig, needs: MemoryNeeds): readonly MemoryPart[] {
  const { layers, width, inner, heads, kvHeads, headDim, contextLength } = config;
  const perLayer = needs.targets.reduce((sum, target) => {
    const { inputs, outputs } = projectionShape(config, target);
    return sum + needs.rank * (inputs + outputs);
  }, 0);
  const lora = 4 * layers * perLayer;
  const T = needs.trainTokens;
  const oneLayer =
    4 * T * (6 * width + 2 * (heads + 2 * kvHeads) * headDim + 6 * inner + 2 * heads * T);
  return [
    { part: 'weights', bytes: needs.weightBytes },
    { part: 'kv', bytes: 4 * 2 * layers * contextLength * kvHeads * headDim },
    { part: 'lora', bytes: lora },
    { part: 'optimiser', bytes: 2 * lora },
    { part: 'activations', bytes: 4 * layers * T * width + oneLayer },
  ];
}
