/** Reads TOML: with or without a byte order mark, with either line end, faults by their place. Knows no key. */

import { parse, TomlError } from 'smol-toml';
import { LabError } from '../errors.ts';

/** Throws `bad_config` with file, line and column for what is not TOML. */
export function readToml(text: string, file: string): Readonly<Record<string, unknown>> {
  try {
    return unixLines(parse(text.replace(/^\uFEFF/, '')));
  } catch (thrown) {
    if (!(thrown instanceof TomlError)) throw thrown;
    const { line, column } = thrown;
    const what = thrown.message.split('\n')[0]?.replace(/^Invalid TOML document: /, '') ?? '';
    throw new LabError(
      'bad_config',
      `${file}, line ${line}, column ${column}: this is not TOML, ${what}. Correct this place, then open the file again.`,
      { file, line, column },
    );
  }
}

/**
 * The same value with `\n` for every line end in its texts, raw or escaped: a carriage return would reach the
 * tokenizer as an id of its own, and a hash as another file.
 */
export function unixLines<T>(value: T): T;
export function unixLines(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/\r\n?/g, '\n');
  if (Array.isArray(value)) return value.map((one) => unixLines(one));
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, unixLines(inner)]));
}
