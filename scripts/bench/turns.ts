/** An agent's turns: what is sampled over a conversation that repeats itself, with guesses and one token after the other. */

import { heldConversation } from '../../src/experiment/held-texts.ts';
import type { GgufFile } from '../../src/formats/gguf.ts';
import { deriveRng } from '../../src/math/rng.ts';
import { cacheFor } from '../../src/model/cache.ts';
import { generate } from '../../src/model/generate.ts';
import type { LlamaModel } from '../../src/model/llama.ts';
import { finish } from '../../src/model/macrotask.ts';
import { templateOf } from '../../src/model/policy.ts';
import { GREEDY } from '../../src/model/sampler.ts';
import { continueChat, encodeChat } from '../../src/text/chat.ts';
import { createTokenizer } from '../../src/text/tokenizer.ts';
import type { Measured } from './contestant.ts';

const ROUNDS = 3;
const MOST_TOKENS = 40;

/** Tokens sampled a second, the reading of observations included; both ways sample the same ones. */
export async function agentTurns(
  model: LlamaModel,
  { metadata }: GgufFile,
): Promise<Pick<Measured, 'turnsPerSecond' | 'turnsOneByOnePerSecond'>> {
  const oneByOne = await told(model, metadata, 0);
  const guessed = await told(model, metadata, undefined);
  if (oneByOne.ids.join() !== guessed.ids.join()) throw new Error('Guesses changed the samples.');
  return { turnsPerSecond: guessed.perSecond, turnsOneByOnePerSecond: oneByOne.perSecond };
}

async function told(
  model: LlamaModel,
  metadata: GgufFile['metadata'],
  guesses: number | undefined,
): Promise<{ readonly ids: readonly number[]; readonly perSecond: number }> {
  const tokenizer = createTokenizer(metadata);
  const template = templateOf(metadata, 'The model');
  const [opening, ...later] = heldConversation.filter(({ role }) => role === 'user');
  if (opening === undefined) throw new Error('The conversation is empty.');
  const observations = Array.from({ length: ROUNDS }, () => later).flat();
  using cache = cacheFor(model);
  const rng = deriveRng(1, 'turns');
  const ids = [...encodeChat(tokenizer, template, [opening], { addGenerationPrompt: true }).ids];
  const sampled: number[] = [];
  let seconds = 0;
  for (const observation of observations) {
    const begun = performance.now();
    const turn = await finish(
      generate(model, tokenizer, null, cache, ids, rng, {
        sampling: { ...GREEDY, temperature: 0.7 },
        maxTokens: MOST_TOKENS,
        ...(guesses !== undefined && { guesses }),
      }),
    );
    seconds += (performance.now() - begun) / 1000;
    sampled.push(...turn.ids);
    ids.push(...turn.ids);
    ids.push(...continueChat(tokenizer, template, [opening], turn.ids, observation).ids);
  }
  return { ids: sampled, perSecond: sampled.length / seconds };
}
