/** Whether a model fits into memory, and what would make it fit. */

import type { MemoryPart, ModelPreview } from '../records.ts';

/** True when the estimate is under what is known of the machine, or nothing is known. */
export function fits({ memory, limit }: Pick<ModelPreview, 'memory' | 'limit'>): boolean {
  return limit === null || totalBytes(memory) <= limit.bytes;
}

/** What would make it fit, the largest part first. */
export function remedies({ memory, trainedContext, contextLength }: ModelPreview): string {
  const largest = [...memory].sort((a, b) => b.bytes - a.bytes)[0]?.part;
  switch (largest) {
    case 'kv':
      return `The KV cache is the largest part: a shorter context than ${contextLength.toLocaleString('en')} tokens makes it smaller (settings, Policy; the model was trained for ${trainedContext.toLocaleString('en')}).`;
    case 'lora':
    case 'optimiser':
      return 'The adapter and its optimiser are the largest part: a lower rank or fewer target modules make them smaller.';
    case 'weights':
    case 'activations':
    case undefined:
      return 'The weights are the largest part: choose a smaller model, or WebGPU, where weights stay quantised.';
    default:
      return largest satisfies never;
  }
}

/** The sum of the parts. */
export function totalBytes(parts: readonly MemoryPart[]): number {
  return parts.reduce((sum, part) => sum + part.bytes, 0);
}
