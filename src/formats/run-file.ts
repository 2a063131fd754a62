/** Reads and writes a run as JSONL: one event a line, as the store and the command line write it. */

import { LabError } from '../errors.ts';
import type { EpisodeEvent } from '../records.ts';
import { eventTypes, shapeFault } from './event-shape.ts';
import { upgradeEvents } from './run-upgrade.ts';

/** Larger files are refused: a run of 10,000 steps stays well under it. */
const maxBytes = 512 * 1024 * 1024;

/**
 * The events of a run file, in order, brought to the present schema. Throws bad_input, naming the
 * line, where the text is no run: not JSON, no known event, a field missing, or a gap in the
 * sequence numbers.
 */
export function parseRunFile(text: string, name: string): readonly EpisodeEvent[] {
  if (text.length > maxBytes) {
    throw new LabError(
      'limit',
      `${name} has ${text.length} characters; a run file may have ${maxBytes}.`,
    );
  }
  const events: EpisodeEvent[] = [];
  let line = 0;
  for (const raw of text.split('\n')) {
    line++;
    if (raw.trim() === '') continue;
    const event = parseEvent(raw, `${name}, line ${line}`);
    if (event.seq !== events.length) {
      throw new LabError(
        'bad_input',
        `${name}, line ${line}: found event number ${event.seq}, expected ${events.length}. ` +
          'The file is cut or put together from two runs; export the run again.',
      );
    }
    events.push(event);
  }
  if (events[0]?.type !== 'episode_started') {
    throw new LabError(
      'bad_input',
      `${name} does not start with an episode_started event, so it is not a run of this notebook. ` +
        'Open a file that was saved with "Save run", or the events.jsonl of the command line.',
    );
  }
  return upgradeEvents(events);
}

/** One event a line, the last line ended too. */
export function formatRunFile(events: readonly EpisodeEvent[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join('');
}

function parseEvent(raw: string, where: string): EpisodeEvent {
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch {
    throw new LabError(
      'bad_input',
      `${where}: not JSON. A run file has one event a line; the file may be cut.`,
    );
  }
  const record = typeof value === 'object' && value !== null ? value : {};
  const named = 'type' in record ? record.type : undefined;
  const type = eventTypes.find((known) => known === named);
  if (!type || !('seq' in record) || typeof record.seq !== 'number') {
    throw new LabError(
      'bad_input',
      `${where}: found type ${JSON.stringify(named ?? null)}, expected one of ${eventTypes.join(', ')} with a seq number.`,
    );
  }
  const fault = shapeFault(record, type);
  if (fault !== null) {
    throw new LabError('bad_input', `${where}: a record of type ${type} ${fault}.`);
  }
  return value as EpisodeEvent; // a parse edge: type, seq and what tables and page need were checked
}
