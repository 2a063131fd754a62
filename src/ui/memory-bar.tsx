/** Memory part by part, because "too large" and "context too long" have different cures. */

import type { MemoryPart, ModelPreview } from '../records.ts';
import { totalBytes } from './memory-fit.ts';
import { bytesText } from './numbers.ts';
import type { TermName } from './strings.ts';
import { memoryBar as say } from './strings.ts';
import { Term } from './tip.tsx';
import './memory-bar.css';

const partTerms: Readonly<Record<MemoryPart['part'], TermName>> = {
  weights: 'weights_memory',
  kv: 'kv',
  lora: 'lora_memory',
  optimiser: 'optimiser',
  activations: 'activations',
};

const partLabels: Readonly<Record<MemoryPart['part'], string>> = {
  weights: 'weights',
  kv: say.kvCache,
  lora: 'LoRA',
  optimiser: say.adam,
  activations: 'activations',
};

export function MemoryBar({
  parts,
  limit,
}: {
  parts: readonly MemoryPart[];
  limit: ModelPreview['limit'];
}) {
  const total = totalBytes(parts);
  if (total === 0) return null;
  return (
    <div className="memory">
      <p className="memory-total" aria-live="polite">
        {say.memory} <strong>{bytesText(total)}</strong>
        {limit && <span data-tip={say.limit(limit.what)}> {say.of(bytesText(limit.bytes))}</span>}
      </p>
      <div className="memory-bar" aria-hidden="true">
        {parts.map((part) => (
          <span
            key={part.part}
            className={`memory-${part.part}`}
            style={{ width: `${(part.bytes / total) * 100}%` }}
          />
        ))}
      </div>
      <ul>
        {parts.map((part) => (
          <li key={part.part}>
            <span className={`swatch memory-${part.part}`} aria-hidden="true" />
            <Term name={partTerms[part.part]}>{partLabels[part.part]}</Term>
            <span>{bytesText(part.bytes)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
