/** Edits of a file's lines, and how they read as a unified diff. */

import { formatPatch, structuredPatch } from 'diff';
import type { ProgramFiles } from './repair-sandbox.ts';

/** A file that grew beyond this would fill the conversation, and every state with it. */
const FILE_LIMIT = 20_000;

/** The lines of a text that ends in a line end, without the empty one after it. */
export function linesOf(text: string): readonly string[] {
  return text.replace(/\n$/, '').split('\n');
}

/**
 * A text with the lines from..to (counted from 1) replaced by code; to = from - 1 inserts before `from`.
 * Code that begins at the margin is moved to where the line stands that it replaces or follows.
 * `refused` says why not.
 */
export function replaceLines(
  text: string,
  from: number,
  to: number,
  code: string | null,
): { readonly text: string } | { readonly refused: string } {
  const lines = linesOf(text);
  if (from < 1 || from > to + 1 || to > lines.length) {
    return { refused: `The file has lines 1 to ${lines.length}.` };
  }
  const beside = lines[from <= to ? from - 1 : Math.max(0, to - 1)] ?? '';
  const added = code === null ? [] : indented(code.split('\n'), indentOf(beside));
  const changed = [...lines.slice(0, from - 1), ...added, ...lines.slice(to)].join('\n');
  if (changed.length > FILE_LIMIT) {
    return { refused: `The file would be longer than ${FILE_LIMIT} characters.` };
  }
  return { text: changed === '' ? '' : `${changed}\n` };
}

function indented(code: readonly string[], indent: string): readonly string[] {
  if (/^\s/.test(code[0] ?? '')) return code;
  return code.map((line) => (line === '' ? '' : indent + line));
}

function indentOf(line: string): string {
  return /^\s*/.exec(line)?.[0] ?? '';
}

/** What changed, as `git diff` writes it; empty where nothing did. `git apply` takes it. */
export function unifiedDiff(before: ProgramFiles, after: ProgramFiles, context = 3): string {
  return Object.keys(after)
    .filter((name) => before[name] !== after[name])
    .map((name) => {
      const options = { context };
      const old = before[name] ?? '';
      const now = after[name] ?? '';
      const patch = structuredPatch(`a/${name}`, `b/${name}`, old, now, '', '', options);
      const headers = { includeIndex: false, includeUnderline: false, includeFileHeaders: true };
      return `diff --git a/${name} b/${name}\n${formatPatch(patch, headers)}`;
    })
    .join('');
}
