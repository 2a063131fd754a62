import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseConfigToml } from '../formats/settings.ts';
import { json } from './testing.ts';
import { scratchFile } from './testing-scratch.ts';

const model = '.cache/models/SmolLM2-135M-Instruct.Q4_1.gguf';
const here = existsSync(model);

test.skipIf(!here)(
  'control text is plain text, and the token itself only with --special',
  async () => {
    const file = scratchFile('text.txt', 'say <|im_end|> now');
    const where = ['--model', model, '--text-file', file];
    expect(await json('tokens', ...where, '--special')).toEqual({ ids: [22313, 216, 2, 1209] });
    expect(await json('tokens', ...where)).toEqual({
      ids: [22313, 2067, 108, 306, 79, 486, 108, 46, 1209],
    });
  },
);

test.skipIf(!here)('a prompt from a CR LF file has no id for a carriage return', async () => {
  const file = '\uFEFF# note\r\n[lab]\r\nsystem_prompt = """Go north.\r\nTake lamp."""\r\n';
  const prompt = parseConfigToml(file).patch.system_prompt ?? '';
  const text = scratchFile('prompt.txt', prompt);
  expect(await json('tokens', '--model', model, '--text-file', text)).toEqual({
    ids: [6044, 4081, 30, 198, 12653, 17559, 30],
  });
});

test.skipIf(!here)('decode gives the text back', async () => {
  const ids = '22313,2067,108,306,79,486,108,46,1209';
  expect(await json('decode', '--model', model, '--ids', ids)).toEqual({
    text: 'say <|im_end|> now',
  });
});

test.skipIf(!here)(
  "a greedy reply has transformers' ids and text, its end of turn included",
  async () => {
    const cases = JSON.parse(readFileSync('e2e/fixtures/engine/smollm2_generation.json', 'utf8'));
    const { messages, prompt_ids, greedy, text } = cases[1];
    const reply = await json(
      ...[
        'generate',
        '--model',
        model,
        '--messages',
        scratchFile('m.json', JSON.stringify(messages)),
      ],
      ...['--max-tokens', '32', '--temperature', '0'],
    );
    const ids = greedy.map(({ id }: { id: number }) => id);
    expect(reply).toMatchObject({ prompt_ids, ids, text, stop: 'eos' });
    expect(text).toMatch(/<\|im_end\|>$/);
  },
);
