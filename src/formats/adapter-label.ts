/** What a person calls an adapter and notes of it, as it travels in the adapter's own files. */

import type { GgufMetadata } from './gguf.ts';
import type { GgufValue } from './gguf-writer.ts';

export interface AdapterLabel {
  readonly name: string;
  /** Empty where there is none. */
  readonly note: string;
}

/** Marks the cards of this program: of others' a heading may say anything. */
const OWN_TAG = 'test-time-training';

/** The heading of a card without a label, which is nobody's name for it. */
const PLAIN_HEADING = 'LoRA adapter trained at test time';

/** GGUF's own keys for the name and description of a file. */
export function labelMetadata({ name, note }: AdapterLabel): Readonly<Record<string, GgufValue>> {
  return {
    'general.name': { type: 'string', value: name },
    ...(note !== '' && { 'general.description': { type: 'string', value: note } }),
  };
}

export function labelOfMetadata(metadata: GgufMetadata): AdapterLabel | null {
  const { 'general.name': name, 'general.description': note } = metadata;
  if (typeof name !== 'string' || name === '') return null;
  return { name, note: typeof note === 'string' ? note : '' };
}

/** What a model card says of the adapter, besides its label. */
export interface CardFacts {
  readonly base: string;
  readonly licence: string | null;
  readonly rank: number;
  readonly alpha: number;
  readonly targets: readonly string[];
}

/** A Hugging Face model card: the name is its heading, the note a quotation under it. */
export function modelCard(label: AdapterLabel | null, facts: CardFacts): string {
  const { base, licence, rank, alpha, targets } = facts;
  const { name, note } = label ?? { name: PLAIN_HEADING, note: '' };
  const quoted =
    note === ''
      ? ''
      : `\n${note
          .split('\n')
          .map((line) => `> ${line}\n`)
          .join('')}`;
  return `---
base_model: ${yamlText(base)}
library_name: peft
${licence ? `license: ${yamlText(licence)}\n` : ''}tags:
- lora
- ${OWN_TAG}
---

# ${name.replace(/\s+/g, ' ')}
${quoted}
Rank ${rank}, alpha ${alpha}, on ${targets.join(', ')}. Trained by aTTT Lab on an agent's own text during one
episode; it fits the base model named above and no other.

\`\`\`python
from peft import PeftModel
from transformers import AutoModelForCausalLM

model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(${JSON.stringify(base)}), "path/to/this/folder")
\`\`\`
`;
}

/** The label of one of our cards; null for others', and for one that was given none. */
export function labelOfCard(card: string): AdapterLabel | null {
  const [, front, rest] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(card) ?? [];
  if (front === undefined || rest === undefined || !front.includes(`- ${OWN_TAG}`)) return null;
  const [, name, quoted] = /^\s*# (.+)\n\n?((?:>.*\n)*)/.exec(rest) ?? [];
  if (name === undefined || name === PLAIN_HEADING) return null;
  const lines = (quoted ?? '').split('\n').filter((line) => line !== '');
  return { name, note: lines.map((line) => line.replace(/^> ?/, '')).join('\n') };
}

/** As YAML reads it back: JSON's quotation is one of YAML's. */
function yamlText(text: string): string {
  return /^[A-Za-z][\w./ -]*$/.test(text) && !/ $/.test(text) ? text : JSON.stringify(text);
}
