/** Where a JSON text stops being JSON; engines word their own errors differently or give no place. */

import { LabError } from '../errors.ts';
import type { Json } from '../records.ts';

/** Nesting deeper than this is no settings file; a bound keeps the stack safe. */
const MAX_DEPTH = 200;

const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y;

/**
 * The value of a JSON text, after a byte order mark has been taken off. Throws LabError `code` that
 * names file, line and column (both from 1) of the first character that cannot be part of it.
 */
export function parseJson(
  text: string,
  file: string,
  code: 'bad_config' | 'bad_input' = 'bad_input',
): Json {
  const plain = text.replace(/^\uFEFF/, '');
  try {
    return JSON.parse(plain) as Json; // what JSON.parse gives is Json by definition
  } catch {
    const fault = firstFault(plain);
    const { line, column } = placeOf(plain, fault.offset);
    const found =
      fault.offset >= plain.length
        ? 'the end of the file'
        : JSON.stringify(plain.charAt(fault.offset));
    throw new LabError(
      code,
      `${file}, line ${line}, column ${column}: found ${found}, expected ${fault.expected}. ` +
        'Correct this place, then open the file again.',
      { file, line, column },
    );
  }
}

/** A string with the colon that makes it a name, or a bracket; `text` is JSON already. */
const NAME_OR_BRACKET = /("(?:[^"\\]|\\.)*")(\s*:)?|[{}]/g;

/**
 * The first name that stands twice in one object of a JSON text; null where none does. JSON.parse takes
 * the last of them, other readers the first. Example: `{"a": 1, "\u0061": 2}` -> `a`.
 */
export function repeatedName(text: string): string | null {
  const objects: Set<string>[] = []; // that are open, the innermost last
  for (const [found, string, colon] of text.matchAll(NAME_OR_BRACKET)) {
    if (found === '{') objects.push(new Set());
    else if (found === '}') objects.pop();
    if (string === undefined || colon === undefined) continue;
    const name = String(JSON.parse(string));
    const names = objects.at(-1);
    if (names?.has(name)) return name;
    names?.add(name);
  }
  return null;
}

/** Line and column, both from 1, of a character offset. */
export function placeOf(text: string, offset: number): { line: number; column: number } {
  const lines = text.slice(0, offset).split(/\r\n|\n|\r/);
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

interface Fault {
  readonly offset: number;
  readonly expected: string;
}

/** The first fault of a text that JSON.parse refused. */
function firstFault(text: string): Fault {
  let at = 0;
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  };
  const mark = (character: string): boolean => {
    take(SPACE);
    if (text[at] !== character) return false;
    at++;
    take(SPACE);
    return true;
  };
  const fault = (expected: string): Fault => ({ offset: at, expected });

  const entries = (end: '}' | ']', entry: () => Fault | null): Fault | null => {
    if (mark(end)) return null;
    for (;;) {
      const inner = entry();
      if (inner) return inner;
      if (mark(end)) return null;
      if (!mark(',')) return fault(`"," or "${end}"`);
    }
  };
  const value = (depth: number): Fault | null => {
    take(SPACE);
    if (depth > MAX_DEPTH) return fault(`at most ${MAX_DEPTH} nested values`);
    if (mark('[')) return entries(']', () => value(depth + 1));
    if (mark('{')) {
      return entries('}', () => {
        if (!take(STRING)) return fault('a name in double quotes');
        if (!mark(':')) return fault('":"');
        return value(depth + 1);
      });
    }
    return take(STRING) || take(SCALAR) ? null : fault('a JSON value');
  };

  const inner = value(0);
  if (inner) return inner;
  take(SPACE);
  return fault('nothing more');
}
