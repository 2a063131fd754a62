/** A served model as the writer of summaries: the update texts of source "summary". */

import { LabError } from '../errors.ts';
import type { Learner, Summariser } from '../ports.ts';
import type { RemoteRef } from '../records.ts';
import { summaryMessages } from '../text/prompt.ts';
import { chat, endpointOf, type Surroundings, surroundings } from './chat-client.ts';

/** Characters a token has at least, in running text: the server's own limit is not known. */
const CHARACTERS_PER_TOKEN = 3;

/**
 * Each summary is one whole answer, as ids by `encode`. Throws as {@link chat} does, saying at which
 * step; nothing of a cut answer is used.
 */
export function servedSummaries(
  remote: RemoteRef,
  encode: Learner['encode'],
  around: Surroundings = surroundings,
): Summariser {
  return {
    async write({ task, steps }, settings, rng, signal) {
      const limit = settings.context_length * CHARACTERS_PER_TOKEN;
      const request = {
        model: remote.model,
        messages: summaryMessages(task, steps, limit),
        options: {
          max_tokens: settings.summary_max_tokens,
          temperature: settings.summary_temperature,
          seed: rng.int(2 ** 31), // seeds of servers are 32 bits wide
        },
      };
      try {
        const answer = await chat(endpointOf(remote), request, signal, () => {}, around);
        const text = answer.text.trim();
        return { model: remote.model, text, ids: encode(text), stop: answer.stop };
      } catch (thrown) {
        if (!(thrown instanceof LabError)) throw thrown;
        const { code, message, details } = thrown;
        const t = steps.at(-1)?.t ?? 0;
        throw new LabError(code, `No summary of the first ${t} steps came. ${message}`, details);
      }
    },
  };
}

/** Asks for one token, so that a wrong address, key or model name is known before a run. */
export async function probeSummaries(
  remote: RemoteRef,
  signal: AbortSignal,
  around: Surroundings = surroundings,
): Promise<void> {
  const messages = [{ role: 'user', content: 'Hello' }] as const;
  const request = { model: remote.model, messages, options: { max_tokens: 1, temperature: 0 } };
  await chat(endpointOf(remote), request, signal, () => {}, around);
}
