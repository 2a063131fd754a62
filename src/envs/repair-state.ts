/** The state of a repair as JSON, and its hash. */

import { hash32 } from '../math/rng.ts';
import type { ProgramFiles } from './repair-sandbox.ts';

// An alias: an interface would not be assignable to Json.
export type RepairState = {
  readonly program: string;
  /** With the faults, before any edit. */
  readonly start: ProgramFiles;
  readonly files: ProgramFiles;
  /** Line numbers without a file are of this one. */
  readonly open: string;
  /** Each edit's file as it was before, the last one last. */
  readonly undo: readonly { readonly file: string; readonly text: string }[];
  /** Null until the work is handed in. */
  readonly outcome: 'solved' | 'failed' | null;
};

/** The last so many edits can be undone; a state crosses a port at every step. */
export const UNDO_LIMIT = 50;

/** 16 hex digits over everything. */
export function repairHash({ program, start, files, open, undo, outcome }: RepairState): string {
  const texts = (of: ProgramFiles) => Object.keys(of).map((name) => [name, of[name]]);
  const earlier = undo.map(({ file, text }) => [file, text]);
  const text = JSON.stringify([program, texts(start), texts(files), open, earlier, outcome]);
  const word = (basis: number) => hash32(text, basis).toString(16).padStart(8, '0');
  return word(0x811c9dc5) + word(0x01000193);
}
