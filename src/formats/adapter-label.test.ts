import fc from 'fast-check';
import { expect, test } from 'vitest';
import { labelMetadata, labelOfCard, labelOfMetadata, modelCard } from './adapter-label.ts';

const facts = { base: 'household', licence: null, rank: 2, alpha: 4, targets: ['q_proj'] };
const line = fc
  .string({ minLength: 1 })
  .filter((text) => text.trim() === text && !/[\r\n\u2028\u2029]/.test(text));

test('name and note come back from a card and from GGUF keys, whatever they are', () => {
  const note = fc.array(line).map((lines) => lines.join('\n'));
  fc.assert(
    fc.property(line, note, (text, noted) => {
      const label = { name: text.replace(/\s+/g, ' '), note: noted };
      expect(labelOfCard(modelCard(label, facts))).toEqual(label);
      const values = Object.entries(labelMetadata(label)).map(([key, { value }]) => [key, value]);
      expect(labelOfMetadata(Object.fromEntries(values))).toEqual(label);
    }),
  );
});

test('a card without a label has a plain heading, which names nothing, as those of others', () => {
  expect(labelOfCard(modelCard(null, facts))).toBeNull();
  expect(modelCard(null, facts)).toContain(
    '\n# LoRA adapter trained at test time\n\nRank 2, alpha 4',
  );
  expect(labelOfCard('---\nbase_model: x\n---\n\n# Model Card for Model ID\n')).toBeNull();
  expect(labelOfCard('no card')).toBeNull();
  expect(labelOfMetadata({ 'general.name': 7 })).toBeNull();
});

test.each([
  ['HuggingFaceTB/SmolLM2-135M-Instruct', 'base_model: HuggingFaceTB/SmolLM2-135M-Instruct\n'],
  ['a: "b" #c', 'base_model: "a: \\"b\\" #c"\n'],
  ['1e3', 'base_model: "1e3"\n'],
])('the base %s stays a text of YAML', (base, wanted) => {
  expect(modelCard(null, { ...facts, base })).toContain(wanted);
});
