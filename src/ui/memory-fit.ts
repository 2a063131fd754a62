/** Whether a model fits into memory, and what would make it fit. */

import type { MemoryPart, ModelPreview } from '../records.ts';
import { wholeText } from './numbers.ts';
import { memoryFit as say } from './strings.ts';

/** True when the estimate is under what is known of the machine, or nothing is known. */
export function fits({ memory, limit }: Pick<ModelPreview, 'memory' | 'limit'>): boolean {
  return limit === null || totalBytes(memory) <= limit.bytes;
}

/** What would make it fit, the largest part first. */
export function remedies({ memory, trainedContext, contextLength }: ModelPreview): string {
  const largest = [...memory].sort((a, b) => b.bytes - a.bytes)[0]?.part;
  switch (largest) {
    case 'kv': {
      const context = wholeText(contextLength);
      const trained = wholeText(trainedContext);
      return say.cacheIsLargest(context, trained);
    }
    case 'lora':
    case 'optimiser':
      return say.adapterIsLargest;
    case 'weights':
    case 'activations':
    case undefined:
      return say.weightsAreLargest;
    default:
      return largest satisfies never;
  }
}

/** The sum of the parts. */
export function totalBytes(parts: readonly MemoryPart[]): number {
  return parts.reduce((sum, part) => sum + part.bytes, 0);
}
