/** What each recorded event must hold for tables and page to be made of it, and of which kind. Knows no file. */

import { defaultSettings } from '../config.ts';
import type { EpisodeEvent } from '../records.ts';

interface Kind {
  readonly words: string;
  readonly fits: (value: unknown) => boolean;
}

const isNumber = (value: unknown) => typeof value === 'number';
const isObject = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isListOf = (value: unknown, fits: (item: unknown) => boolean) =>
  Array.isArray(value) && value.every(fits);

const text: Kind = { words: 'a text', fits: (value) => typeof value === 'string' };
const number: Kind = { words: 'a number', fits: isNumber };
const measure: Kind = { words: 'a number or null', fits: (v) => v === null || isNumber(v) };
const flag: Kind = { words: 'true or false', fits: (value) => typeof value === 'boolean' };
const object: Kind = { words: 'an object', fits: isObject };
const columns: Kind = { words: 'an object or null', fits: (v) => v === null || isObject(v) };
const numbers: Kind = { words: 'a list of numbers', fits: (v) => isListOf(v, isNumber) };
const measures: Kind = {
  words: 'a list of numbers and nulls',
  fits: (value) => isListOf(value, measure.fits),
};
const messages: Kind = {
  words: 'a list of {"role", "content"}',
  fits: (value) => isListOf(value, (item) => isObject(item) && text.fits(Object(item).content)),
};

type Fields = Readonly<Record<string, Kind>>;

/** By path; the rest of an event is taken as it is. */
const needed: Readonly<Record<EpisodeEvent['type'], Fields>> = {
  episode_started: {
    ...{ manifest: object, 'manifest.schema': number, 'manifest.modelName': text },
    ...{ 'manifest.modelSha256': text, 'manifest.settings': object },
    ...{ task: object, 'task.split': text, 'task.index': number, messages, observation: text },
  },
  step: {
    ...{
      t: number,
      generation: object,
      'generation.ids': numbers,
      'generation.logprobs': measures,
    },
    ...{ 'generation.text': text, thought: text, action: text, actionClass: text },
    ...{ observation: text, repetition: number, reward: number },
  },
  boundary: {
    ...{ t: number, outcome: text, why: text, losses: numbers, gradNorms: numbers },
    ...{ ratio: measure, novelty: measure, tokens: columns },
  },
  rolled_back: { t: number, restored: flag },
  episode_ended: { reason: text, t: number, reward: number },
};

/** Of a boundary that recorded its tokens. */
const tokenColumns: Fields = {
  ...{ 'tokens.ids': numbers, 'tokens.weights': numbers, 'tokens.counts': numbers },
  ...{ 'tokens.ceBefore': measures, 'tokens.ceAfter': measures },
};

/** Where they are there: older versions had none. */
const optional: Fields = {
  'tokens.context': {
    words: 'a list of numbers or null',
    fits: (v) => v === null || numbers.fits(v),
  },
};

export const eventTypes = Object.keys(needed) as readonly EpisodeEvent['type'][]; // its keys are these

/** What is missing, or of another kind, in words; null where nothing is. */
export function shapeFault(event: object, type: EpisodeEvent['type']): string | null {
  const fields = { ...needed[type], ...(valueAt(event, 'tokens') ? tokenColumns : {}) };
  const missing = Object.keys(fields).filter((path) => valueAt(event, path) === undefined);
  if (missing.length > 0) return `lacks ${missing.join(', ')}`;
  const settings = Object.entries(Object(valueAt(event, 'manifest.settings')));
  const set = settings.map(([name]) => [`manifest.settings.${name}`, kindOf(name)] as const);
  const also = Object.entries(optional);
  for (const [path, kind] of [...Object.entries(fields), ...also, ...set]) {
    const value = valueAt(event, path);
    if (value !== undefined && kind && !kind.fits(value)) {
      return `has ${path} ${JSON.stringify(value).slice(0, 100)}; expected ${kind.words}`;
    }
  }
  return null;
}

/** As its default; null for one that this version does not know. */
function kindOf(setting: string): Kind | null {
  const value = Object.entries(defaultSettings).find(([name]) => name === setting)?.[1];
  switch (typeof value) {
    case 'string':
      return text;
    case 'number':
      return number;
    case 'boolean':
      return flag;
    case 'object':
      return { words: 'a list of texts', fits: (list) => isListOf(list, text.fits) };
    default:
      return null;
  }
}

/** Undefined where there is none. Names that JavaScript's own objects have are no fields of a file's. */
function valueAt(event: object, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, key) =>
        isObject(value) && Object.hasOwn(Object(value), key) ? Object(value)[key] : undefined,
      event,
    );
}
