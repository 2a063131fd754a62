/** Asks the policy itself for the summaries that it may then be trained on. */

import type { Policy, Summariser } from '../ports.ts';
import type { Summary } from '../records.ts';
import { conversationIds, fitConversation, withTurn } from '../text/conversation.ts';
import { summaryMessage } from '../text/prompt.ts';

/**
 * The summary stands where the next turn would, and its ids are those that were sampled. Where the
 * question does not fit into the context, the summary is empty.
 */
export function ownSummaries(policy: Policy): Summariser {
  return {
    async write({ steps, prior }, settings, rng, signal) {
      const last = steps.at(-1);
      const context = Math.min(policy.contextLength, settings.context_length);
      const room = Math.min(settings.summary_max_tokens, Math.floor(context / 2));
      if (!last) return unwritten;
      const question = policy.follow(last.generation, summaryMessage(last.observation)).ids;
      const told = withTurn(prior, [...last.generation.ids, ...question]);
      const fitted = fitConversation(told, context - room);
      if (!fitted) return unwritten;
      const asked = { ...settings, temperature: settings.summary_temperature };
      const prompt = conversationIds(fitted);
      const written = await policy.generate(prompt, asked, room, rng, signal, () => {});
      if (written.stop === 'abort') signal.throwIfAborted();
      const { text, ids, stop } = written;
      return { model: null, text: text.trim(), ids, stop, question };
    },
  };
}

const unwritten: Summary = { model: null, text: '', ids: [], stop: 'length' };
