/** Brings the events of older versions to the present schema; knows what each version lacked. */

import { LabError } from '../errors.ts';
import type { EpisodeEvent, RunManifest } from '../records.ts';

/** The schema of the events that this version writes. */
const EVENT_SCHEMA = 2 satisfies RunManifest['schema'];

/**
 * The events as this version has them; events of the present schema come back as they are. Throws
 * `unsupported` for a schema from the future.
 *
 * Schema 1 did not record the quantisation, the tokenizer's hash, or what stood before an update text.
 */
export function upgradeEvents(events: readonly EpisodeEvent[]): readonly EpisodeEvent[] {
  const start = events[0];
  if (start?.type !== 'episode_started') return events;
  const schema: number = start.manifest.schema;
  if (schema === EVENT_SCHEMA) return events;
  if (schema !== 1) {
    throw new LabError(
      'unsupported',
      `The run has schema ${schema}; this version reads 1 to ${EVENT_SCHEMA}. Open it in the version that wrote it, or a newer one.`,
      { schema },
    );
  }
  const [bos] = start.promptIds;
  const alone = start.manifest.settings.train_context === 'text';
  return events.map((event): EpisodeEvent => {
    switch (event.type) {
      case 'episode_started':
        return {
          ...event,
          manifest: {
            ...event.manifest,
            schema: EVENT_SCHEMA,
            quantisation: '',
            tokenizerSha256: '',
          },
        };
      case 'boundary': {
        if (event.tokens === null) return event;
        // A first id that has a label was predicted by something: the BOS that a prompt begins with.
        const predicted = (event.tokens.weights[0] ?? 0) > 0 && bos !== undefined;
        const context = alone ? (predicted ? [bos] : []) : null;
        return { ...event, tokens: { ...event.tokens, context } };
      }
      default:
        return event;
    }
  });
}
