/** Settings in the address: each one that differs from the defaults is a key of the URL's hash. */

import {
  changedFields,
  type FieldName,
  fieldNames,
  fieldProblem,
  fields,
  type Settings,
  type SettingsPatch,
} from '../config.ts';
import { usualSettings } from './defaults.ts';
import { readLink } from './link.ts';
import { settingText } from './numbers.ts';
import { sharedSettings as say } from './strings.ts';

/** The settings that a hash such as `#lora_rank=4&method=frozen` names; what is no valid value is left out. */
export function readSharedSettings(hash: string): SettingsPatch {
  const parts = new URLSearchParams(hash.replace(/^#/, ''));
  const named = fieldNames.flatMap((name) => {
    const text = parts.get(name);
    if (text === null) return [];
    const value = parseValue(fields[name].kind, text);
    return fieldProblem(name, value) === null ? [[name, value] as const] : [];
  });
  return Object.fromEntries(named) as SettingsPatch; // each value was checked against its field
}

/**
 * All settings of a link: the named ones, and every other one as usual in the world of its task, as it was where the link
 * was written. null where the hash names neither a setting nor a task to run with them.
 */
export function linkedSettings(hash: string): Settings | null {
  const named = readSharedSettings(hash);
  const { task } = readLink(hash);
  const names = Object.keys(named).length > 0 || task !== null;
  return names ? { ...usualSettings(task?.[0]), ...named } : null;
}

/** Changes told in full; more than these are counted. */
const mostTold = 4;
/** Letters of a value that are told of. */
const mostLetters = 40;

/** What differs, in words: `LoRA rank: 4, was 16; Method: frozen, was attt.` */
export function changesText(before: Settings, after: Settings): string {
  const changed = changedFields(after, before);
  const value = (settings: Settings, name: FieldName) => {
    const text = settingText(settings[name]);
    return text.length > mostLetters ? `${text.slice(0, mostLetters)}…` : text;
  };
  const told = changed
    .slice(0, mostTold)
    .map((name) => say.was(fields[name].label, value(after, name), value(before, name)));
  const more = changed.length - told.length;
  return `${told.join('; ')}${more > 0 ? say.more(more) : ''}.`;
}

/** The hash with these settings in it, in the schema's order, `#` included; other keys of it stay. */
export function writeSharedSettings(hash: string, settings: Settings, usual: Settings): string {
  const parts = new URLSearchParams(hash.replace(/^#/, ''));
  for (const name of fieldNames) {
    const text = textOf(settings[name]);
    parts.delete(name);
    if (text !== textOf(usual[name])) parts.append(name, text);
  }
  const text = parts.toString();
  return text === '' ? '' : `#${text}`;
}

function parseValue(kind: (typeof fields)[keyof typeof fields]['kind'], text: string): unknown {
  switch (kind) {
    case 'number':
      return text.trim() === '' ? Number.NaN : Number(text);
    case 'switch':
      return text === 'true' ? true : text === 'false' ? false : text;
    case 'list':
      return text.split(',');
    case 'choice':
    case 'text':
      return text;
    default:
      return kind satisfies never;
  }
}

function textOf(value: Settings[keyof Settings]): string {
  return Array.isArray(value) ? value.join(',') : String(value);
}
