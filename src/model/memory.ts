/** How much memory a model needs, part by part, before and after it is loaded. An estimate: bytes, not pages. */

import { defaultSettings, type LoraTarget } from '../config.ts';
import type { BackendName, MemoryPart } from '../records.ts';
import type { LlamaConfig } from './llama-config.ts';
import { projectionShape } from './llama-config.ts';

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

/** A float32 W^T and XNNPACK's packed copy of it: what wasm keeps of each weight to run forwards. */
export const WASM_FORWARD_BYTES = 8;
/** The same of W, kept while it fits, to run backwards. */
const WASM_BACKWARD_BYTES = 8;

/**
 * Bytes of `values` weights that take `fileBytes` in the file, once a backend has run them forwards
 * and backwards. On WebGPU they stay as they are; elsewhere float32 copies are made.
 */
export function weightBytesOn(backend: BackendName, values: number, fileBytes: number): number {
  switch (backend) {
    case 'webgpu':
      return fileBytes;
    case 'wasm':
      return fileBytes + (WASM_FORWARD_BYTES + WASM_BACKWARD_BYTES) * values;
    case 'cpu':
      return fileBytes + 4 * values;
    default:
      return backend satisfies never;
  }
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
