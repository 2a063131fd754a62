/**
 * An adapter under the names of its base's GGUF tensors. The engine's own arrays are in GGUF row
 * order already, so only the layout changes: A [r, in] and B [out, r]. Knows nothing of files.
 */

import { type LoraTarget, loraTargets } from '../config.ts';
import type { GgufLoraModule } from '../formats/gguf-lora.ts';
import type { AdapterData, LoraModuleData } from '../records.ts';
import { PROJECTION_TENSORS } from './llama-config.ts';
import { transpose } from './lora-hf.ts';

/** The adapted tensor's name in the base, e.g. `blk.0.attn_q.weight`. */
export function ggufTensorName(layer: number, target: LoraTarget): string {
  return `blk.${layer}.${PROJECTION_TENSORS[target]}.weight`;
}

/** The inverse of {@link ggufTensorName}; null for a tensor that is no projection. */
export function parseGgufTensorName(name: string): { layer: number; target: LoraTarget } | null {
  const [, layer, part] = /^blk\.(\d+)\.(\w+)\.weight$/.exec(name) ?? [];
  const target = loraTargets.find((known) => PROJECTION_TENSORS[known] === part);
  if (layer === undefined || target === undefined) return null;
  return ggufTensorName(Number(layer), target) === name ? { layer: Number(layer), target } : null;
}

export function toGguf({ modules }: AdapterData): GgufLoraModule[] {
  return modules.map(({ layer, target, inputs, outputs, rank, scale, aT, bT }) => ({
    tensor: ggufTensorName(layer, target),
    scale,
    a: { rows: rank, cols: inputs, values: transpose(aT, inputs, rank) },
    b: { rows: outputs, cols: rank, values: transpose(bT, rank, outputs) },
  }));
}

/** One module at the place that its tensor's name says. */
export function fromGgufModule(
  { scale, a, b }: GgufLoraModule,
  place: { readonly layer: number; readonly target: LoraTarget },
): LoraModuleData {
  return {
    ...place,
    inputs: a.cols,
    outputs: b.rows,
    rank: a.rows,
    scale,
    aT: transpose(a.values, a.rows, a.cols),
    bT: transpose(b.values, b.rows, b.cols),
  };
}
