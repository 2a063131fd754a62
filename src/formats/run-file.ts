/** Reads and writes a run as JSONL: one event a line, as the store and the command line write it. */

import { LabError } from '../errors.ts';
import type { EpisodeEvent } from '../records.ts';
import { upgradeEvents } from './run-upgrade.ts';

/** Larger files are refused: a run of 10,000 steps stays well under it. */
const maxBytes = 512 * 1024 * 1024;

const types: readonly EpisodeEvent['type'][] = [
  'episode_started',
  'step',
  'boundary',
  'rolled_back',
  'episode_ended',
];

/** What each event must carry for the page to draw it; the rest is taken as it is. */
const needed: Readonly<Record<EpisodeEvent['type'], readonly string[]>> = {
  episode_started: ['manifest', 'task', 'messages', 'observation'],
  step: ['t', 'generation', 'thought', 'action', 'actionClass', 'observation', 'repetition'],
  boundary: ['t', 'outcome', 'why', 'losses', 'ratio', 'novelty'],
  rolled_back: ['t', 'restored'],
  episode_ended: ['reason', 't', 'reward'],
};

/** What every schema's manifest has and every table is made from. */
const neededOfManifest: readonly string[] = ['schema', 'modelName', 'modelSha256', 'settings'];

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
  const record = (typeof value === 'object' && value !== null ? value : {}) as Record<
    string,
    unknown
  >; // a parse edge: checked below
  const type = types.find((known) => known === record.type);
  if (!type || typeof record.seq !== 'number') {
    throw new LabError(
      'bad_input',
      `${where}: found type ${JSON.stringify(record.type ?? null)}, expected one of ${types.join(', ')} with a seq number.`,
    );
  }
  const manifest = Object(record.manifest);
  const within = type === 'episode_started' ? neededOfManifest : [];
  const missing = [
    ...needed[type].filter((key) => !(key in record)),
    ...within.filter((key) => !(key in manifest)).map((key) => `manifest.${key}`),
  ];
  if (missing.length > 0) {
    throw new LabError(
      'bad_input',
      `${where}: a record of type ${type} lacks ${missing.join(', ')}.`,
    );
  }
  return value as EpisodeEvent; // a parse edge: type, seq and the fields that are drawn were checked
}
