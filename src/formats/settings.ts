/**
 * Reads and writes config.toml and settings.json from the one table of settings. Knows where each
 * field lives on disk; knows nothing of what a field means.
 */

import { stringify as stringifyToml } from 'smol-toml';
import type { SettingsPatch } from '../config.ts';
import { type FieldName, fieldNames, fieldProblem, fields, type Settings } from '../config.ts';
import { LabError } from '../errors.ts';
import {
  type Channel,
  DEFAULT_TIMEOUT_SECONDS,
  exportedKey,
  placeholder,
  placeholderName,
} from './channel.ts';
import { parseJson } from './json-syntax.ts';
import { nearestName } from './nearest.ts';
import { readToml, unixLines } from './toml.ts';

/** What a settings.json says. */
export interface ParsedSettings {
  readonly patch: SettingsPatch;
  /** Sentences for the person, in the order of the file. */
  readonly notes: readonly string[];
}

/** What a config.toml says. */
export interface ParsedConfig extends ParsedSettings {
  readonly channel: Channel | null;
}

type FileName = 'config.toml' | 'settings.json';
type Tree = Readonly<Record<string, unknown>>;

const CHANNEL_KEYS = ['base_url', 'api_key', 'timeout'];

/** K has a second home: both files name it, and settings.json wins. */
const K_IN_SETTINGS = 'att.trigger.update_interval_k';

/** The dotted keys of each file and the field that each sets. */
const keysOf: Readonly<Record<FileName, ReadonlyMap<string, FieldName>>> = {
  'config.toml': placesIn('config.toml'),
  'settings.json': new Map([
    [K_IN_SETTINGS, 'update_interval_k'],
    ...placesIn('settings.json').entries(),
  ]),
};

/**
 * Reads a config.toml, with or without a byte order mark, with either line end. Throws LabError
 * `bad_config` for a syntax error (file, line, column), an unknown key (the nearest known one) or a
 * value out of range.
 */
export function parseConfigToml(text: string, file = 'config.toml'): ParsedConfig {
  const tree = readToml(text, file);
  const notes: string[] = [];
  const channels = Object.entries(tree).filter(([name, value]) => isChannelTable(name, value));
  const [first, second] = channels;
  if (first && second) {
    throw new LabError(
      'bad_config',
      `${file}: found two channel tables, [${first[0]}] and [${second[0]}], expected one. ` +
        'Keep the one whose model writes the summaries.',
      { file, first: first[0], second: second[0] },
    );
  }
  const channel = first ? readChannel(first[0], first[1] as Tree, file, notes) : null; // isChannelTable
  const rest = Object.fromEntries(Object.entries(tree).filter(([name]) => name !== first?.[0]));
  return { patch: readTree(rest, 'config.toml', file), channel, notes };
}

/** Reads a settings.json; throws as {@link parseConfigToml} does. */
export function parseSettingsJson(text: string, file = 'settings.json'): ParsedSettings {
  const tree: unknown = unixLines(parseJson(text, file, 'bad_config'));
  if (!isTable(tree)) {
    throw new LabError(
      'bad_config',
      `${file}: found ${kindOf(tree)}, expected an object such as {"att": {"trigger": {…}}}.`,
      { file },
    );
  }
  return { patch: readTree(tree, 'settings.json', file), notes: [] };
}

/** Both files as one change; where both name K, settings.json wins and a note says so. */
export function mergeFiles(
  config: ParsedConfig | null,
  settings: ParsedSettings | null,
): ParsedConfig {
  const notes = [...(config?.notes ?? []), ...(settings?.notes ?? [])];
  const toml = config?.patch.update_interval_k;
  const json = settings?.patch.update_interval_k;
  if (toml !== undefined && json !== undefined) {
    notes.push(
      `Both files name update_interval_k: ${json} from settings.json is used, ${toml} from config.toml is not.`,
    );
  }
  return {
    patch: { ...config?.patch, ...settings?.patch },
    channel: config?.channel ?? null,
    notes,
  };
}

/** A config.toml that {@link parseConfigToml} reads back to the same; a key itself is never in it. */
export function toConfigToml(settings: Settings, channel: Channel | null = null): string {
  const tree: Record<string, unknown> = {};
  if (channel) {
    const key = exportedKey(channel);
    tree[channel.name] = {
      base_url: channel.base_url,
      ...(key === null ? {} : { api_key: key }),
      timeout: channel.timeout,
    };
  }
  for (const [key, field] of keysOf['config.toml']) put(tree, key, settings[field]);
  return `${stringifyToml(tree)}\n`;
}

/** A settings.json that {@link parseSettingsJson} reads back to the same. */
export function toSettingsJson(settings: Settings): string {
  const tree: Record<string, unknown> = {};
  for (const [key, field] of keysOf['settings.json']) put(tree, key, settings[field]);
  return `${JSON.stringify(tree, null, 2)}\n`;
}

// ---------------------------------------------------------------- reading

function readTree(tree: Tree, place: FileName, file: string): SettingsPatch {
  const known = keysOf[place];
  const patch: Partial<Record<FieldName, unknown>> = {};
  const walk = (table: Tree, prefix: string) => {
    for (const [part, value] of Object.entries(table)) {
      const key = prefix + part;
      const field = known.get(key);
      if (field !== undefined) {
        patch[field] = checked(field, value, key, file);
      } else if ([...known.keys()].some((name) => name.startsWith(`${key}.`))) {
        if (!isTable(value)) {
          throw new LabError(
            'bad_config',
            `${file}: ${key} is ${kindOf(value)}, expected a table with the keys of [${key}].`,
            { file, key },
          );
        }
        walk(value, `${key}.`);
      } else throw unknownKey(key, place, file, isTable(value));
    }
  };
  walk(tree, '');
  return patch as SettingsPatch; // each value was checked against its field
}

function checked(field: FieldName, value: unknown, key: string, file: string): unknown {
  const problem = fieldProblem(field, value);
  if (problem === null) return value;
  throw new LabError('bad_config', `${file}: ${key} = ${shown(value)} ${problem}.`, {
    file,
    key,
    field,
  });
}

function unknownKey(key: string, place: FileName, file: string, table: boolean): LabError {
  const elsewhere: FileName = place === 'config.toml' ? 'settings.json' : 'config.toml';
  if ([...keysOf[elsewhere].keys()].some((name) => `${name}.`.startsWith(`${key}.`))) {
    return new LabError('bad_config', `${file}: ${key} belongs in ${elsewhere}. Move it there.`, {
      file,
      key,
      nearest: key,
    });
  }
  const known = [...keysOf[place].keys()];
  const nearest = nearestName(key, table ? [...tablesOf(known), ...known] : known);
  return new LabError(
    'bad_config',
    `${file}: unknown key ${key}; the nearest known key is ${nearest}. Correct or remove it.`,
    { file, key, nearest },
  );
}

/** The tables that keys lie in: of a.b.c, a and a.b. */
function tablesOf(keys: readonly string[]): readonly string[] {
  const tables = keys.flatMap((key) => {
    const parts = key.split('.').slice(0, -1);
    return parts.map((_, i) => parts.slice(0, i + 1).join('.'));
  });
  return [...new Set(tables)];
}

function isChannelTable(name: string, value: unknown): boolean {
  const ours = [...keysOf['config.toml'].keys()].some((key) => key.startsWith(`${name}.`));
  return !ours && isTable(value) && CHANNEL_KEYS.some((key) => key in value);
}

function readChannel(name: string, table: Tree, file: string, notes: string[]): Channel {
  const refuse = (key: string, expected: string) =>
    new LabError(
      'bad_config',
      `${file}: ${name}.${key} = ${shown(table[key])}, expected ${expected}.`,
      { file, key: `${name}.${key}` },
    );
  for (const key of Object.keys(table)) {
    if (CHANNEL_KEYS.includes(key)) continue;
    const nearest = nearestName(key, CHANNEL_KEYS);
    throw new LabError(
      'bad_config',
      `${file}: unknown key ${name}.${key}; the nearest known key is ${name}.${nearest}. Correct or remove it.`,
      { file, key: `${name}.${key}`, nearest: `${name}.${nearest}` },
    );
  }
  const { base_url, api_key = null, timeout = DEFAULT_TIMEOUT_SECONDS } = table;
  if (typeof base_url !== 'string' || !URL.canParse(base_url)) {
    throw refuse('base_url', 'an address such as "http://127.0.0.1:8080/v1"');
  }
  if (typeof timeout !== 'number' || !(timeout > 0 && timeout <= 86_400)) {
    throw refuse('timeout', 'seconds, more than 0 and at most 86400');
  }
  if (api_key !== null && typeof api_key !== 'string') {
    throw refuse('api_key', `a text such as "${placeholder('SUMMARY_KEY')}"`);
  }
  const key = api_key === '' ? null : api_key;
  if (key !== null && placeholderName(key) === null) {
    if (/\$\{/.test(key))
      throw refuse('api_key', `one name alone, such as "${placeholder('SUMMARY_KEY')}"`);
    notes.push(
      `${file} holds a key itself in ${name}.api_key. It is kept for this session only; exports name a variable instead.`,
    );
  }
  return { name, base_url, api_key: key, timeout };
}

// ---------------------------------------------------------------- places and words

function placesIn(file: FileName): ReadonlyMap<string, FieldName> {
  return new Map(
    fieldNames
      .filter((name) => fields[name].place.file === file)
      .map((name) => [fields[name].place.key, name]),
  );
}

/** Sets a dotted key, making the tables on the way. */
function put(tree: Record<string, unknown>, key: string, value: unknown): void {
  const parts = key.split('.');
  const last = parts.pop() ?? key;
  let table = tree;
  for (const part of parts) {
    const inner: unknown = table[part];
    const next: Record<string, unknown> = isTable(inner) ? { ...inner } : {};
    table[part] = next;
    table = next;
  }
  table[last] = value;
}

function isTable(value: unknown): value is Tree {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
  );
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : isTable(value) ? 'a table' : shown(value);
}

/** A value as a message shows it: the start of its JSON. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
