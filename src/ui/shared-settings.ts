/** Settings in the address: each one that differs from the defaults is a key of the URL's hash. */

import { fieldNames, fieldProblem, fields, type Settings, type SettingsPatch } from '../config.ts';

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
