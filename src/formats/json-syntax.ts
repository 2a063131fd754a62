/** Where a JSON text stops being JSON; engines word their own errors differently or give no place. */

import { LabError } from '../errors.ts';
import type { Json } from '../records.ts';

/** Nesting deeper than this is no settings file; a bound keeps the stack safe. */
const MAX_DEPTH = 200;

const SPACE = /[ \t\n\r]*/y;
/** What a string holds, in runs: one expression for all of it would overflow the stack on millions of characters. */
const PLAIN = /[ !#-[\]-\uffff]+/y;
const ESCAPED = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const QUOTE = /"/y;
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

/**
 * The first name that stands twice in one object of a JSON text; null where none does. JSON.parse takes
 * the last of them, other readers the first. Example: `{"a": 1, "\u0061": 2}` -> `a`.
 */
export function repeatedName(text: string): string | null {
  const objects: Set<string>[] = []; // that are open, the innermost last
  const mark = /["{}]/g;
  for (let found = mark.exec(text); found; found = mark.exec(text)) {
    if (found[0] === '{') objects.push(new Set());
    else if (found[0] === '}') objects.pop();
    if (found[0] !== '"') continue;
    const end = endOfString(text, found.index);
    mark.lastIndex = end;
    if (!isName(text, end)) continue;
    const name = String(JSON.parse(text.slice(found.index, end)));
    const names = objects.at(-1);
    if (names?.has(name)) return name;
    names?.add(name);
  }
  return null;
}

/** Behind the closing quote of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  for (; end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end; // an even number of backslashes escape each other, not the quote
    while (text[before - 1] === '\\') before--;
    if ((end - before) % 2 === 0) return end + 1;
  }
  return text.length;
}

/** True where a colon follows. */
function isName(text: string, end: number): boolean {
  SPACE.lastIndex = end;
  SPACE.test(text);
  return text[SPACE.lastIndex] === ':';
}

/** Line and column, both from 1, of a character offset. */
function placeOf(text: string, offset: number): { line: number; column: number } {
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
  const string = (): boolean => {
    const start = at;
    if (!take(QUOTE)) return false;
    while (take(PLAIN) || take(ESCAPED));
    if (take(QUOTE)) return true;
    at = start;
    return false;
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
        if (!string()) return fault('a name in double quotes');
        if (!mark(':')) return fault('":"');
        return value(depth + 1);
      });
    }
    return string() || take(SCALAR) ? null : fault('a JSON value');
  };

  const inner = value(0);
  if (inner) return inner;
  take(SPACE);
  return fault('nothing more');
}
