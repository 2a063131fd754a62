/** Reads a thought and one action out of what the model wrote. Knows labels, nothing of any world. */

import type { GenerationStop } from '../records.ts';

/** What could be read. */
export interface ParsedTurn {
  /** What stands before the action, without its label; the whole text where there is no action. */
  readonly thought: string;
  /** The first action, normalised as {@link normaliseCommand} does; empty unless status is `ok`. */
  readonly action: string;
  readonly status: 'ok' | 'malformed' | 'cut_off';
  /**
   * Where the action's line ends, when more than blanks follows: an invented observation, a second
   * action, a final answer. None of it runs or teaches. null when nothing follows.
   */
  readonly ignoredFrom: number | null;
}

/** `Action:` at the start of a line, in any case; Markdown marks around it do not matter. */
const ACTION = /^[ \t>*`]*action[ \t*`]*:(.*)$/im;
const THOUGHT = /^[ \t>*`]*thought[ \t*`]*:[*`]*/im;
/** A block between fences, from the end of the line before it. */
const BLOCK = /^\s*\n[ \t]*```[^\n]*\n[\s\S]*?\n?[ \t]*```[ \t]*$/m;
/** Such a block without its end. */
const OPEN_BLOCK = /^\s*\n[ \t]*```(?![\s\S]*\n[ \t]*```)/;
/** A code fence's own line. */
const FENCE = /^[ \t]*```.*$/gm;

/**
 * Reads `Thought: …\nAction: …`, within a code fence or without. Only the first action counts. An
 * action line that the token limit ended is `cut_off`, not an action: `go to cabinet 1` may have
 * been going to be `go to cabinet 12`. A text without an action line, or with an empty one, is
 * `malformed`. With `verbatim` the action stays as it was written, and a block between fences that
 * follows its line belongs to it.
 */
export function parseTurn(text: string, stop: GenerationStop, verbatim = false): ParsedTurn {
  const unfinished = stop === 'length' || stop === 'abort';
  const found = ACTION.exec(text);
  if (!found) {
    const status = unfinished ? 'cut_off' : 'malformed';
    return { thought: thoughtIn(text), action: '', status, ignoredFrom: null };
  }
  const lineEnd = found.index + found[0].length;
  const block = verbatim ? (BLOCK.exec(text.slice(lineEnd))?.[0] ?? '') : '';
  const end = lineEnd + block.length;
  const thought = thoughtIn(text.slice(0, found.index));
  if (unfinished && (end === text.length || OPEN_BLOCK.test(text.slice(lineEnd)))) {
    return { thought, action: '', status: 'cut_off', ignoredFrom: null };
  }
  const line = found[1] ?? '';
  const action = verbatim ? writtenCommand(line) + block.trimEnd() : plainCommand(line);
  const ignoredFrom = text.slice(end).trim() === '' ? null : end;
  return { thought, action, status: action === '' ? 'malformed' : 'ok', ignoredFrom };
}

/** Markdown marks around a command do not matter. */
function plainCommand(line: string): string {
  return normaliseCommand(line.replace(/^[ \t*`]+|[ \t*`]+$/g, ''));
}

/** Only marks that stand before the command, or on both sides of it, are no part of it. */
function writtenCommand(line: string): string {
  const command = line.replace(/^[ \t*]+/, '').trimEnd();
  return /^`([^`]+)`$/.exec(command)?.[1] ?? command;
}

/**
 * A command as worlds spell them: lower case, single spaces, no final stop.
 * Example: `Move  Cup 1 to Shelf 2.` is `move cup 1 to shelf 2`.
 */
export function normaliseCommand(text: string): string {
  return text
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[ .]+$/, '');
}

function thoughtIn(text: string): string {
  return text.replace(FENCE, '').replace(THOUGHT, '').trim();
}
