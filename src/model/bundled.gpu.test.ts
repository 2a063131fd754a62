/** The bundled policy in llama.cpp (as wllama compiles it): the same file, the same greedy tokens. */

import { LoggerWithoutDebug, Wllama } from '@wllama/wllama/esm/index.js';
import wasm from '@wllama/wllama/esm/wasm/wllama.wasm?url';
import { expect, test } from 'vitest';
import greedy from '../../e2e/fixtures/policy/greedy.json' with { type: 'json' };
import { bundledModels } from '../store/models.ts';

/** `<|im_end|>` ends a reply; llama.cpp leaves it out of the text. */
const end = '<|im_end|>';

test('llama.cpp loads the file and continues ten prompts with the ids that PyTorch gives', async () => {
  const file = await (await fetch(`/${bundledModels[0]?.path ?? ''}`)).blob();
  const llama = new Wllama({ default: wasm }, { logger: LoggerWithoutDebug });
  try {
    // one thread and float32 keys and values: the reference is float32 throughout
    await llama.loadModel([file], {
      n_ctx: 4096,
      n_threads: 1,
      n_gpu_layers: 0,
      cache_type_k: 'f32',
      cache_type_v: 'f32',
    });
    expect(greedy.prompts).toHaveLength(10);
    for (const { prompt, prompt_ids, ids, text } of greedy.prompts) {
      const { choices, usage } = await llama.createCompletion({
        prompt,
        max_tokens: ids.length,
        temperature: 0,
      });
      expect(usage.prompt_tokens).toBe(prompt_ids.length);
      expect(usage.completion_tokens).toBe(ids.length);
      expect(choices[0]?.text).toBe(text.replaceAll(end, ''));
    }
  } finally {
    await llama.exit();
  }
});
