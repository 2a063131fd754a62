/** What the command writes and how it ends: JSON on stdout and nothing else, words on stderr. */

import { LabError, toWire } from '../errors.ts';

/** 0 done, 1 a failed run, 2 wrong use. */
export type ExitCode = 0 | 1 | 2;

/** Thrown for a command line that cannot be carried out as written. */
export class WrongUse extends Error {
  override readonly name = 'WrongUse';
}

/** Prints one JSON value. Rejects a number that JSON has no word for, which would become null. */
export function printJson(value: unknown): Promise<void> {
  const text = JSON.stringify(value, (key, inner: unknown) => {
    if (typeof inner === 'number' && !Number.isFinite(inner)) {
      throw new Error(`The result "${key}" is ${inner}: the computation overflowed.`);
    }
    return inner;
  });
  // A pipe takes a long text in parts; leaving before it has drained would cut it.
  return new Promise((resolve, reject) => {
    process.stdout.write(`${text}\n`, (error) => (error ? reject(error) : resolve()));
  });
}

/** One line of progress. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Says on stderr what went wrong, and which exit code that is. */
export function report(thrown: unknown): ExitCode {
  if (thrown instanceof WrongUse) {
    note(`attt: ${thrown.message}`);
    return 2;
  }
  const { code, message } = toWire(refusedFile(thrown) ?? thrown);
  note(`attt: ${message} (${code})`);
  return 1;
}

/** What the machine says of a file or folder that it does not give, with what can be done; else null. */
function refusedFile(thrown: unknown): LabError | null {
  if (!(thrown instanceof Error && 'syscall' in thrown && 'code' in thrown)) return null;
  const path = 'path' in thrown ? String(thrown.path) : 'a file';
  const found = `The machine refused ${path} (${thrown.message}).`;
  if (thrown.code === 'ENOSPC') {
    return new LabError('quota', `${found} Make room, or name a place on another disk.`, { path });
  }
  return new LabError('bad_input', `${found} Name a place that may be written to.`, { path });
}
